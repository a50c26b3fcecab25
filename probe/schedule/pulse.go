package schedule

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"
	"go.uber.org/zap"
)

const (
	pulseEvery = time.Second
	// pulseLost is how old the last heartbeat may be before the scheduler
	// counts as dead.
	pulseLost = 15 * time.Second
	// wallStep is how far wall and monotonic clock may drift apart before the
	// watches are put back onto their grid.
	wallStep = 500 * time.Millisecond
)

// pulse is the heartbeat: a job like any other, so that it stops when ticks do.
type pulse struct {
	mu     sync.Mutex
	every  time.Duration // 0: pulseEvery; tests over a year beat slower
	last   time.Time
	anchor time.Time // both clocks, when the watches were last put on the grid
}

func (s *Scheduler) startPulse() error {
	s.pulse.beat(time.Now())
	every := s.pulse.every
	if every == 0 {
		every = pulseEvery
	}
	_, err := s.cron.NewJob(gocron.DurationJob(every), gocron.NewTask(s.beat), gocron.WithName("heartbeat"))
	return err
}

func (s *Scheduler) beat() {
	now := time.Now()
	if step := s.pulse.beat(now); step != 0 && s.flight.join() {
		s.cfg.Logger.Warn("the wall clock was set or the machine slept: probes are put back onto their grid", zap.Duration("step", step))
		go func() { // takes locks, and a task never blocks
			defer s.flight.leave()
			s.rephase()
		}()
	}
}

// beat notes a heartbeat and returns by how much the wall clock has been set
// since the watches were last put on the grid; 0 if it has not.
func (p *pulse) beat(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
	if p.anchor.IsZero() {
		p.anchor = now
	}
	step := wallMoved(now.Round(0).Sub(p.anchor.Round(0)), now.Sub(p.anchor))
	if step != 0 {
		p.anchor = now
	}
	return step
}

// wallMoved compares the time that passed on the wall with the monotonic one.
func wallMoved(wall, mono time.Duration) time.Duration {
	if step := wall - mono; step > wallStep || step < -wallStep {
		return step
	}
	return 0
}

// rephase registers every watch anew from the present wall time. Workers and
// running probes are not touched.
func (s *Scheduler) rephase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	for _, w := range s.watches {
		if w.isGone() {
			continue
		}
		if err := s.register(w); err != nil {
			s.cfg.Logger.Error("probe lost its schedule", zap.Stringer("id", w.id), zap.Error(err))
		}
	}
}

func (w *worker) isGone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// Healthy returns nil while ticks are being fired.
func (s *Scheduler) Healthy() error {
	s.pulse.mu.Lock()
	last := s.pulse.last
	s.pulse.mu.Unlock()
	switch age := time.Since(last); {
	case s.flight.over():
		return errors.New("scheduler: shutting down")
	case last.IsZero():
		return errors.New("scheduler: not started")
	case age > pulseLost:
		return fmt.Errorf("scheduler: no heartbeat for %s", age.Round(time.Second))
	}
	return nil
}
