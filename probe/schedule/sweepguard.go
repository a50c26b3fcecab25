package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
	"tokprobe/probe/sweep"
)

// refuse says why a sweep may not start now: NotSkipped if it may.
func (w *sweeper) refuse(sw roster.Sweep, plan sweep.Plan) (probe.SkipReason, string) {
	now := time.Now()
	if reason, text := w.barred(sw, now); reason != probe.NotSkipped {
		return reason, text
	}
	retry := w.s.gate.look(probe.ID{Target: sw.Target, Model: sw.Model}).retry
	if until := retry.Until(0); now.Before(until) {
		return probe.SkipRetryAfter, fmt.Sprintf("the endpoint asked to be left alone for another %s", until.Sub(now).Round(time.Second))
	}
	limit := w.limit(sw)
	need, left := int64(math.Ceil(plan.Forecast().Tokens())), limit-w.spent(sw, now)
	if limit > 0 && need > left {
		return probe.SkipBudget, (&sweep.BudgetError{Need: need, Budget: max(left, 0)}).Error()
	}
	return probe.NotSkipped, ""
}

// barred says why no sweep may run here now, be it before or during a run. A
// window that only tags bars sweeps too: capacity during maintenance is not
// comparable with any other.
func (w *sweeper) barred(sw roster.Sweep, now time.Time) (probe.SkipReason, string) {
	v := w.s.gate.look(probe.ID{})
	stopped := ""
	if w.cfg.Stopped != nil {
		stopped = w.cfg.Stopped()
	}
	switch {
	case stopped != "":
		return probe.SkipDisabled, "sweeps are stopped: " + stopped
	case v.off:
		return probe.SkipDisabled, "probes are stopped, and a sweep needs one beside it"
	case w.s.InMaintenance(sw.Target):
		return probe.SkipMaintenance, "a maintenance window of " + sw.Target + " is open"
	case v.canary:
		return probe.SkipCanary, "a canary says that this machine or its network cannot measure"
	}
	return probe.NotSkipped, ""
}

func (w *sweeper) limit(sw roster.Sweep) int64 {
	return (*w.s.targets.Load())[sw.Target].budget.SweepTokensPerDay
}

func (w *sweeper) spent(sw roster.Sweep, now time.Time) int64 {
	return w.s.ledger.Spent(now, sw.Target, admit.SweepPurse)
}

// guard ends a running sweep when something forbids it.
func (w *sweeper) guard(ctx context.Context, j *sweepJob, sw roster.Sweep, abort context.CancelCauseFunc) {
	ticker := time.NewTicker(sweepGuard)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		w.mu.Lock()
		gone := j.gone
		w.mu.Unlock()
		limit, spent := w.limit(sw), w.spent(sw, now)
		reason, text := w.barred(sw, now)
		switch {
		case gone:
			text = "it was removed from the configuration"
		case reason == probe.NotSkipped && limit > 0 && spent > limit:
			text = fmt.Sprintf("the day's sweep budget of %d tokens is spent", limit)
		}
		if text != "" {
			abort(errors.New(text))
			return
		}
	}
}

// bystander chooses the probe that goes on beside a sweep: the one with the
// fewest tokens, among those the one that runs most often. It returns the zero
// ID if none is watched there, and the median of its latest TTFTs.
func (w *sweeper) bystander(sw roster.Sweep) (probe.ID, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.watches[pair{sw.Target, sw.Model}])
	if len(list) == 0 {
		return probe.ID{}, 0
	}
	tokens := func(x roster.Watch) int {
		return roster.EstimateInput(x.Spec.Prompt) + roster.EstimateOutput(x.Spec.Prompt)
	}
	best := slices.MinFunc(list, func(a, b roster.Watch) int {
		return cmp.Or(cmp.Compare(tokens(a), tokens(b)), cmp.Compare(a.Gap(), b.Gap()), cmp.Compare(a.ID.Probe, b.ID.Probe))
	})
	return best.ID, w.ttfts[best.ID].median()
}

// insert puts the fuse in that id's results may blow; the zero ID takes it out.
func (w *sweeper) insert(id probe.ID, median time.Duration, factor float64) *sweep.Fuse {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fuse, w.fused = nil, id
	if id != (probe.ID{}) {
		w.fuse = sweep.NewFuse(median, factor)
	}
	return w.fuse
}

// note learns from finished probes: how fast a bystander is by itself, and how
// it fares beside a sweep.
func (w *sweeper) note(t probe.Tick) {
	if w == nil || t.Stage != probe.TickDone {
		return
	}
	w.mu.Lock()
	fuse, recent := w.fuse, w.ttfts[t.ID]
	if t.ID != w.fused {
		fuse = nil
	}
	if ttft, ok := t.Result.TTFT.Get(); ok && recent != nil && !t.Bystander && !t.Result.LagSuspect && t.Result.Outcome == probe.OK {
		recent.add(ttft)
	}
	w.mu.Unlock()
	fuse.Record(t.Result)
}

// recentTTFT is the latest TTFTs of one probe, a ring.
type recentTTFT struct {
	last [20]time.Duration
	n    int // ever
}

func (r *recentTTFT) add(d time.Duration) {
	r.last[r.n%len(r.last)] = d
	r.n++
}

// median is 0 below three samples: one slow answer is no yardstick.
func (r *recentTTFT) median() time.Duration {
	if r == nil || r.n < 3 {
		return 0
	}
	return slices.Sorted(slices.Values(r.last[:min(r.n, len(r.last))]))[min(r.n, len(r.last))/2]
}
