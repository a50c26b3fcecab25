package schedule

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"tokprobe/probe"
	"tokprobe/probe/admit"
)

const (
	// learnLimit bounds one calibration: a calibrator that hangs must not
	// silence its watch for good.
	learnLimit = 5 * time.Minute
	// relearnTicks is how many ticks lie at least between two repeated
	// calibrations: an endpoint that refuses everything must not be asked
	// twice per tick.
	relearnTicks = 10
)

// study is what a worker knows about calibrating its watch. A calibration runs
// in the worker but outside any measured probe: half an interval before the
// first tick if there is time (so it is usually over by then; a tick that
// comes earlier is an overlap), else between the first tick's start and its
// probe. If it fails, probes go on with defaults and tell why; it is tried
// again after a probe that got an answer.
type study struct {
	learned  bool
	tried    bool
	lastTurn uint64 // turn of the last repeated calibration
	lesson   lesson
	timer    *time.Timer
}

// lesson is held while a model at a target is being calibrated: one at a time,
// so that a second watch finds what the first one learned.
type lesson chan struct{}

// lessonOf returns the lock of a pair. The caller holds s.mu.
func (s *Scheduler) lessonOf(id probe.ID) lesson {
	l := s.lessons[pairOf(id)]
	if l == nil {
		l = make(lesson, 1)
		s.lessons[pairOf(id)] = l
	}
	return l
}

// forget makes a worker calibrate anew. The caller holds w.mu.
func (w *worker) forget() { w.learned, w.tried = false, false }

// foresee plans the first calibration ahead of the first due moment.
func (w *worker) foresee(first time.Time) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.s.cfg.Calibrator == nil || w.tried || w.gone {
		return
	}
	lead := min(w.plan.interval(now)/2, first.Sub(now))
	w.cancelForesight()
	w.timer = time.AfterFunc(first.Sub(now)-lead, w.prepare)
}

// cancelForesight stops a planned calibration. The caller holds w.mu.
func (w *worker) cancelForesight() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// prepare is the first calibration, if nothing forbids it right now.
func (w *worker) prepare() {
	now := time.Now()
	w.mu.Lock()
	skip, _ := admit.Decide(now, w.s.state(w, now, w.s.gate.look(w.id)))
	if w.gone || w.busy || w.tried || skip != probe.NotSkipped || !w.s.flight.join() {
		w.mu.Unlock()
		return
	}
	w.busy = true
	spec := w.watch.Spec
	w.mu.Unlock()
	defer w.s.flight.leave()
	defer w.rest()
	w.learnOnce(spec)
}

// learnOnce calibrates if it has not been tried.
func (w *worker) learnOnce(spec probe.Spec) {
	w.mu.Lock()
	due := !w.tried
	w.tried = true
	w.mu.Unlock()
	if due {
		w.calibrate(spec)
	}
}

// learnAgain calibrates after a probe that got an answer, if the first
// calibration failed or the endpoint refused the request. It adds nothing to
// the load of a sweep.
func (w *worker) learnAgain(spec probe.Spec, t probe.Tick) {
	o := t.Result.Outcome
	w.mu.Lock()
	due := o == probe.BadRequest || o == probe.OK && !w.learned
	due = due && !t.Bystander && (w.lastTurn == 0 || w.turn-w.lastTurn >= relearnTicks)
	if due {
		w.lastTurn = w.turn
	}
	w.mu.Unlock()
	if due {
		w.calibrate(spec)
	}
}

// calibrate runs one calibration and books what it cost.
func (w *worker) calibrate(spec probe.Spec) {
	c := w.s.cfg.Calibrator
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(w.s.learn, learnLimit)
	defer cancel()
	w.mu.Lock()
	l := w.lesson
	w.mu.Unlock()
	select {
	case l <- struct{}{}:
		defer func() { <-l }()
	case <-ctx.Done():
		return
	}
	got := calibrate(ctx, c, spec)
	w.s.spend(w.id.Target, time.Now(), got.InputTokens+got.OutputTokens)
	if got.Err != nil {
		w.s.cfg.Logger.Debug("calibration learned nothing", zap.Stringer("id", w.id), zap.Error(got.Err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.learned = got.Err == nil
}

func calibrate(ctx context.Context, c probe.Calibrator, spec probe.Spec) (got probe.Calibration) {
	defer func() {
		if r := recover(); r != nil {
			got.Err = fmt.Errorf("the calibration panicked: %T", r)
		}
	}()
	return c.Calibrate(ctx, spec)
}
