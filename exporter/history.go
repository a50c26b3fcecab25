package exporter

import (
	"cmp"
	"slices"
	"time"

	"tokprobe/probe"
)

// HistorySize is how many results are kept of each probe, and how many of its
// failures: those are kept apart so that a bad minute of last night is still
// there in the morning. Some 1.5 KB a result; 0 means defaultHistory.
type HistorySize struct{ Results, Failures int }

const defaultHistory = 20

func (h HistorySize) results() int  { return cmp.Or(h.Results, defaultHistory) }
func (h HistorySize) failures() int { return cmp.Or(h.Failures, defaultHistory) }

// history is what a probe did lately. The caller locks.
type history struct {
	results  ring
	failures ring
}

func (h *history) add(r *probe.Result, size HistorySize) {
	h.results.add(r, size.results())
	if r.Outcome != probe.OK {
		h.failures.add(r, size.failures())
	}
}

// ring holds the last results, oldest first. They are never written again.
type ring struct {
	list []*probe.Result
}

// add keeps at most size results, also where size has just become smaller.
// Moving a few dozen pointers a probe is cheaper than thinking about indices.
func (r *ring) add(result *probe.Result, size int) {
	if extra := len(r.list) + 1 - size; extra > 0 {
		r.list = slices.Delete(r.list, 0, extra)
	}
	r.list = append(r.list, result)
}

// newest returns the results, the newest first.
func (r *ring) newest() []*probe.Result {
	out := slices.Clone(r.list)
	slices.Reverse(out)
	return out
}

// View is what a person or the API sees of one probe. Results are shared and
// must not be changed; they hold no answer text.
type View struct {
	ID    probe.ID
	Every probe.Opt[time.Duration]

	Due, Started uint64
	Skipped      map[probe.SkipReason]uint64 // those that happened
	Outcomes     map[probe.Outcome]uint64    // those that happened
	// RecentFailures is tokprobe_recent_failures.
	RecentFailures int
	// Results and Failures are the last ones, newest first.
	Results, Failures []*probe.Result
}

// Views returns one View of each probe for which keep is true (nil keeps all),
// by target, model and probe.
func (e *Exporter) Views(keep func(probe.ID) bool) []View {
	e.mu.RLock()
	order := e.order
	e.mu.RUnlock()
	var views []View
	for _, s := range order {
		s.mu.Lock()
		if keep == nil || keep(s.watch.ID) {
			views = append(views, s.view())
		}
		s.mu.Unlock()
	}
	return views
}

func (s *state) view() View {
	v := View{
		ID: s.watch.ID, Every: s.every, Due: s.due, Started: s.started,
		Skipped: map[probe.SkipReason]uint64{}, Outcomes: map[probe.Outcome]uint64{},
		RecentFailures: s.recentFailures(),
		Results:        s.history.results.newest(), Failures: s.history.failures.newest(),
	}
	for i, reason := range probe.SkipReasons() {
		if n := s.skips[i]; n > 0 {
			v.Skipped[reason] = n
		}
	}
	for i, outcome := range probe.Outcomes() {
		if n := s.outcomes[i]; n > 0 {
			v.Outcomes[outcome] = n
		}
	}
	return v
}

func (s *state) setKeep(size HistorySize) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = size
}
