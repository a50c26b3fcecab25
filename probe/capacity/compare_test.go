package capacity

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
)

func TestParseGate(t *testing.T) {
	for _, c := range []struct {
		give string
		want Gate
	}{
		{"ttft_p90>+10%", Gate{Metric: "ttft_p90", Above: true, Relative: true, Bound: 0.1}},
		{"output_tps < -5%", Gate{Metric: "output_tps", Relative: true, Bound: -0.05}},
		{"ttft_p99>500ms", Gate{Metric: "ttft_p99", Above: true, Bound: 500}},
		{"e2e_mean>2.5s", Gate{Metric: "e2e_mean", Above: true, Bound: 2500}},
		{"itl_p50>800us", Gate{Metric: "itl_p50", Above: true, Bound: 0.8}},
		{"ttft_p99@8>500ms", Gate{Metric: "ttft_p99", AtLoad: probe.Some(8.0), Above: true, Bound: 500}},
		{"first_content_p95>+50%", Gate{Metric: "first_content_p95", Above: true, Relative: true, Bound: 0.5}},
		{"error_ratio>1%", Gate{Metric: "error_ratio", Above: true, Bound: 0.01}},
		{"attainment<0.95", Gate{Metric: "attainment", Bound: 0.95}},
		{"knee<-10%", Gate{Metric: "knee", Relative: true, Bound: -0.1}},
		{"request_tps<40", Gate{Metric: "request_tps", Bound: 40}},
	} {
		c.want.Text = c.give
		if got, err := ParseGate(c.give); err != nil || math.Abs(got.Bound-c.want.Bound) > 1e-12 {
			t.Errorf("ParseGate(%q) = %+v, %v; want %+v", c.give, got, err, c.want)
		} else if got.Bound = c.want.Bound; got != c.want {
			t.Errorf("ParseGate(%q) = %+v; want %+v", c.give, got, c.want)
		}
	}
	for _, c := range []struct{ give, want string }{
		{"", "is no condition"},
		{"ttft_p90", "is no condition"},
		{"ttft_p90>=10%", "is no condition"},
		{"ttft_p90>+10%; rm", "is no condition"},
		{"ttft>+10%", `no metric "ttft"`},
		{"ttft_p80>+10%", `no metric "ttft_p80"`},
		{"latency_p90>+10%", "no metric"},
		{"ttft_p90>10%", "needs its sign"},
		{"ttft_p90>+10ms", "leave out the sign"},
		{"ttft_p90>500", "a unit"},
		{"output_tps<500ms", "a unit"},
		{"knee@8<-10%", "is no load"},
		{"ttft_p90@0>5ms", "is no load"},
	} {
		if g, err := ParseGate(c.give); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseGate(%q) = %+v, %v; want an error with %q", c.give, g, err, c.want)
		}
	}
}

// noisy runs a closed ladder whose TTFT varies by a seed and is scaled.
func noisy(seed uint64, scale float64) Report {
	rng := newRand(seed)
	r := Report{Mode: Concurrency}
	for _, n := range []int{1, 4} {
		var samples []Sample
		next := make([]time.Duration, n)
		for range 100 {
			i := slices.Index(next, slices.Min(next))
			v := server{TTFT: time.Duration(scale * float64(200*time.Millisecond) * math.Exp(0.2*rng.NormFloat64())), TPOT: 5 * time.Millisecond, Tokens: 21}
			s := v.serve(next[i], next[i])
			next[i] = s.Done
			samples = append(samples, s)
		}
		r.Levels = append(r.Levels, NewLevel(Run{Mode: Concurrency, Load: float64(n), Samples: samples}))
	}
	r.Assess(Settings{})
	return r
}

func gates(t *testing.T, texts ...string) []Gate {
	t.Helper()
	var gs []Gate
	for _, x := range texts {
		g, err := ParseGate(x)
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, g)
	}
	return gs
}

