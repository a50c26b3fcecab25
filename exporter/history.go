package exporter

import (
	"time"

	"tokprobe/probe"
)

// historySize is how many results are kept of each probe, and how many of its
// failures: those are kept apart so that a bad minute of last night is still
// there in the morning.
const historySize = 20

// history is what a probe did lately. The caller locks.
type history struct {
	results  ring
	failures ring
}

func (h *history) add(r *probe.Result) {
	h.results.add(r)
	if r.Outcome != probe.OK {
		h.failures.add(r)
	}
}

// ring holds the last historySize results. They are never written again.
type ring struct {
	list []*probe.Result
	next int
}

func (r *ring) add(result *probe.Result) {
	if len(r.list) < historySize {
		r.list = append(r.list, result)
		return
	}
	r.list[r.next] = result
	r.next = (r.next + 1) % historySize
}

// newest returns the results, the newest first.
func (r *ring) newest() []*probe.Result {
	n := len(r.list)
	out := make([]*probe.Result, n)
	for i := range n {
		out[i] = r.list[(r.next+n-1-i)%n]
	}
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
