package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
)

// TestBudgetWhileRunning: 10 requests cost 9,000 tokens where 320 were asked
// for. The level of 8 streams, 50 requests and 8 to warm up, would need 52,200.
func TestBudgetWhileRunning(t *testing.T) {
	for budget, want := range map[int64]string{
		50_000: "the token budget: the level of 8 streams needs about 52200 tokens at what requests cost here, and 41000 are left",
		58_000: "", // 3,200 too few, less than a tenth
		0:      "",
	} {
		p := plan(capacity.Concurrency, 1, 8)
		p.TokenBudget = budget
		s := newSweep(p, Env{})
		s.ctx, s.cancel = context.WithCancelCause(t.Context())
		if !s.withinBudget(step{load: 8, at: 2}) {
			t.Error("ended before anything was spent")
		}
		s.cost.Requests, s.cost.InputTokens, s.cost.OutputTokens = 10, 1_000, 8_000
		got := ""
		if !s.withinBudget(step{load: 8, at: 2}) {
			got = context.Cause(s.ctx).Error()
		}
		if got != want {
			t.Errorf("budget %d: %q, want %q", budget, got, want)
		}
	}
	s := newSweep(plan(capacity.Concurrency, 1, 8), Env{})
	s.plan.TokenBudget = 50_000
	s.cost.Requests, s.cost.OutputTokens = 100, 1e18 // what a broken endpoint may bill: 58 × 10^18 is beyond an int64
	if need, _, ok := s.fits(8); ok || need < 1e17 {
		t.Errorf("a bill of 10^16 tokens a request: need %d, fits %v", need, ok)
	}
}

// TestSearchForecast: what a search may cost is known before it starts, also
// where it begins below 1.
func TestSearchForecast(t *testing.T) {
	for _, c := range []struct {
		auto Auto
		want []float64
	}{
		{Auto{MaxLoad: 64}, []float64{1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64, 64}},
		{Auto{MaxLoad: 0.5, Start: 0.0625, Tolerance: 0.25}, []float64{0.0625, 0.125, 0.25, 0.5, 0.5, 0.5}},
		{Auto{MaxLoad: 3, Tolerance: 0.5}, []float64{1, 2, 3, 3}},
	} {
		if got := c.auto.worst(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.auto, got, c.want)
		}
	}
	p := plan(capacity.Rate)
	p.Auto = &Auto{MaxLoad: 0.45, Start: 0.1}
	if got := p.Forecast(); got.Requests < 100 || got.Tokens() < 3_000 {
		t.Errorf("forecast %+v, want at least 20 requests a level", got)
	}
}

// TestEndpointGoneBeforeRepeats: a ladder that was measured well is not spoiled
// by repeats of levels that nobody answers any more.
func TestEndpointGoneBeforeRepeats(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted()}, func(t *testing.T, w world) {
		p := plan(capacity.Concurrency, 1, 2, 4, 8)
		p.Repeats = 3
		gone := false
		env := Env{Endpoint: w.endpoint, Progress: func(p Progress) {
			if p.Repeat > 0 && !gone {
				gone = true
				w.SetFaults(sim.Faults{ErrorRate: 1, ErrorClass: "http_500"})
			}
		}}
		result, err := Run(t.Context(), p, env)
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if !gone || r.Knee.Load != probe.Some(4.0) || walls(r)[capacity.Queue] != 8 || len(walls(r)) != 1 {
			t.Errorf("knee %+v, walls %v, want 4 and a queue from 8", r.Knee, r.Limits)
		}
		if !slices.Contains(r.Warnings, "the level of 2 was not repeated: no request of a second run succeeded") {
			t.Errorf("warnings %q", r.Warnings)
		}
	})
}

// TestRepeatsWithinBudget: the forecast holds the ladder once, so repeats take
// what is left of the budget, and what does not fit is left out and said.
func TestRepeatsWithinBudget(t *testing.T) {
	p := plan(capacity.Concurrency, 1, 2, 4, 8, 16)
	p.Repeats = 3
	cfg := sim.Config{Engine: slotted()}
	once := int64(p.Forecast().Tokens())
	for extra, want := range map[int64]int{0: 2, 6_000: 5, 1_000_000: 6} {
		p.TokenBudget = once + extra
		result := sweepOf(t, cfg, p)
		repeats := 0
		for _, l := range result.Report.Levels {
			repeats += max(1, l.Repeats) - 1
		}
		spent := result.Cost.InputTokens + result.Cost.OutputTokens
		said := slices.ContainsFunc(result.Report.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "levels around the knee were not all repeated: one more run of ")
		})
		if repeats != want || spent > p.TokenBudget || said != (want < 6) || result.Report.Aborted != "" {
			t.Errorf("budget %d (forecast + %d): %d repeats, %d tokens spent, warnings %q; want %d", p.TokenBudget, extra, repeats, spent, result.Report.Warnings, want)
		}
	}
}

// TestRepeats: the knee and its neighbours are run three times, the others once.
func TestRepeats(t *testing.T) {
	p := plan(capacity.Concurrency, 1, 2, 4, 8, 16)
	p.Repeats = 3
	r := sweepOf(t, sim.Config{Engine: slotted()}, p).Report
	for i, want := range []int{0, 3, 3, 3, 0} {
		l := r.Levels[i]
		if l.Repeats != want || l.Completed != max(1, want)*max(50, 4*int(l.Load)) {
			t.Errorf("level %g has %d runs and %d requests, want %d runs", l.Load, l.Repeats, l.Completed, want)
		}
		if want > 0 && (!l.Spread.OK || l.Spread.V > 0.05) {
			t.Errorf("level %g: spread %v", l.Load, l.Spread)
		}
	}
	if r.Knee.Load != probe.Some(4.0) {
		t.Errorf("knee %+v", r.Knee)
	}
}