func TestCompareTellsNoiseFromChange(t *testing.T) {
	base := noisy(1, 1)
	alarms := 0
	for seed := range uint64(40) {
		row, ok := compareLevel("ttft_p50", noisy(2*seed, 1).Levels[1], noisy(2*seed+1, 1).Levels[1])
		if !ok || row.Noise == UnknownNoise {
			t.Fatalf("not judged: %+v", row)
		}
		alarms += toInt(row.Noise == BeyondNoise)
	}
	// Two of 40 in the mean, outside a 95 % interval.
	if alarms > 6 {
		t.Errorf("of 40 pairs of equal runs %d count as changed; want about 2", alarms)
	}
	c, err := Compare(base, noisy(3, 1.5), gates(t, "ttft_p50>+10%", "output_tps<-10%", "tpot_p50>+1%"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Failures) != 4 {
		t.Errorf("TTFT grew by half at both levels: %d failures %q; want 2 for ttft_p50 and 2 for output_tps", len(c.Failures), c.Failures)
	}
	for _, r := range c.Moved() {
		if strings.HasPrefix(r.Metric, "tpot") {
			t.Errorf("TPOT did not move, but %+v", r)
		}
		if r.Metric == "ttft_p50" && (math.Abs(r.Change.V-0.5) > 0.15 || r.Interval.Low < 0.3 || r.Interval.High > 0.8) {
			t.Errorf("change of ttft_p50 %+v (%+v), want about +50 %%", r.Change, r.Interval)
		}
	}
}

func TestCompareWithoutSamplesJudgesTheNumbers(t *testing.T) {
	c, err := Compare(noisy(1, 1).WithoutSamples(), noisy(3, 1.5).WithoutSamples(), gates(t, "ttft_p90>+10%"))
	if err != nil || len(c.Failures) != 2 || c.Rows[1].Noise != UnknownNoise {
		t.Errorf("failures %q, %v; want both levels, noise unknown", c.Failures, err)
	}
}

func TestGateOnNothingFails(t *testing.T) {
	base, next := noisy(1, 1), noisy(2, 1)
	for _, text := range []string{"attainment<0.9", "ttft_p90@7>1s"} {
		c, err := Compare(base, next, gates(t, text))
		if err != nil || len(c.Failures) != 1 || !strings.Contains(c.Failures[0], "not measured") {
			t.Errorf("%s: %q, %v; want one failure that says it was not measured", text, c.Failures, err)
		}
	}
	next.Levels[1].Stats = map[Metric]Summary{}
	c, err := Compare(base, next, gates(t, "ttft_p90>+1000%"))
	if err != nil || len(c.Failures) != 1 || !strings.Contains(c.Failures[0], "to nothing") {
		t.Errorf("TTFT vanished at 4: %q, %v; want a failure", c.Failures, err)
	}
}

func TestErrorsFromNone(t *testing.T) {
	level := func(failed int) Report {
		l := Level{Mode: Concurrency, Load: 1, State: Baseline, Completed: 100 - failed, Failed: failed}
		l.ErrorRatio = probe.Some(float64(failed) / 100)
		return Report{Mode: Concurrency, Levels: []Level{l}}
	}
	for _, c := range []struct {
		base, next int
		fails      bool
	}{{0, 0, false}, {0, 1, false}, {0, 9, true}, {2, 6, false}, {2, 9, true}, {9, 2, false}} {
		got, err := Compare(level(c.base), level(c.next), gates(t, "error_ratio>+10%"))
		if err != nil || got.Failed() != c.fails {
			t.Errorf("%d, then %d errors of 100: failures %q, %v; want failed = %v", c.base, c.next, got.Failures, err, c.fails)
		}
	}
	iv, _ := shareInterval(compared{value: func(l Level) probe.Opt[float64] { return l.ErrorRatio }}, level(2).Levels[0], level(9).Levels[0])
	if math.Abs(iv.Low-0.004738) > 1e-6 || math.Abs(iv.High-0.143702) > 1e-6 {
		t.Errorf("interval of 2 against 9 of 100 is %+v", iv)
	}
}

func TestComparable(t *testing.T) {
	change := func(f func(*Report)) Report {
		r := noisy(1, 1)
		f(&r)
		return r
	}
	for _, c := range []struct {
		name string
		next Report
		want string
	}{
		{"same", noisy(1, 1), ""},
		{"mode", change(func(r *Report) { r.Mode = Rate }), "a concurrency ladder, the new one a rate ladder"},
		{"levels", change(func(r *Report) { r.Levels = r.Levels[:1] }), "levels 1, 4, the new report 1"},
		{"arrival", change(func(r *Report) { r.Conditions.Arrival = "gamma" }), "arrivals were"},
		{"input", change(func(r *Report) { r.Conditions.InputTokens = 8000 }), "input tokens"},
		{"max tokens", change(func(r *Report) { r.Conditions.MaxTokens = 512 }), "max_tokens was 0 and is 512"},
		{"output", change(func(r *Report) { r.Levels[1].TotalOutputTokens.V *= 2 }), "at level 4 the mean output was 21 tokens and is 42"},
		{"prompt", change(func(r *Report) { r.Levels[0].TotalInputTokens.V /= 2 }), "at level 1 the mean prompt was 20 tokens and is 10"},
	} {
		err := Comparable(noisy(1, 1), c.next)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v; want comparable", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
