package schedule

import (
	"errors"
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/sweep"
)

// SweepState is what a sweep is doing.
type SweepState struct {
	Sweep    roster.Sweep
	Next     time.Time // zero: never, or not here
	Queued   bool
	Running  bool
	Progress sweep.Progress // while Running
	// Forecast is what one run costs at most.
	Forecast roster.Load
}

// Sweeps returns the state of every sweep, in the order of the roster.
func (s *Scheduler) Sweeps() []SweepState {
	w := s.sweeps
	if w == nil {
		return nil
	}
	w.mu.Lock()
	var list []SweepState
	for _, key := range w.order {
		j := w.jobs[key]
		x := SweepState{Sweep: j.sweep, Queued: !j.queued.IsZero(), Running: j.running, Progress: j.progress}
		if w.here(j.sweep) {
			x.Next = j.next
		}
		list = append(list, x)
	}
	targets := w.targets
	w.mu.Unlock()
	for i, x := range list {
		if plan, err := w.plan(x.Sweep, targets[x.Sweep.Target]); err == nil {
			list[i].Forecast = w.forecast(x.Sweep, plan)
		}
	}
	return list
}

// ErrNoSweep is a request for a sweep that is not in the roster.
var ErrNoSweep = errors.New("no such sweep")

// SweepRefusal is why one sweep was not put into the queue.
type SweepRefusal struct {
	Key    roster.SweepKey
	Skip   probe.SkipReason // NotSkipped: it runs elsewhere, or is broken
	Reason string
}

// RunSweep puts the sweeps that fits chooses into the queue, now, whatever
// their cron. Guards are asked at once, so that the caller learns of a refusal,
// and again when the turn comes. It returns those queued and those refused,
// which are counted as skipped; ErrNoSweep if fits chose none.
func (s *Scheduler) RunSweep(fits func(roster.SweepKey) bool) (queued []roster.SweepKey, refused []SweepRefusal, err error) {
	w := s.sweeps
	if w == nil {
		return nil, nil, ErrNoSweep
	}
	w.mu.Lock()
	keys := slices.Clone(w.order)
	w.mu.Unlock()
	for _, key := range keys {
		if !fits(key) {
			continue
		}
		if no, ok := w.ask(key); !ok {
			refused = append(refused, no)
		} else {
			queued = append(queued, key)
		}
	}
	if queued == nil && refused == nil {
		return nil, nil, ErrNoSweep
	}
	return queued, refused, nil
}

// ask queues one sweep, or says why not.
func (w *sweeper) ask(key roster.SweepKey) (SweepRefusal, bool) {
	w.mu.Lock()
	j := w.jobs[key]
	if j == nil { // a reload came in between
		w.mu.Unlock()
		return SweepRefusal{Key: key, Reason: ErrNoSweep.Error()}, false
	}
	sw, target, here := j.sweep, w.targets[j.sweep.Target], w.here(j.sweep)
	w.mu.Unlock()
	if !here {
		return SweepRefusal{Key: key, Reason: "it names locations, and this is none of them: see --location"}, false
	}
	plan, err := w.plan(sw, target)
	if err != nil {
		return SweepRefusal{Key: key, Reason: err.Error()}, false
	}
	reason, text := w.refuse(sw, plan)
	now := time.Now()
	if reason == probe.NotSkipped {
		w.mu.Lock()
		reason, text = w.enqueue(j, now, 0)
		w.mu.Unlock()
	}
	if reason != probe.NotSkipped {
		w.tell(skipped(sw, now, reason, text))
		return SweepRefusal{Key: key, Skip: reason, Reason: text}, false
	}
	return SweepRefusal{}, true
}
