package capacity

import (
	"math"
	"slices"
	"testing"
	"time"

	"tokprobe/probe"
)

func fifty(int) int { return 50 }

// TestIdealServerHasNoKneeClosed runs few requests over a server that does not
// care about load: no start pattern and no length of answer may invent a knee,
// and where every stream sends at least twice throughput must be proportional.
func TestIdealServerHasNoKneeClosed(t *testing.T) {
	for _, v := range []server{
		{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Tokens: 64},
		{TTFT: time.Second, TPOT: 50 * time.Millisecond, Tokens: 2},
		{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Tokens: 16},
		{TTFT: 80 * time.Millisecond, TPOT: 25 * time.Millisecond, Tokens: 512},
	} {
		e2e := v.TTFT + time.Duration(v.Tokens-1)*v.TPOT
		for _, spread := range []float64{0, 0.01, 0.3, 0.5, 0.97, 1, 1.2} {
			ramp := time.Duration(spread * float64(e2e))
			r := closedReport(v, []int{1, 2, 4, 8, 16, 32}, fifty, ramp)
			if r.Knee.Reached || r.Knee.AtLeast != probe.Some(32.0) {
				t.Errorf("%+v, starts over %g of a request: knee %+v, states %v; want none up to 32", v, spread, r.Knee, states(r))
			}
			for _, s := range states(r)[1:] {
				// Two tokens in 1.05 s come in lumps that a window of half a
				// request cannot average out.
				if s != Scaling && v.Tokens > 2 {
					t.Errorf("%+v, starts over %g of a request: states %v", v, spread, states(r))
					break
				}
			}
		}
		r := closedReport(v, []int{1, 2, 4, 8, 16}, func(n int) int { return 4 * n }, e2e)
		for _, l := range r.Levels {
			want := l.Load / e2e.Seconds()
			near(t, "requests per second", l.SteadyRequestThroughput, want, 1e-9)
			near(t, "tokens per second", l.SteadyOutputThroughput, want*float64(v.Tokens), 0.02)
		}
	}
}

// TestShortClosedWindow: 10 requests at 8 streams leave a window of a quarter of
// an answer, in which anything may come out. 12 leave half of one.
func TestShortClosedWindow(t *testing.T) {
	v := server{TTFT: 40 * time.Millisecond, TPOT: 5 * time.Millisecond, Tokens: 4}
	e2e := v.TTFT + 3*v.TPOT
	for requests, want := range map[int]State{10: NotJudged, 12: Scaling, 16: Scaling} {
		r := closedReport(v, []int{1, 8}, func(int) int { return requests }, e2e)
		if l := r.Levels[1]; l.State != want || l.TooShort != (want == NotJudged) {
			t.Errorf("%d requests: window %.4f s of answers of %s, too short %v, %s, want %s", requests, l.SteadySeconds.V, e2e, l.TooShort, l.State, want)
		}
		if peak := r.PeakOutputThroughput.V; want == NotJudged && peak != r.Levels[0].SteadyOutputThroughput.V {
			t.Errorf("peak %g comes from a level that was not judged", peak)
		}
	}
}

func near(t *testing.T, what string, got probe.Opt[float64], want, share float64) {
	t.Helper()
	if !got.OK || math.Abs(got.V-want) > share*math.Abs(want) {
		t.Errorf("%s = %+v, want %g within %g %%", what, got, want, 100*share)
	}
}

// TestWallClockWouldInventAKnee shows that the test above can fail: over wall
// time the same runs look saturated at 32.
func TestWallClockWouldInventAKnee(t *testing.T) {
	v := server{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Tokens: 64}
	var ps []Point
	for _, n := range []int{16, 25, 40} {
		l := NewLevel(Run{Mode: Concurrency, Load: float64(n), Samples: closedLoop(v, n, 50, 0)})
		ps = append(ps, Point{Load: l.Load, Throughput: l.OutputThroughput})
	}
	got, _ := Judge(ps, Thresholds{})
	if want := []State{Baseline, NearSaturation, Saturated}; !slices.Equal(got, want) {
		t.Errorf("states over wall time %v, want %v", got, want)
	}
}

