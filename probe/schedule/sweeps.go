package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/sweep"
)

const (
	// sweepLate is how late a sweep may begin after the machine slept: what
	// was due at night must not run in the morning's load.
	sweepLate = 5 * time.Minute
	// sweepWait is how long a due sweep waits for those before it.
	sweepWait = 2 * time.Hour
	// sweepLook is how often the clock of sweeps looks at the wall, whatever
	// it waits for: wall clocks are set.
	sweepLook = 30 * time.Second
	// sweepGuard is how often a running sweep's guards are looked at.
	sweepGuard = time.Second
)

// SweepEndpoint is an endpoint of one run.
type SweepEndpoint interface {
	sweep.Endpoint
	Close()
}

// SweepConfig lets a Scheduler run the sweeps of its roster. Without Open it
// runs none.
type SweepConfig struct {
	// Open makes the endpoint of one run; it is closed at the end.
	Open func(roster.Sweep) (SweepEndpoint, error)
	// Prompt says what a sweep asks.
	Prompt   func(roster.Sweep) (probe.Prompt, error)
	Recorder SweepRecorder
	// Stopped returns why all sweeps are stopped, empty if they are not. It
	// is asked once a second while a sweep runs. nil: never.
	Stopped func() string
	// Location is where this process is. A sweep that names locations runs
	// only in those.
	Location string
	// Conditions go into every report: versions, host.
	Conditions capacity.Conditions
	// ServerMetrics reads a target's own metrics page; nil reads none.
	ServerMetrics func(url string) func(context.Context) ([]byte, error)
	Lock          *sweep.HostLock
}

// SweepStage says what happened to a sweep.
type SweepStage int

const (
	SweepSkipped SweepStage = iota // due, and not started
	SweepStarted
	SweepRequest // one request finished; Request is set
	SweepEnded   // Result or Err is set
)

// SweepEvent is one thing that happened to a sweep. A run is recorded as
// started, ended, and its requests in between; one that did not start, once.
type SweepEvent struct {
	Sweep  roster.Sweep
	Stage  SweepStage
	At     time.Time
	Skip   probe.SkipReason // SweepSkipped
	Reason string           // for people: why it was skipped
	// Forecast is what a run is expected to cost at most; SweepStarted only.
	Forecast roster.Load
	Request  probe.Result
	Result   sweep.Result
	Err      error // nothing was sent, or the run broke
	Took     time.Duration
}

// SweepRecorder takes what becomes of sweeps. RecordSweep must be safe for
// concurrent use and must not block.
type SweepRecorder interface {
	RecordSweep(SweepEvent)
}

// sweeper runs the sweeps of a scheduler, one at a time. Two goroutines: the
// clock puts due sweeps into the queue, the runner takes them out.
type sweeper struct {
	s   *Scheduler
	cfg SweepConfig

	work    sync.WaitGroup
	changed chan struct{} // for the clock: sweeps came or went
	wake    chan struct{} // for the runner: the queue grew

	mu      sync.Mutex
	ctx     context.Context // of everything; ends with Shutdown
	end     context.CancelCauseFunc
	begun   bool
	order   []roster.SweepKey
	jobs    map[roster.SweepKey]*sweepJob
	queue   []*sweepJob
	targets map[string]roster.Target
	watches map[pair][]roster.Watch
	ttfts   map[probe.ID]*recentTTFT
	fuse    *sweep.Fuse
	fused   probe.ID // whose results the fuse is told
}

// sweepJob is one sweep of the roster.
type sweepJob struct {
	sweep    roster.Sweep
	cron     admit.Cron
	next     time.Time
	queued   time.Time // zero: not in the queue
	running  bool
	gone     bool
	progress sweep.Progress
}

// errStopping is why a sweep ends with the process.
var errStopping = errors.New("tokprobe was stopped")

func newSweeper(s *Scheduler, cfg SweepConfig) *sweeper {
	w := &sweeper{s: s, cfg: cfg, changed: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		jobs: map[roster.SweepKey]*sweepJob{}, ttfts: map[probe.ID]*recentTTFT{}}
	w.ctx, w.end = context.WithCancelCause(context.Background())
	return w
}

// crons compiles the due moments of all sweeps; the error names every bad one.
func crons(list []roster.Sweep) ([]admit.Cron, error) {
	out := make([]admit.Cron, len(list))
	var errs []error
	for i, sw := range list {
		var err error
		if out[i], err = admit.ParseCron(sw.Cron, sw.Zone); err != nil {
			errs = append(errs, fmt.Errorf("sweep %s: %w", sw.Name, err))
		}
	}
	return out, errors.Join(errs...)
}

// apply follows a roster. A running sweep goes on as it began, unless it is
// gone.
func (w *sweeper) apply(r roster.Roster) error {
	due, err := crons(r.Sweeps)
	if err != nil || w == nil {
		return err
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.targets, w.watches = map[string]roster.Target{}, map[pair][]roster.Watch{}
	for _, t := range r.Targets {
		w.targets[t.Name] = t
	}
	ttfts := map[probe.ID]*recentTTFT{}
	for _, x := range r.Watches {
		w.watches[pairOf(x.ID)] = append(w.watches[pairOf(x.ID)], x)
		if ttfts[x.ID] = w.ttfts[x.ID]; ttfts[x.ID] == nil {
			ttfts[x.ID] = &recentTTFT{}
		}
	}
	w.ttfts = ttfts
	before := w.jobs
	w.order, w.jobs = nil, map[roster.SweepKey]*sweepJob{}
	for i, sw := range r.Sweeps {
		j := before[sw.Key()]
		if j == nil {
			j = &sweepJob{}
		}
		if j.next.IsZero() || j.sweep.Cron != sw.Cron || j.sweep.Zone != sw.Zone {
			j.next = due[i].Next(now)
		}
		j.sweep, j.cron = sw, due[i]
		w.order, w.jobs[sw.Key()] = append(w.order, sw.Key()), j
	}
	for key, j := range before {
		j.gone = w.jobs[key] == nil
	}
	poke(w.changed)
	return nil
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (w *sweeper) start() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = true
	w.work.Go(w.clock)
	w.work.Go(w.runner)
}

// stop ends the running sweep, which keeps what it has learned, and waits for
// that.
func (w *sweeper) stop() {
	if w == nil {
		return
	}
	w.end(errStopping)
	w.work.Wait()
}
