package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// abortError is why a sweep ended early; its text is Report.Aborted.
type abortError string

func (e abortError) Error() string { return string(e) }

// sweep is one running Run.
type sweep struct {
	plan   Plan
	env    Env
	ctx    context.Context
	cancel context.CancelCauseFunc
	order  []int // of the prompts

	runs     map[float64][]capacity.Run
	answer   time.Duration // E2E of the latest answers, for ramps and deadlines
	wait     time.Duration // cool-down due before the next level
	warnings []string
	started  time.Time

	mu     sync.Mutex // guards what requests write
	cost   Cost
	served string // model that the endpoint says it ran
}

// Run does a sweep and returns what was learned, also where it was ended
// early. The error says why nothing was sent: a plan that makes no sense, a
// budget that is too small, an endpoint that another sweep holds.
func Run(ctx context.Context, plan Plan, env Env) (Result, error) {
	plan, err := plan.checked()
	if err != nil {
		return Result{}, err
	}
	if env.Endpoint == nil {
		return Result{}, errors.New("no endpoint to sweep")
	}
	if err := plan.checkBudget(); err != nil {
		return Result{}, err
	}
	search, err := plan.search()
	if err != nil {
		return Result{}, err
	}
	release, err := env.Lock.acquire(plan.Conditions.Endpoint)
	if err != nil {
		return Result{}, err
	}
	defer release()

	s := newSweep(plan, env)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	defer s.cancel(nil)
	stopWatching := s.watch()
	defer stopWatching()
	s.calibrate()
	if search != nil {
		s.seek(search)
	} else {
		s.climb()
	}
	s.repeat()
	return s.result(ctx), nil
}

func newSweep(plan Plan, env Env) *sweep {
	return &sweep{plan: plan, env: env, started: time.Now(), order: shuffled(len(plan.Prompts), plan.Seed),
		runs: map[float64][]capacity.Run{}, cost: Cost{Outcomes: map[probe.Outcome]int{}}}
}

// watch ends the sweep by its longest duration and by its fuse.
func (s *sweep) watch() (stop func()) {
	var limit <-chan time.Time
	if d := s.plan.MaxDuration; d > 0 {
		timer := time.NewTimer(d)
		limit = timer.C
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-limit:
			s.abort("the longest duration of %s was reached", s.plan.MaxDuration)
		case <-s.env.Fuse.Blown():
			s.abort("%s", s.env.Fuse.Reason())
		case <-done:
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// abort ends the sweep; the first reason stands.
func (s *sweep) abort(format string, args ...any) {
	s.cancel(abortError(fmt.Sprintf(format, args...)))
}

// calibrate learns what the endpoint accepts before anything is measured.
func (s *sweep) calibrate() {
	s.tell(Progress{Stage: Preparing, Levels: s.levels()})
	cal := s.env.Endpoint.Calibrate(s.ctx, s.spec(0))
	s.cost.Requests += cal.Requests
	s.cost.InputTokens += cal.InputTokens
	s.cost.OutputTokens += cal.OutputTokens
	if cal.Err != nil && s.ctx.Err() == nil {
		s.warnings = append(s.warnings, fmt.Sprintf("what the endpoint accepts could not be learned: %v", cal.Err))
	}
}

// climb runs every level of the ladder, whatever became of the ones before.
func (s *sweep) climb() {
	for i, load := range s.plan.Ladder {
		if !s.step(step{load: load, at: i + 1}) {
			return
		}
	}
}

// step names one run of one level.
type step struct {
	load   float64
	at     int // place in the ladder, from 1
	repeat int // 0 is the first run
}

// step cools down, runs a level and keeps it. It returns false when the sweep
// is over.
func (s *sweep) step(at step) bool {
	if len(s.runs) > 0 && !s.coolDown(at) {
		return false
	}
	if s.ctx.Err() != nil || !s.withinBudget(at) {
		return false
	}
	run := s.level(at)
	switch {
	case at.repeat > 0 && !slices.ContainsFunc(run.Samples, capacity.Sample.OK):
		// The endpoint went away since: the first run knows better.
		s.warnf("the level of %g was not repeated: no request of a second run succeeded", at.load)
		return false
	case worth(run) && (at.repeat == 0 || s.ctx.Err() == nil): // nor does a run that was ended early
		s.runs[at.load] = append(s.runs[at.load], run)
	}
	return s.ctx.Err() == nil
}

// worth says whether anything at all was learned.
func worth(r capacity.Run) bool {
	return slices.ContainsFunc(r.Samples, func(x capacity.Sample) bool { return !x.Cut })
}

// report judges what there is so far.
func (s *sweep) report() capacity.Report {
	r := capacity.Report{Mode: s.plan.Mode, Conditions: s.plan.Conditions, Levels: []capacity.Level{}}
	for _, load := range s.loads() {
		r.Levels = append(r.Levels, capacity.Repeated(s.runs[load]))
	}
	r.Assess(capacity.Settings{Thresholds: s.plan.Thresholds})
	return r
}

func (s *sweep) loads() []float64 {
	loads := make([]float64, 0, len(s.runs))
	for load := range s.runs {
		loads = append(loads, load)
	}
	slices.Sort(loads)
	return loads
}

// result closes the sweep. Why it ended early is in the cause of its context:
// a reason of our own, or that the caller has ended it.
func (s *sweep) result(caller context.Context) Result {
	r := s.report()
	r.Warnings = append(append(s.warnings, r.Warnings...), s.assumed(r)...)
	r.Conditions = s.conditions(r)
	var why abortError
	switch {
	case errors.As(context.Cause(s.ctx), &why):
		r.Aborted = string(why)
	case caller.Err() != nil:
		r.Aborted = "interrupted"
		if cause := context.Cause(caller); !errors.Is(cause, context.Canceled) {
			r.Aborted += ": " + cause.Error()
		}
	}
	return Result{Report: r, Cost: s.cost, HoldOff: s.wait}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (s *sweep) levels() int {
	if s.plan.Auto != nil {
		return 0
	}
	return len(s.plan.Ladder)
}

// streams is the load as a whole number of at least one.
func streams(load float64) int { return max(1, int(math.Ceil(load))) }
