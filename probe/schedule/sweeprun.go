package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/sweep"
)

// run does one sweep, from its last admission to the end of the cool-down
// after it.
func (w *sweeper) run(j *sweepJob) {
	w.mu.Lock()
	sw, target := j.sweep, w.targets[j.sweep.Target]
	w.mu.Unlock()
	plan, err := w.plan(sw, target)
	if err != nil {
		w.tell(SweepEvent{Sweep: sw, Stage: SweepEnded, At: time.Now(), Err: err})
		return
	}
	if reason, text := w.refuse(sw, plan); reason != probe.NotSkipped {
		w.tell(skipped(sw, time.Now(), reason, text))
		return
	}
	if limit := w.limit(sw); limit > 0 { // repeats must not run into it
		plan.TokenBudget = max(1, limit-w.spent(sw, time.Now()))
	}
	endpoint, err := w.cfg.Open(sw)
	if err != nil {
		w.tell(SweepEvent{Sweep: sw, Stage: SweepEnded, At: time.Now(), Err: err})
		return
	}
	defer endpoint.Close()
	bystander, median := w.bystander(sw)
	defer w.s.Hold(sw.Target, sw.Model, bystander)()
	fuse := w.insert(bystander, median, sw.Abort.BystanderTTFT)
	defer w.insert(probe.ID{}, 0, 0)

	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	var guard sync.WaitGroup
	guard.Go(func() { w.guard(ctx, j, sw, cancel) })
	env := sweep.Env{Endpoint: &paid{SweepEndpoint: endpoint, w: w, sweep: sw}, Fuse: fuse, Lock: w.cfg.Lock}
	if url := target.ServerMetrics.URL; url != "" && w.cfg.ServerMetrics != nil {
		env.ServerMetrics = w.cfg.ServerMetrics(url)
	}
	result := w.measure(ctx, j, sw, plan, env)
	cancel(nil)
	guard.Wait()
	// After a refusal the probes of the model stay away as long as the sweep
	// itself would.
	if wait := min(result.HoldOff, longestHoldOff); wait > 0 {
		pause := time.NewTimer(wait)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-w.ctx.Done():
		}
	}
}

// longestHoldOff bounds how long a refusal can keep probes away.
const longestHoldOff = 15 * time.Minute

// measure runs the plan and records how it went. The run counts as started
// with its first sign of life: until then it may still be refused.
func (w *sweeper) measure(ctx context.Context, j *sweepJob, sw roster.Sweep, plan sweep.Plan, env sweep.Env) (result sweep.Result) {
	begun := time.Now()
	started := false
	env.Progress = func(p sweep.Progress) {
		w.mu.Lock()
		j.progress = p
		first := !started
		started = true
		w.mu.Unlock()
		if first {
			w.tell(SweepEvent{Sweep: sw, Stage: SweepStarted, At: begun, Forecast: w.forecast(sw, plan)})
		}
	}
	result, err := w.recovered(ctx, plan, env)
	now := time.Now()
	var busy *sweep.BusyError
	var poor *sweep.BudgetError
	switch {
	case errors.As(err, &busy):
		w.tell(skipped(sw, now, probe.SkipSweep, err.Error()))
	case errors.As(err, &poor):
		w.tell(skipped(sw, now, probe.SkipBudget, err.Error()))
	default:
		w.tell(SweepEvent{Sweep: sw, Stage: SweepEnded, At: now, Result: result, Err: err, Took: now.Sub(begun)})
	}
	return result
}

// recovered is sweep.Run; a panic becomes an error.
func (w *sweeper) recovered(ctx context.Context, plan sweep.Plan, env sweep.Env) (result sweep.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			w.s.cfg.Logger.Error("sweep panicked", zap.String("sweep", plan.Conditions.Sweep), zap.ByteString("stack", debug.Stack()))
			err = fmt.Errorf("tokprobe itself failed: panic of type %T", r)
		}
	}()
	return sweep.Run(ctx, plan, env)
}

// plan turns a sweep of the roster into what is to be done.
func (w *sweeper) plan(sw roster.Sweep, target roster.Target) (sweep.Plan, error) {
	prompt, err := w.cfg.Prompt(sw)
	if err != nil {
		return sweep.Plan{}, err
	}
	c := w.cfg.Conditions
	c.Sweep, c.Target, c.Model, c.Protocol = sw.Name, sw.Target, sw.Model, sw.Protocol
	c.Endpoint, c.Scenario, c.Language, c.Location = target.BaseURL, sw.Scenario, sw.Language, w.cfg.Location
	return sweep.Plan{
		Target: sw.Target, Model: sw.Model, Protocol: sw.Protocol,
		Mode: capacity.Mode(sw.Mode), Ladder: sw.Ladder, Requests: sw.Requests, Duration: sw.Duration, Repeats: sw.Repeats, Scheduled: true,
		Arrival: capacity.Arrival(sw.Arrival), Burstiness: sw.Burstiness, Seed: sw.Seed, Prompts: []probe.Prompt{prompt}, Limits: sw.Limits,
		CoolDown: sw.CoolDown, MaxDuration: sw.MaxDuration, Abort: sw.Abort, SLO: sw.SLO, Thresholds: sw.Thresholds, Conditions: c,
	}, nil
}

// forecast is what a run costs at most, with the target's price.
func (w *sweeper) forecast(sw roster.Sweep, plan sweep.Plan) roster.Load {
	load := plan.Forecast()
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.targets[sw.Target].Price; p != nil {
		load.Money = (load.InputTokens*p.Input + load.OutputTokens*p.Output) / 1e6
	}
	return load
}

// paid is an endpoint whose requests are booked as they end, so that a crash
// in the middle of a sweep does not refill its budget.
type paid struct {
	SweepEndpoint
	w     *sweeper
	sweep roster.Sweep
}

// Probe implements probe.Prober.
func (p *paid) Probe(ctx context.Context, spec probe.Spec) probe.Result {
	r := p.SweepEndpoint.Probe(ctx, spec)
	p.spend(r.PromptTokens.V + r.OutputTokens.V)
	p.w.tell(SweepEvent{Sweep: p.sweep, Stage: SweepRequest, At: time.Now(), Request: r})
	return r
}

// Calibrate implements probe.Calibrator.
func (p *paid) Calibrate(ctx context.Context, spec probe.Spec) probe.Calibration {
	c := p.SweepEndpoint.Calibrate(ctx, spec)
	p.spend(c.InputTokens + c.OutputTokens)
	return c
}

func (p *paid) spend(tokens int64) {
	p.w.s.ledger.Spend(time.Now(), p.sweep.Target, admit.SweepPurse, tokens)
}
