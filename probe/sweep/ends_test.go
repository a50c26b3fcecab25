package sweep

import (
	"context"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/sim"
)

// TestDyingEndpoint: what dies at the third level leaves the first two judged.
func TestDyingEndpoint(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted()}, func(t *testing.T, w world) {
		env := Env{Endpoint: w.endpoint, Progress: func(p Progress) {
			if p.Level == 3 {
				w.Close()
			}
		}}
		result, err := Run(t.Context(), plan(capacity.Concurrency, 1, 2, 4, 8), env)
		if err != nil {
			t.Fatal(err)
		}
		r := result.Report
		if len(r.Levels) != 4 || r.Aborted != "" {
			t.Fatalf("%d levels, aborted %q: by hand every level runs", len(r.Levels), r.Aborted)
		}
		want := []capacity.State{capacity.Baseline, capacity.NearSaturation, capacity.Failing, capacity.Failing}
		for i, l := range r.Levels {
			if l.State != want[i] {
				t.Errorf("level %g is %s, want %s", l.Load, l.State, want[i])
			}
		}
		if r.Levels[1].Completed != 50 || r.Levels[2].Completed != 0 || r.Levels[2].Failed != 50 {
			t.Errorf("levels 2 and 3 have %d ok and %d ok, %d failed", r.Levels[1].Completed, r.Levels[2].Completed, r.Levels[2].Failed)
		}
		if r.Knee.Load != probe.Some(2.0) || walls(r)[capacity.Errors] != 4 {
			t.Errorf("knee %+v, limits %+v", r.Knee, r.Limits)
		}
	})
}

// TestAbortLimits: scheduled sweeps give up on a share of failures, at the
// earliest after 10 requests, and on a TTFT.
func TestAbortLimits(t *testing.T) {
	p := plan(capacity.Concurrency, 1, 2)
	p.Abort = roster.Abort{ErrorRatio: 0.2}
	r := sweepOf(t, sim.Config{Engine: slotted(), Faults: []sim.Faults{{ErrorRate: 1, ErrorClass: "http_500"}}}, p).Report
	if len(r.Levels) != 1 || r.Levels[0].Failed != 10 || !strings.Contains(r.Aborted, "10 of 10 requests failed at level 1") {
		t.Errorf("%d levels, aborted %q, want 10 failures", len(r.Levels), r.Aborted)
	}
	p.Abort = roster.Abort{TTFT: 199 * ms}
	r = sweepOf(t, fixed(), p).Report
	if len(r.Levels) != 1 || r.Levels[0].Completed != 10 || !strings.Contains(r.Aborted, "median TTFT of the last 10 answers was 200ms at level 1, over the limit of 199ms") {
		t.Errorf("%d levels, aborted %q, want 10 answers", len(r.Levels), r.Aborted)
	}
	p.Abort.TTFT = 200 * ms
	if r = sweepOf(t, fixed(), p).Report; r.Aborted != "" || len(r.Levels) != 2 {
		t.Errorf("aborted %q by a limit that was met", r.Aborted)
	}
}

// TestEnds: whatever ends a sweep in the middle of level 2 leaves level 1 whole
// and level 2 with what was done.
func TestEnds(t *testing.T) {
	for name, end := range map[string]struct {
		arrange func(*Plan, *Env, context.CancelFunc) (at func())
		want    string
		levels  int
	}{
		"context": {func(_ *Plan, _ *Env, cancel context.CancelFunc) func() { return cancel }, "interrupted", 2},
		"fuse": {func(_ *Plan, e *Env, _ context.CancelFunc) func() {
			e.Fuse = NewFuse(100*ms, 0)
			return func() {
				e.Fuse.Record(probe.Result{ID: probe.ID{Probe: "chat"}, Outcome: probe.OK, TTFT: probe.Some(501 * ms)})
			}
		}, "the bystander probe chat had a TTFT of 501ms, over 5 times its median of 100ms before the sweep (bystander_ttft)", 2},
		"longest": {func(p *Plan, _ *Env, _ context.CancelFunc) func() {
			p.MaxDuration = 60 * time.Second
			return func() {}
		}, "the longest duration of 1m0s was reached", 2},
		"level by hand": {func(_ *Plan, e *Env, _ context.CancelFunc) func() {
			keys := make(chan struct{}, 1)
			e.EndLevel = keys
			return func() { keys <- struct{}{} }
		}, "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, fixed(), func(t *testing.T, w world) {
				p, env := plan(capacity.Concurrency, 1, 2, 4), Env{Endpoint: w.endpoint}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				act := end.arrange(&p, &env, cancel)
				// Level 1 ends after some 43 s, level 2 after 70.
				defer time.AfterFunc(60*time.Second, act).Stop()
				result, err := Run(ctx, p, env)
				if err != nil {
					t.Fatal(err)
				}
				r := result.Report
				if r.Aborted != end.want || len(r.Levels) != end.levels {
					t.Fatalf("aborted %q with %d levels, want %q and %d", r.Aborted, len(r.Levels), end.want, end.levels)
				}
				if r.Levels[0].Completed != 50 || r.Levels[1].Completed == 0 || r.Levels[1].Completed >= 50 || r.Levels[1].Cut != 2 {
					t.Errorf("level 1 has %d, level 2 %d and %d cut", r.Levels[0].Completed, r.Levels[1].Completed, r.Levels[1].Cut)
				}
				if end.levels == 3 && r.Levels[2].Completed != 50 {
					t.Errorf("level 3 has %d, want all 50", r.Levels[2].Completed)
				}
			})
		})
	}
}

