package capacity

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"tokprobe/probe"
)

type vector struct {
	Name, Mode, Throughput, Tail string
	Levels                       []map[string]float64
	Expect                       struct {
		States      []State
		Knee        *float64
		AtLeast     *float64             `json:"knee_at_least"`
		Recommended *float64             `json:"recommended"`
		MostWith    []map[string]float64 `json:"most_load_with"`
	}
}

// report builds a report whose levels say what a published ladder says.
func (v vector) report() Report {
	r := Report{Mode: Mode(v.Mode)}
	for _, row := range v.Levels {
		l := Level{Mode: r.Mode, Load: row["load"], Trusted: true, Completed: 1000}
		l.SteadySeconds = probe.Some(1e6)
		if r.Mode == Rate {
			l.SteadyRequestThroughput = probe.Some(row[v.Throughput])
		} else {
			l.SteadyOutputThroughput = probe.Some(row[v.Throughput])
		}
		l.Stats = map[Metric]Summary{TTFT: {N: 1000, Mean: row["ttft_mean_ms"], P99: row["ttft_p99_ms"], P95: row[v.Tail]}}
		r.Levels = append(r.Levels, l)
	}
	return r
}

func vectors(t *testing.T) []vector {
	t.Helper()
	b, err := os.ReadFile("testdata/knee.json")
	if err != nil {
		t.Fatal(err)
	}
	var vs []vector
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	if len(vs) != 3 {
		t.Fatalf("%d ladders, want 3", len(vs))
	}
	return vs
}

func TestPublishedLadders(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			r := v.report()
			r.Assess(Settings{})
			var states []State
			for _, l := range r.Levels {
				states = append(states, l.State)
			}
			if !slices.Equal(states, v.Expect.States) {
				t.Errorf("states %v\n want %v", states, v.Expect.States)
			}
			same(t, "knee", r.Knee.Load, v.Expect.Knee)
			same(t, "at least", r.Knee.AtLeast, v.Expect.AtLeast)
			var rec probe.Opt[float64]
			if r.Recommended != nil {
				rec = probe.Some(r.Recommended.Load)
			}
			same(t, "recommended", rec, v.Expect.Recommended)
			for _, m := range v.Expect.MostWith {
				want := m["load"]
				limit := Limit{Metric: TTFT, Stat: "mean", Most: m["ttft_mean_ms"]}
				if p99, ok := m["ttft_p99_ms"]; ok {
					limit.Stat, limit.Most = "p99", p99
				}
				same(t, limit.String(), MostLoad(r.Levels, limit.Holds), &want)
			}
		})
	}
}

func same(t *testing.T, what string, got probe.Opt[float64], want *float64) {
	t.Helper()
	switch {
	case want == nil && got.OK:
		t.Errorf("%s = %g, want none", what, got.V)
	case want != nil && (!got.OK || got.V != *want):
		t.Errorf("%s = %+v, want %g", what, got, *want)
	}
}

func points(loadThroughput ...float64) []Point {
	var ps []Point
	for i := 0; i < len(loadThroughput); i += 2 {
		ps = append(ps, Point{Load: loadThroughput[i], Throughput: probe.Some(loadThroughput[i+1])})
	}
	return ps
}

func TestJudgeEdges(t *testing.T) {
	fail := func(p []Point, at ...int) []Point {
		for _, i := range at {
			p[i].Failing = true
		}
		return p
	}
	for _, c := range []struct {
		name    string
		give    []Point
		states  []State
		reached bool
		knee    float64 // at least, if not reached; −1 for neither
	}{
		{"nothing", nil, nil, false, -1},
		{"one level", points(8, 100), []State{Baseline}, false, 8},
		{"all failed", fail(points(1, 0, 2, 0), 0, 1), []State{Failing, Failing}, false, -1},
		{"fails at the third", fail(points(1, 10, 2, 20, 4, 0), 2), []State{Baseline, NearSaturation, Failing}, true, 2},
		{"only the first fails", fail(points(1, 0, 2, 20, 4, 40), 0), []State{Failing, Baseline, Scaling}, false, 4},
		{"zero throughput", points(1, 0, 2, 0, 4, 0), []State{Baseline, Saturated, Saturated}, true, 1},
		{"from zero up", points(1, 0, 2, 20, 4, 40), []State{Baseline, Scaling, Scaling}, false, 4},
		{"tiny ideal steps", points(10, 100, 11, 110, 12, 120), []State{Baseline, Scaling, Scaling}, false, 12},
		{"tiny steps with a gain under 5 %", points(10, 100, 11, 104), []State{Baseline, NearSaturation}, false, 11},
		{"a step of 1.25 with the same gain", points(8, 100, 10, 104), []State{Baseline, Saturated}, true, 8},
		{"a dip that a higher level refutes", points(1, 10, 2, 20, 4, 20, 8, 80), []State{Baseline, NearSaturation, Saturated, Scaling}, false, 8},
		{"decline", points(1, 10, 2, 20, 4, 19), []State{Baseline, NearSaturation, Overloaded}, true, 2},
		{"duplicates share the median", points(1, 10, 2, 19, 2, 21, 4, 40), []State{Baseline, Scaling, Scaling, Scaling}, false, 4},
		{"NaN and infinite", points(1, 10, 2, math.NaN(), math.NaN(), 5, 4, math.Inf(1), 8, 80), []State{Baseline, NotJudged, NotJudged, NotJudged, Scaling}, false, 8},
		{"no load", points(0, 10, -1, 5), []State{NotJudged, NotJudged}, false, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			states, knee := Judge(c.give, Thresholds{})
			if !slices.Equal(states, c.states) {
				t.Errorf("states %v, want %v", states, c.states)
			}
			got := knee.AtLeast
			if knee.Reached {
				got = knee.Load
			}
			want := &c.knee
			if c.knee < 0 {
				want = nil
			}
			same(t, "knee", got, want)
			if knee.Reached != c.reached {
				t.Errorf("reached = %v, want %v", knee.Reached, c.reached)
			}
		})
	}
}

