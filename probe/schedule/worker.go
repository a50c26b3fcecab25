package schedule

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

// worker runs the probes of one watch, one at a time. It outlives changes of
// the watch; between probes it is only this struct, without a goroutine.
type worker struct {
	s  *Scheduler
	id probe.ID

	mu         sync.Mutex
	watch      roster.Watch
	plan       plan
	next       time.Time // the due moment the next tick is for
	generation int       // of the job
	turn       uint64    // numbers the due moments, for the slowdown
	busy       bool
	gone       bool // removed from the roster
	taken      int  // holds of the pair when the running probe was let in
	study
}

// fire is the task of the watch's job. It never blocks: it accounts for every
// due moment that has come and starts at most one probe.
func (w *worker) fire() {
	now := time.Now()
	w.mu.Lock()
	// A tick before its time belongs to a job that has been replaced, or to a
	// moment that an earlier, late tick has already accounted for.
	if w.gone || w.next.IsZero() || now.Before(w.next) || w.s.flight.over() {
		w.mu.Unlock()
		return
	}
	var ticks []probe.Tick
	for due := w.next; !due.IsZero() && !due.After(now); due = w.plan.next(due) {
		ticks = append(ticks, w.tick(due, now, len(ticks) == 0))
		w.next = w.plan.next(due)
	}
	runs := ticks[0].Skip == probe.NotSkipped
	if runs && !w.s.flight.join() { // Shutdown came in between
		w.mu.Unlock()
		return
	}
	w.busy = w.busy || runs
	w.mu.Unlock()

	if runs {
		go w.run(ticks[0])
		ticks = ticks[1:]
	}
	for _, t := range ticks {
		w.s.record(t)
	}
}

// tick decides about one due moment. Only the first of a late batch may run.
func (w *worker) tick(due, now time.Time, first bool) probe.Tick {
	at := due // what would have been decided then
	if first {
		at = now
	}
	v := w.s.gate.look(w.id)
	if first && !w.busy {
		w.taken = v.taken
	}
	skip, tagged := admit.Decide(at, w.s.state(w, at, v))
	w.turn++
	if skip == probe.NotSkipped && (w.busy || !first) {
		skip = probe.SkipOverlap
	}
	return probe.Tick{ID: w.id, Stage: probe.TickDue, Due: due, Skip: skip, Bystander: v.beside, Maintenance: tagged}
}

// state gathers what admission goes by. The caller holds w.mu.
func (s *Scheduler) state(w *worker, at time.Time, v view) admit.State {
	t := (*s.targets.Load())[w.id.Target]
	return admit.State{
		Disabled:   v.off,
		Windows:    t.windows,
		CanaryDown: v.canary && w.id.Target != s.cfg.CanaryTarget,
		Held:       v.held,
		Retry:      v.retry,
		Every:      w.plan.interval(at),
		Budget: admit.Budget{
			Limit: t.budget.ProbeTokensPerDay,
			Spent: s.ledger.Spent(at, w.id.Target, admit.ProbePurse),
			Hard:  t.budget.Hard,
		},
		Turn: w.turn,
	}
}

// run is a worker at work: it owns a context that only the end of a shutdown's
// grace time cancels.
func (w *worker) run(t probe.Tick) {
	defer w.s.flight.leave()
	defer w.rest()
	t.Started = time.Now()
	w.s.record(t)

	w.mu.Lock()
	spec, taken := w.watch.Spec, w.taken
	w.mu.Unlock()
	w.learnOnce(spec)
	res := w.probe(spec)
	if res.Cut {
		return
	}
	t = w.settle(t, res, taken)
	w.learnAgain(spec, t)
}

// probe runs one probe; a panic becomes outcome internal.
func (w *worker) probe(spec probe.Spec) (res probe.Result) {
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			w.s.cfg.Logger.Error("probe panicked", zap.String("target", w.id.Target), zap.String("model", w.id.Model),
				zap.String("probe", w.id.Probe), zap.String("panic_type", fmt.Sprintf("%T", r)), zap.ByteString("stack", debug.Stack()))
			res = probe.Result{
				ID: w.id, Start: start, Protocol: spec.Protocol, Outcome: probe.Internal,
				Err:  fmt.Sprintf("tokprobe itself failed: panic of type %T", r),
				Hint: "a fault of tokprobe: report it with the stack in the log",
			}
		}
	}()
	return w.s.cfg.Prober.Probe(w.s.work, spec)
}

// settle books a result and records it.
func (w *worker) settle(t probe.Tick, res probe.Result, taken int) probe.Tick {
	now := time.Now()
	res.ID = w.id
	in, _ := res.PromptTokens.Get()
	out, _ := res.OutputTokens.Get()
	w.s.spend(w.id.Target, now, in+out)
	w.s.gate.asked(now, res)
	after := w.s.gate.look(w.id)
	t.Stage, t.Result = probe.TickDone, res
	t.Bystander = t.Bystander || after.taken != taken || after.held || after.beside
	t.Maintenance = t.Maintenance || w.s.InMaintenance(w.id.Target)
	w.s.record(t)
	return t
}

func (s *Scheduler) spend(target string, now time.Time, tokens int64) {
	s.ledger.Spend(now, target, admit.ProbePurse, tokens)
}

// rest ends a worker's work. A removed one is then forgotten at the next Apply.
func (w *worker) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = false
}

// retire ends a worker's ticks; it returns its job and whether it is at work.
func (w *worker) retire() (job uuid.UUID, busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	w.cancelForesight()
	return jobID(w.id, w.generation), w.busy
}

// rename gives a worker's job its next identity.
func (w *worker) rename() (old, job uuid.UUID, p plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.generation++
	return jobID(w.id, w.generation-1), jobID(w.id, w.generation), w.plan
}

// expect says which due moment the next tick is for.
func (w *worker) expect(due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = due
}

// moved tells whether a tick has already accounted for due.
func (w *worker) moved(due time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.next.Equal(due)
}