// TestHangingEndpoint: an engine that hangs costs a level its first-token
// limit a request, and the level's deadline at most.
func TestHangingEndpoint(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted(), Faults: []sim.Faults{{Hang: true}}}, func(t *testing.T, w world) {
		p := plan(capacity.Concurrency, 1, 2)
		p.LevelDeadline = 210 * time.Second
		began := time.Now()
		result, err := Run(t.Context(), p, Env{Endpoint: w.endpoint})
		if err != nil {
			t.Fatal(err)
		}
		l := result.Report.Levels[0]
		if l.Failed != 2 || l.Cut != 1 || l.State != capacity.Failing || l.Outcomes[probe.TimeoutFirstToken] != 2 {
			t.Errorf("%d failed, %d cut, %v, %s: want two timeouts of 60 s in 210 s, of which the warm-up took 60", l.Failed, l.Cut, l.Outcomes, l.State)
		}
		if !strings.Contains(strings.Join(result.Report.Warnings, "\n"), "level 1 was ended by its deadline of 3m30s with 3 requests done") {
			t.Errorf("warnings %q", result.Report.Warnings)
		}
		// Calibration, warm-up and level, twice, with the cool-down.
		if took := time.Since(began); took > 9*time.Minute {
			t.Errorf("the sweep took %v", took)
		}
	})
}

// TestBadPlans: nothing is sent, and the error says what to write.
func TestBadPlans(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Plan)
		want   string
	}{
		"no model":      {func(p *Plan) { p.Model = "" }, "no model"},
		"no prompt":     {func(p *Plan) { p.Prompts = nil }, "no prompt"},
		"mode":          {func(p *Plan) { p.Mode = "both" }, `mode "both"`},
		"no ladder":     {func(p *Plan) { p.Ladder = nil }, "no level"},
		"twice":         {func(p *Plan) { p.Ladder = []float64{4, 2, 4} }, "load 4 is there twice"},
		"negative":      {func(p *Plan) { p.Ladder = []float64{-1, 2} }, "load -1: want a number above 0"},
		"half a stream": {func(p *Plan) { p.Ladder = []float64{0.5, 2} }, "load 0.5: streams are whole numbers"},
		"both ends":     {func(p *Plan) { p.Requests, p.Duration = 50, time.Minute }, "keep one"},
		"too few":       {func(p *Plan) { p.Requests = 1 }, "1 requests at 2 streams: some streams would have none; want at least 2, better 8"},
		"arrival":       {func(p *Plan) { p.Arrival = "bursty" }, `arrival "bursty"`},
		"budget":        {func(p *Plan) { p.TokenBudget = 1000 }, "the ladder needs up to "},
		"auto":          {func(p *Plan) { p.Auto = &Auto{MaxLoad: 0.5} }, "maximum load 0.5"},
	} {
		p := plan(capacity.Concurrency, 1, 2)
		tt.change(&p)
		_, err := Run(t.Context(), p, Env{Endpoint: refusing{t}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
	if _, err := Run(t.Context(), plan(capacity.Concurrency, 1), Env{}); err == nil {
		t.Error("a sweep without an endpoint ran")
	}
}

// refusing is an endpoint that must not be asked.
type refusing struct{ t *testing.T }

func (r refusing) Probe(context.Context, probe.Spec) probe.Result {
	r.t.Error("a request was sent")
	return probe.Result{}
}

func (r refusing) Calibrate(context.Context, probe.Spec) probe.Calibration {
	r.t.Error("a calibration was sent")
	return probe.Calibration{}
}

func (r refusing) OpenAll(context.Context, int) error { return nil }

// TestBudget: the number needed is the one that is enough.
func TestBudget(t *testing.T) {
	p := plan(capacity.Concurrency, 1, 2)
	p.TokenBudget = 1
	err := p.checkBudget()
	budget, ok := err.(*BudgetError) //nolint:errorlint // it is that very value
	if !ok {
		t.Fatalf("error %v, want a BudgetError", err)
	}
	// 50 and 50 requests with 1 and 2 warm-ups, of about 28 + 32 tokens.
	if budget.Need < 103*32 || budget.Need > 103*70 {
		t.Errorf("need %d", budget.Need)
	}
	p.TokenBudget = budget.Need
	if err := p.checkBudget(); err != nil {
		t.Errorf("the number asked for is not enough: %v", err)
	}
	result := sweepOf(t, fixed(), p)
	if used := result.Cost.InputTokens + result.Cost.OutputTokens; used > budget.Need {
		t.Errorf("used %d of a forecast of %d", used, budget.Need)
	}
}