// TestIdealServerHasNoKneeOpen does the same for arrivals of every kind.
func TestIdealServerHasNoKneeOpen(t *testing.T) {
	v := server{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Tokens: 64}
	judged := 0
	for seed := range uint64(40) {
		for _, kind := range []Arrivals{{Kind: Poisson}, {Kind: Constant}, {Kind: Gamma, Burstiness: 0.5}} {
			r := Report{Mode: Rate}
			for _, rate := range []float64{0.25, 0.5, 1, 1.25, 2, 4, 8} {
				kind.Rate, kind.Requests, kind.Seed = rate, 50, seed
				times, err := kind.Times()
				if err != nil {
					t.Fatal(err)
				}
				r.Levels = append(r.Levels, NewLevel(Run{Mode: Rate, Load: rate, Samples: openLoop(v, times)}))
			}
			r.Assess(Settings{})
			for i, l := range r.Levels {
				short := l.SteadySeconds.V < 30
				switch {
				case l.TooShort != short || short != (l.State == NotJudged):
					t.Errorf("rate %g: window %.1f s, too short %v, state %s", l.Load, l.SteadySeconds.V, l.TooShort, l.State)
				case !short:
					judged++
					if l.State != Scaling && i > 0 {
						t.Errorf("seed %d %s: rate %g is %s", seed, kind.Kind, l.Load, l.State)
					}
				}
			}
			if r.Knee.Reached {
				t.Errorf("seed %d %s: knee %+v invented", seed, kind.Kind, r.Knee)
			}
		}
	}
	if judged < 400 {
		t.Errorf("only %d levels were long enough to be judged: the test says little", judged)
	}
}

// TestKneeOfASlottedServer: 4 slots give a knee at 4 in a closed loop, however
// the starts are spread, and the wall is a queue.
func TestKneeOfASlottedServer(t *testing.T) {
	v := server{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Tokens: 64, Slots: 4}
	for _, ramp := range []time.Duration{0, 300 * time.Millisecond, 730 * time.Millisecond} {
		r := closedReport(v, []int{1, 2, 4, 8, 16}, func(n int) int { return max(50, 4*n) }, ramp)
		if r.Knee != (Knee{Load: probe.Some(4.0), Reached: true}) {
			t.Errorf("ramp %v: knee %+v, states %v; want 4", ramp, r.Knee, states(r))
		}
		if r.Recommended == nil || r.Recommended.Load != 3 {
			t.Errorf("ramp %v: recommended %+v, want 3", ramp, r.Recommended)
		}
		if len(r.Limits) != 1 || r.Limits[0].Limit != Queue || r.Limits[0].FromLoad != probe.Some(8.0) {
			t.Errorf("ramp %v: walls %+v, want queue from 8", ramp, r.Limits)
		}
	}
}

// TestKneeOfARateLadder: 4 slots of 0.73 s serve 5.48 requests a second. Beyond
// that latency from the intended time grows with the backlog.
func TestKneeOfARateLadder(t *testing.T) {
	v := server{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Tokens: 64, Slots: 4}
	r := Report{Mode: Rate}
	for _, rate := range []float64{1, 2, 4, 8, 16} {
		times, _ := Arrivals{Rate: rate, Requests: int(60 * rate), Seed: 5}.Times()
		r.Levels = append(r.Levels, NewLevel(Run{Mode: Rate, Load: rate, Samples: openLoop(v, times)}))
	}
	r.Assess(Settings{})
	if r.Knee.Load != probe.Some(4.0) && r.Knee.Load != probe.Some(8.0) {
		t.Errorf("knee %+v, states %v; want 4 or 8", r.Knee, states(r))
	}
	near(t, "throughput past capacity", r.Levels[4].SteadyRequestThroughput, 4/0.73, 0.02)
	near(t, "offered", r.Levels[4].SteadyOfferedRate, 16, 0.15)
	near(t, "achieved", r.Levels[4].AchievedRate, 16, 1e-9)
	// 960 requests take 960·0.73/4 = 175 s: the last ones wait some 115 s.
	if p99 := r.Levels[4].Stats[TTFT].P99; p99 < 100_000 {
		t.Errorf("TTFT P99 at three times the capacity is %.0f ms; want over 100 s of backlog", p99)
	}
}
