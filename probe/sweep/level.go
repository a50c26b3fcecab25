package sweep

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// Why a level was ended before its last answer, the sweep going on.
var (
	errLevelSkipped  = errors.New("level ended by hand")
	errLevelDeadline = errors.New("deadline of the level reached")
)

// level is one running level.
type level struct {
	s        *sweep
	at       step
	requests int // to hand out; 0: until duration
	duration time.Duration
	ctx      context.Context
	cancel   context.CancelCauseFunc
	start    time.Time // the level's clock

	handed atomic.Int64 // requests handed out
	flying atomic.Int64 // requests in flight
	capped bool         // written by the pacer, read after it

	mu       sync.Mutex
	samples  []capacity.Sample
	failures int             // service kind and 429, for the abort limit
	errors   int             // all that were not ok
	ttfts    []time.Duration // of the last answers, a ring
}

// level runs one level and returns what happened.
func (s *sweep) level(at step) capacity.Run {
	l := &level{s: s, at: at}
	l.ctx, l.cancel = context.WithCancelCause(s.ctx)
	defer l.cancel(nil)
	stopKeys := l.listen()
	defer stopKeys()

	limit := s.plan.warmUpDeadline()
	deadline := time.AfterFunc(limit, func() { l.cancel(errLevelDeadline) })
	defer deadline.Stop()
	l.warmUp()
	l.size()
	l.open()
	if s.plan.LevelDeadline == 0 {
		limit = l.deadline()
		deadline.Reset(limit)
	}
	server := s.scrape(l.ctx)
	l.start = time.Now()
	stopTelling := l.report()
	if s.plan.Mode == capacity.Rate {
		l.openLoop()
	} else {
		l.closedLoop()
	}
	stopTelling()
	l.settle()
	if errors.Is(context.Cause(l.ctx), errLevelDeadline) {
		s.warnf("level %g was ended by its deadline of %s with %d requests done", at.load, limit, len(l.samples))
	}
	return capacity.Run{
		Mode: s.plan.Mode, Load: at.load, Samples: l.samples, WantTokens: s.plan.wantTokens(),
		InFlightCapped: l.capped, SLO: s.plan.SLO, Server: server(), Thresholds: s.plan.Thresholds,
	}
}

// listen ends the level when somebody asks for it.
func (l *level) listen() (stop func()) {
	if l.s.env.EndLevel == nil {
		return func() {}
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		select {
		case <-l.s.env.EndLevel:
			l.cancel(errLevelSkipped)
			l.s.warnf("level %g was ended by hand", l.at.load)
		case <-done:
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// warmUp sends one request a stream, at most 8 at a time, and learns how long
// an answer takes. They are paid for, but not counted.
func (l *level) warmUp() {
	n := l.s.warmUps(l.at.load)
	l.s.tell(Progress{Stage: WarmingUp, Level: l.at.at, Levels: l.s.levels(), Load: l.at.load, Mode: l.s.plan.Mode, Repeat: l.at.repeat, Total: n})
	results := make([]probe.Result, n)
	var wg sync.WaitGroup
	for i := range n {
		// From the far end of the prompts, so that of several none is
		// asked twice in a level.
		wg.Go(func() { results[i] = l.ask(len(l.s.order) - 1 - i%len(l.s.order)) })
	}
	wg.Wait()
	var sum, count time.Duration
	for _, r := range results {
		if d, ok := r.E2E.Get(); ok && r.Outcome == probe.OK {
			sum, count = sum+d, count+1
		}
		l.s.refusedBy(r)
	}
	if count > 0 {
		l.s.answer = sum / count
	}
}

// warmUps is how many requests warm a level up.
func (s *sweep) warmUps(load float64) int {
	if s.plan.Mode == capacity.Rate {
		return 1
	}
	return min(streams(load), maxWarmUps)
}

// size decides how many requests the level has.
func (l *level) size() {
	l.requests, l.duration = l.s.plan.size(l.at.load, l.s.answer), l.s.plan.Duration
}

// size is the number of requests of a level where an answer takes so long; 0
// where the duration decides.
func (p Plan) size(load float64, answer time.Duration) int {
	switch {
	case p.Mode == capacity.Rate && p.Duration > 0:
		return max(1, int(load*p.Duration.Seconds()+0.5))
	case p.Requests > 0 || p.Duration > 0:
		return p.Requests
	case p.Mode == capacity.Rate:
		return p.openRequests(load, answer)
	}
	return p.defaultRequests(load)
}

// leastDeadline is what a level gets at least, and its warm-up at most.
const leastDeadline = 5 * time.Minute

// warmUpDeadline is how long a level may take before its clock starts: all the
// time it has, if somebody said how much.
func (p Plan) warmUpDeadline() time.Duration {
	if p.LevelDeadline > 0 {
		return p.LevelDeadline
	}
	return leastDeadline
}

// deadline is when the level ends whatever happens, counted from its clock's
// start. With answers of 2 s, 50 requests over one stream should take 100 s and
// get 500.
func (l *level) deadline() time.Duration {
	const least = leastDeadline
	answer := max(l.s.answer, time.Second)
	switch {
	case l.s.plan.Mode == capacity.Rate:
		span := time.Duration(float64(l.requests) / l.at.load * float64(time.Second))
		return span + max(least, 2*span, 5*answer)
	case l.duration > 0:
		return l.duration + max(least, 5*answer)
	}
	expected := time.Duration(float64(l.requests) / l.at.load * float64(answer))
	return max(least, 5*expected)
}

// open opens the connections that the level will need, all at once. An
// endpoint that cannot be reached will say so in the requests.
func (l *level) open() {
	n := streams(l.at.load)
	if l.s.plan.Mode == capacity.Rate { // what will be in flight, and some more
		n = int(1.5*l.at.load*l.s.answer.Seconds()) + 4
	}
	n = min(n, l.s.plan.maxInFlight())
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if d := l.s.plan.limits().Connect; d > 0 {
		ctx, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	_ = l.s.env.Endpoint.OpenAll(ctx, n)
}

// settle notes what the next level has to know.
func (l *level) settle() {
	var sum, count time.Duration
	for _, x := range l.samples {
		if d, ok := x.E2E.Get(); ok && x.OK() {
			sum, count = sum+d, count+1
		}
	}
	if count > 0 {
		l.s.answer = sum / count
	}
}
