package capacity

import (
	"math"
	"slices"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

func TestStepsThatWereNotApplied(t *testing.T) {
	for _, c := range []struct {
		name             string
		offered, through float64 // at a load of 20, after 10 at 10
		want             State
	}{
		{"no more was sent", 10, 10, Scaling},
		{"less was sent", 9, 9.9, Scaling},
		{"a fifth more was sent and hardly more came out", 12, 10.4, NearSaturation},
		{"twice as much was sent and hardly more came out", 20, 10.4, Saturated},
	} {
		ps := points(10, 10, 20, c.through)
		ps[0].Offered, ps[1].Offered = probe.Some(10.0), probe.Some(c.offered)
		if got, _ := Judge(ps, Thresholds{}); got[1] != c.want {
			t.Errorf("%s: %s, want %s", c.name, got[1], c.want)
		}
	}
}

// TestWindowGrowsWithE2E: with answers of 10 s a window of 40 s is too short,
// one of 60 s is not.
func TestWindowGrowsWithE2E(t *testing.T) {
	v := server{TTFT: time.Second, TPOT: 100 * time.Millisecond, Tokens: 91}
	for _, c := range []struct {
		seconds int
		short   bool
	}{{51, true}, {71, false}} {
		times, err := Arrivals{Kind: Constant, Rate: 1, Requests: c.seconds}.Times()
		if err != nil {
			t.Fatal(err)
		}
		r := Report{Mode: Rate, Levels: []Level{NewLevel(Run{Mode: Rate, Load: 1, Samples: openLoop(v, times)})}}
		r.Assess(Settings{})
		if l := r.Levels[0]; l.TooShort != c.short {
			t.Errorf("window of %g s: too short %v, want %v", l.SteadySeconds.V, l.TooShort, c.short)
		}
	}
}

func TestCoalescedAnswersHaveNoGaps(t *testing.T) {
	v := server{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Tokens: 11}
	samples := closedLoop(v, 1, 4, 0)
	samples[0].Coalesced = true
	l := NewLevel(Run{Mode: Concurrency, Load: 1, Samples: samples})
	if l.Coalesced != 1 || l.Stats[TPOT].N != 3 || l.Stats[ITL].N != 30 || l.Stats[TTFT].N != 4 {
		t.Errorf("%d coalesced, %d TPOT, %d gaps, %d TTFT; want 1, 3, 30, 4", l.Coalesced, l.Stats[TPOT].N, l.Stats[ITL].N, l.Stats[TTFT].N)
	}
}

// TestLatencySLOAlone: without a promise on success a wrong answer has no
// verdict on latency but is still a miss as a whole.
func TestLatencySLOAlone(t *testing.T) {
	r := ten()
	r.SLO = &slo.SLO{Objectives: []slo.Objective{{SLI: slo.E2E, Below: time.Second, Ratio: 0.5},
		{SLI: slo.TPOT, Below: 20 * time.Millisecond, Ratio: 0.5}, {SLI: slo.FirstContent, Below: time.Second, Ratio: 0.5}}}
	l := NewLevel(r)
	near(t, "attainment", l.Attainment, 0.6, 1e-9)
	for i, want := range []float64{6.0 / 9, 8.0 / 9, 8.0 / 9} {
		near(t, string(l.Objectives[i].SLI), l.Objectives[i].Attained, want, 1e-9)
	}
	if !l.MeetsSLO() {
		t.Errorf("%+v: every promise holds", l.Objectives)
	}
}

func TestRecommendedUnderAnSLO(t *testing.T) {
	v := server{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Tokens: 64, Slots: 8}
	for _, c := range []struct {
		below time.Duration
		want  *Recommended
	}{
		{time.Second, &Recommended{Load: 6, Factor: 0.75, By: "knee"}},
		{10 * time.Millisecond, nil},
	} {
		promise := &slo.SLO{Objectives: []slo.Objective{{SLI: slo.TTFT, Below: c.below, Ratio: 0.95}}}
		r := Report{Mode: Concurrency}
		for _, n := range []int{1, 2, 4, 8, 16, 32} {
			r.Levels = append(r.Levels, NewLevel(Run{Mode: Concurrency, Load: float64(n), Samples: closedLoop(v, n, 6*n, 0), SLO: promise}))
		}
		r.Assess(Settings{})
		if (r.Recommended == nil) != (c.want == nil) || c.want != nil && *r.Recommended != *c.want {
			t.Errorf("TTFT below %v: recommended %+v, want %+v (knee %+v, most %+v)", c.below, r.Recommended, c.want, r.Knee, r.MostLoadUnderSLO)
		}
	}
	r := Report{Mode: Concurrency, Knee: Knee{Load: probe.Some(8.0), Reached: true}, MostLoadUnderSLO: probe.Some(4.0),
		Levels: []Level{{Objectives: []Objective{{}}}}}
	r.recommend(Thresholds{}.withDefaults())
	if want := (Recommended{Load: 4, Factor: 0.75, By: "slo"}); r.Recommended == nil || *r.Recommended != want {
		t.Errorf("the SLO holds up to 4 of a knee at 8: %+v, want %+v", r.Recommended, want)
	}
}

func TestBootstrap(t *testing.T) {
	rng := newRand(2)
	covered, trials := 0, 200
	for i := range trials { // the true median of the uniform numbers is 0.5
		v := make([]float64, 60)
		for j := range v {
			v[j] = rng.Float64()
		}
		iv, ok := BootstrapQuantile(v, 0.5, uint64(i))
		covered += toInt(ok && iv.Contains(0.5))
	}
	if share := float64(covered) / float64(trials); share < 0.9 || share > 0.99 {
		t.Errorf("a 95 %% interval covers the truth in %.3f of %d trials", share, trials)
	}
	v := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	a, _ := BootstrapRatio(v, v, 0.9, 1)
	b, _ := BootstrapRatio(v, v, 0.9, 1)
	if a != b || !a.Contains(1) || a.Low >= 1 || a.High <= 1 {
		t.Errorf("%+v and %+v: the same seed must give the same interval around 1", a, b)
	}
	if iv, ok := BootstrapQuantile([]float64{1}, 0.5, 1); ok {
		t.Errorf("one value gives %+v; want none", iv)
	}
	if !slices.Equal(v, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
		t.Errorf("the values were reordered: %v", v)
	}
}

func TestInFlightAtTheSameInstant(t *testing.T) {
	at := func(sec int, o probe.Outcome, length time.Duration) Sample {
		d := time.Duration(sec) * time.Second
		return Sample{Timing: Timing{Intended: d, Sent: d, Done: d + length}, T0: d, Outcome: o}
	}
	// At 5 s one accepted request ends and two start; the refused one of that
	// instant meets the latter only.
	low, most := flyingAtRefusal([]Sample{at(0, probe.OK, 5*time.Second), at(5, probe.OK, time.Second), at(5, probe.OK, time.Second), at(5, probe.RateLimited, 0)})
	if low != probe.Some(2.0) || most != probe.Some(2.0) {
		t.Errorf("in flight %+v to %+v, want 2", low, most)
	}
}

func TestMergedThrottle(t *testing.T) {
	a := &Throttle{Count: 2, Messages: []string{"x"}, LimitTokens: probe.Some(int64(9)), InFlightLow: probe.Some(3.0), InFlightMax: probe.Some(4.0)}
	b := &Throttle{Count: 3, Messages: []string{"x", "y"}, LimitTokens: probe.Some(int64(7)), InFlightLow: probe.Some(2.0), InFlightMax: probe.Some(3.0), RetryAfterS: probe.Some(1.0)}
	m := mergeThrottle(a, b)
	if m.Count != 5 || !slices.Equal(m.Messages, []string{"x", "y"}) || m.LimitTokens.V != 7 || m.InFlightLow.V != 2 || m.InFlightMax.V != 4 || m.RetryAfterS.V != 1 {
		t.Errorf("merged %+v", m)
	}
	if a.Count != 2 || len(a.Messages) != 1 || mergeThrottle(nil, a) != a || mergeThrottle(a, nil) != a {
		t.Errorf("the parts were changed: %+v", a)
	}
}

func TestNothingIsNotANumber(t *testing.T) {
	if v := known(math.NaN()); v.OK {
		t.Errorf("NaN is known: %+v", v)
	}
	if v := per(1, 0); v.OK {
		t.Errorf("1/0 is known: %+v", v)
	}
	r := Report{Mode: Rate}
	r.Assess(Settings{})
	if r.Knee.Reached || r.Recommended != nil || len(r.Limits) != 1 || r.Limits[0].Limit != None {
		t.Errorf("a report without levels: %+v", r)
	}
}
