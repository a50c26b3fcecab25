package schedule

import (
	"errors"
	"time"

	"tokprobe/probe"
)

// ErrNoProbe says that no watched probe was meant.
var ErrNoProbe = errors.New("no such probe")

// ProbeRefusal is why one probe was not run on demand.
type ProbeRefusal struct {
	ID   probe.ID
	Skip probe.SkipReason // overlap: it is running already
}

// RunProbes runs the probes that fits chooses, now, beside their schedule: a
// deploy pipeline wants an answer before the next due moment. Such a run is
// due, started and counted like any other and moves no phase. The guards of a
// tick hold; a refusal is told to the caller and not counted as a skip, since
// nothing was due. ErrNoProbe if fits chose none.
func (s *Scheduler) RunProbes(fits func(probe.ID) bool) (started []probe.ID, refused []ProbeRefusal, err error) {
	s.mu.Lock()
	var chosen []*worker
	if s.started && !s.stopped {
		for id, w := range s.watches {
			if fits(id) {
				chosen = append(chosen, w)
			}
		}
	}
	s.mu.Unlock()
	if len(chosen) == 0 {
		return nil, nil, ErrNoProbe
	}
	for _, w := range chosen {
		if skip := w.now(); skip != probe.NotSkipped {
			refused = append(refused, ProbeRefusal{w.id, skip})
		} else {
			started = append(started, w.id)
		}
	}
	return started, refused, nil
}

// now starts a probe at once, or says why not.
func (w *worker) now() probe.SkipReason {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tick(now, now, true)
	switch {
	case t.Skip != probe.NotSkipped:
		return t.Skip
	case w.gone || !w.s.flight.join(): // removed, or shutting down
		return probe.SkipDisabled
	}
	w.busy = true
	go w.run(t)
	return probe.NotSkipped
}
