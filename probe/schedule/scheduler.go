package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
	"go.uber.org/zap"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

const (
	defaultGrace = 25 * time.Second // the longest default probe is 24 s from t0
	cutWait      = 2 * time.Second  // how long a cut probe may take to return
)

// Config is what a Scheduler works with. Prober and Recorder are needed.
type Config struct {
	Prober     probe.Prober
	Calibrator probe.Calibrator // nil: nothing to learn
	Recorder   probe.Recorder
	Ledger     *admit.Ledger // nil: an empty one of its own
	Logger     *zap.Logger   // nil: silent
	// Grace is how long Shutdown lets running probes finish; 0 means 25 s,
	// below 0 cuts them at once.
	Grace time.Duration
	// Sweeps runs the sweeps of the roster; its zero value runs none.
	Sweeps SweepConfig
	// CanaryTarget is the target that SetCanary does not skip: the canary
	// itself.
	CanaryTarget string
}

// Scheduler runs watches. Make it with New; all methods are safe for
// concurrent use.
type Scheduler struct {
	cfg     Config
	cron    gocron.Scheduler
	gate    gate
	ledger  *admit.Ledger
	work    context.Context // of probes; cancelled after the grace time
	cut     context.CancelFunc
	learn   context.Context // of calibrations; cancelled as soon as Shutdown begins
	unlearn context.CancelFunc
	flight  flight
	pulse   pulse
	sweeps  *sweeper // nil: none are run

	targets atomic.Pointer[map[string]target]

	mu      sync.Mutex // serialises Apply, Start, Shutdown
	started bool
	stopped bool
	watches map[probe.ID]*worker
	lessons map[pair]lesson
}

// New returns a scheduler that does nothing until Start.
func New(cfg Config) (*Scheduler, error) {
	if cfg.Prober == nil || cfg.Recorder == nil {
		return nil, errors.New("schedule: Prober and Recorder are needed")
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}
	if cfg.Ledger == nil {
		cfg.Ledger = &admit.Ledger{}
	}
	if cfg.Grace == 0 {
		cfg.Grace = defaultGrace
	}
	cron, err := gocron.NewScheduler(gocron.WithLocation(time.UTC))
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	s := &Scheduler{
		cfg: cfg, cron: cron, ledger: cfg.Ledger,
		flight:  flight{drained: make(chan struct{})},
		watches: map[probe.ID]*worker{}, lessons: map[pair]lesson{},
	}
	s.work, s.cut = context.WithCancel(context.Background())
	s.learn, s.unlearn = context.WithCancel(s.work)
	s.targets.Store(&map[string]target{})
	if cfg.Sweeps.Open != nil {
		if cfg.Sweeps.Prompt == nil || cfg.Sweeps.Recorder == nil {
			return nil, errors.New("schedule: sweeps need Prompt and Recorder")
		}
		s.sweeps = newSweeper(s, cfg.Sweeps)
	}
	return s, nil
}

// Start begins to fire ticks for what was applied before and comes after.
func (s *Scheduler) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.stopped {
		return errors.New("schedule: Start works once, before Shutdown")
	}
	s.cron.Start()
	if err := s.startPulse(); err != nil {
		return err
	}
	s.started = true
	s.sweeps.start()
	for _, w := range s.watches {
		if err := s.register(w); err != nil {
			return err
		}
	}
	return nil
}

// Next returns when a watch is due next; zero if it is unknown or Start has
// not been called.
func (s *Scheduler) Next(id probe.ID) time.Time {
	s.mu.Lock()
	w := s.watches[id]
	s.mu.Unlock()
	if w == nil {
		return time.Time{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return time.Time{}
	}
	return w.next
}

// Ledger returns the record of tokens that admission goes by. Sweeps spend
// into it too.
func (s *Scheduler) Ledger() *admit.Ledger { return s.ledger }

// InMaintenance tells whether a maintenance window of the target is open.
func (s *Scheduler) InMaintenance(name string) bool {
	return admit.InMaintenance(time.Now(), (*s.targets.Load())[name].windows)
}

// record hands a tick on. A fault of a recorder must not end the process that
// measures.
func (s *Scheduler) record(t probe.Tick) {
	defer func() {
		if r := recover(); r != nil {
			s.cfg.Logger.Error("recorder panicked", zap.Stringer("id", t.ID), zap.String("panic_type", fmt.Sprintf("%T", r)), zap.StackSkip("stack", 2))
		}
	}()
	s.cfg.Recorder.Record(t)
	s.sweeps.note(t)
}

// Running returns how many probes and calibrations are running.
func (s *Scheduler) Running() int { return s.flight.count() }

// Shutdown stops ticks at once, lets running probes finish within the grace
// time (or until ctx ends), then cuts the rest. A cut probe is not recorded.
// The error says how many probes did not return when cut.
func (s *Scheduler) Shutdown(ctx context.Context) error {
	if !s.silence() {
		return nil
	}
	s.sweeps.stop()
	err := s.cron.ShutdownWithContext(ctx)
	grace := time.NewTimer(max(s.cfg.Grace, 0))
	defer grace.Stop()
	select {
	case <-s.flight.drained:
	case <-grace.C:
	case <-ctx.Done():
	}
	s.cut()
	return errors.Join(err, s.awaitCut())
}

// silence ends all ticks and calibrations; false if that was done before.
func (s *Scheduler) silence() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.stopped = true
	s.flight.close()
	s.unlearn()
	for _, w := range s.watches {
		w.retire()
	}
	return true
}

func (s *Scheduler) awaitCut() error {
	t := time.NewTimer(cutWait)
	defer t.Stop()
	select {
	case <-s.flight.drained:
		return nil
	case <-t.C:
		return fmt.Errorf("schedule: %d probes did not return within %s of being cut", s.flight.count(), cutWait)
	}
}

// target is what admission needs to know of a target.
type target struct {
	windows []admit.Window
	budget  roster.Budget
	hash    string
}