func TestTailOfASaturatedLevel(t *testing.T) {
	ps := points(8, 100, 16, 102, 32, 104, 64, 104)
	for i, tail := range []float64{1, 2, 3.9, 8} {
		ps[i].Tail = probe.Some(tail)
	}
	states, _ := Judge(ps, Thresholds{})
	if want := []State{Baseline, Saturated, Saturated, Overloaded}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v: 3.9 is not twice 2, 8 is twice 3.9", states, want)
	}
}

func TestSkippedLevelsAreNoStep(t *testing.T) {
	ps := points(1, 10, 2, 11, 4, 40)
	ps[1].Skip = true
	states, knee := Judge(ps, Thresholds{})
	if want := []State{Baseline, NotJudged, Scaling}; !slices.Equal(states, want) || knee.Reached {
		t.Errorf("states %v, knee %+v; want %v and none", states, knee, want)
	}
}

func TestOfferedRateCounts(t *testing.T) {
	ps := points(10, 10, 20, 11) // the client could send only 11 a second
	ps[0].Offered, ps[1].Offered = probe.Some(10.0), probe.Some(11.0)
	states, _ := Judge(ps, Thresholds{})
	if states[1] != Scaling {
		t.Errorf("%s, want scaling: all that was offered was served", states[1])
	}
}

// TestOrderDoesNotMatter shuffles random ladders and asks for the same
// judgement of every level.
func TestOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var ps []Point
		for i := range 1 + rng.IntN(8) {
			ps = append(ps, Point{Load: float64(1 + i), Throughput: probe.Some(100 * rng.Float64()),
				Tail: probe.Some(rng.Float64()), Failing: rng.IntN(5) == 0, Skip: rng.IntN(6) == 0})
		}
		states, knee := Judge(ps, Thresholds{})
		order := rng.Perm(len(ps))
		mixed := make([]Point, len(ps))
		for to, from := range order {
			mixed[to] = ps[from]
		}
		states2, knee2 := Judge(mixed, Thresholds{})
		for to, from := range order {
			if states2[to] != states[from] {
				t.Fatalf("load %g: %s in one order, %s in another", ps[from].Load, states[from], states2[to])
			}
		}
		if knee != knee2 {
			t.Fatalf("knee %+v in one order, %+v in another", knee, knee2)
		}
	}
}

func TestRoundDown(t *testing.T) {
	for _, c := range []struct {
		give float64
		mode Mode
		want float64
	}{
		{6, Concurrency, 6}, {8.25, Concurrency, 8}, {0.75, Concurrency, 1}, {5.999999999999, Concurrency, 6},
		{60, Rate, 60}, {37.5, Rate, 37}, {0.4567, Rate, 0.45}, {0.75 * 0.4, Rate, 0.3}, {1234, Rate, 1200}, {0.0075, Rate, 0.0075}, {0, Rate, 0},
	} {
		if got := roundDown(c.give, c.mode); got != c.want {
			t.Errorf("roundDown(%g, %s) = %v, want %v", c.give, c.mode, got, c.want)
		}
	}
}

func ExampleJudge() {
	states, knee := Judge(points(1, 4210, 4, 15200, 8, 27800, 16, 30100, 32, 30500), Thresholds{})
	fmt.Println(states[3], knee.Load.V)
	// Output: saturated 8
}

// TestKneeIsNeverABadLevel: 8 falls far below 4, 16 recovers a little. That 16
// beats 8 takes nothing from 4.
func TestKneeIsNeverABadLevel(t *testing.T) {
	points := []Point{
		{Load: 4, Throughput: probe.Some(348.0)}, {Load: 8, Throughput: probe.Some(190.0)}, {Load: 16, Throughput: probe.Some(272.0)},
	}
	states, knee := Judge(points, Thresholds{})
	if want := []State{Baseline, Overloaded, Overloaded}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	if !knee.Reached || knee.Load != probe.Some(4.0) {
		t.Errorf("knee %+v, want 4", knee)
	}
}
