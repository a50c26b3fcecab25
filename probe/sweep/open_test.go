package sweep

import (
	"slices"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
)

// TestIdealServerOpen: every request is sent at the very moment it was due,
// and no rate is ever too much.
func TestIdealServerOpen(t *testing.T) {
	for _, arrival := range []capacity.Arrival{capacity.Poisson, capacity.Constant, capacity.Gamma} {
		p := plan(capacity.Rate, 0.5, 5, 20)
		p.Arrival = arrival
		r := sweepOf(t, fixed(), p).Report
		if r.Knee.Reached || r.Knee.AtLeast != probe.Some(20.0) {
			t.Errorf("%s: knee %+v, want none up to 20", arrival, r.Knee)
		}
		for i, want := range []int{50, 225, 900} { // 45 s of arrivals, at least 50
			l := r.Levels[i]
			if l.Completed != want || l.TooShort {
				t.Errorf("%s at %g: %d requests, want %d (%v)", arrival, l.Load, l.Completed, want, l.Warnings)
			}
			near(t, "achieved rate", l.AchievedRate, l.Load, 0.001)
			last := time.Duration(0)
			for _, x := range l.Samples {
				if x.Sent != x.Intended {
					t.Fatalf("%s: sent at %v, due at %v", arrival, x.Sent, x.Intended)
				}
				last = max(last, x.Intended)
			}
			if span := time.Duration(float64(want) / l.Load * float64(time.Second)); last != span {
				t.Errorf("%s at %g: the last is due at %v, want %v", arrival, l.Load, last, span)
			}
		}
	}
}

// TestBacklogShows: 4 slots of 100 tokens a second are 12.5 requests a second
// of 32 tokens. At 25 every second request adds to the queue: those that were
// due in the last tenth of 60 s wait some 27 s, and the latency says so.
func TestBacklogShows(t *testing.T) {
	p := plan(capacity.Rate, 6, 12, 25)
	p.Duration, p.Arrival = time.Minute, capacity.Constant
	r := sweepOf(t, sim.Config{Engine: slotted()}, p).Report
	if r.Knee.Load != probe.Some(12.0) || walls(r)[capacity.Queue] != 25 {
		t.Errorf("knee %+v, limits %+v, want 12 and a queue from 25", r.Knee, r.Limits)
	}
	l := r.Levels[2]
	if l.Completed != 1500 {
		t.Fatalf("%d requests answered, want all 1500", l.Completed)
	}
	samples := slices.Clone(l.Samples)
	slices.SortFunc(samples, func(a, b capacity.Sample) int { return int(a.Intended - b.Intended) })
	var before time.Duration
	for i := 149; i < len(samples); i += 150 {
		x := samples[i]
		got := x.Latency(capacity.Rate, x.TTFT).V
		// Request i is due at i/25 s and is taken at i/12.5 s.
		want := time.Duration(i+1) * time.Second / 25
		if got <= before || got < want-time.Second || got > want+time.Second {
			t.Errorf("request %d: TTFT %v after %v before, want about %v", i, got, before, want)
		}
		before = got
	}
	near(t, "steady requests", l.SteadyRequestThroughput, 12.5, 0.02)
}

// TestOwnCap: a rate that piles up more than we allow ourselves ends the level,
// and the wall is ours.
func TestOwnCap(t *testing.T) {
	p := plan(capacity.Rate, 5, 50)
	p.Duration, p.MaxInFlight = time.Minute, 100
	r := sweepOf(t, sim.Config{Engine: slotted()}, p).Report
	l := r.Levels[1]
	if !l.InFlightCapped || walls(r)[capacity.Client] != 50 {
		t.Errorf("capped %v, limits %+v, want client from 50 on", l.InFlightCapped, r.Limits)
	}
	if n := l.Completed; n < 100 || n > 300 {
		t.Errorf("%d requests, want the cap of 100 and what was answered until then", n)
	}
	if r.Levels[0].InFlightCapped {
		t.Error("the lower level was not capped")
	}
}

// TestSameSeedSameArrivals.
func TestSameSeedSameArrivals(t *testing.T) {
	times := func(seed uint64) []time.Duration {
		p := plan(capacity.Rate, 10)
		p.Seed, p.Requests = seed, 20
		var list []time.Duration
		for _, x := range sweepOf(t, fixed(), p).Report.Levels[0].Samples {
			list = append(list, x.Intended)
		}
		return list
	}
	if a, b := times(7), times(7); !slices.Equal(a, b) {
		t.Errorf("two runs of one seed differ: %v and %v", a, b)
	}
	if a, b := times(7), times(8); slices.Equal(a, b) {
		t.Error("two seeds have the same arrivals")
	}
}

// TestLatenessOfOurOwn: a request that was due at 0.5 s and could be sent at
// 2 s has waited 1.5 s before its TTFT of 200 ms. In a closed loop it is due
// when it is handed out.
func TestLatenessOfOurOwn(t *testing.T) {
	simulate(t, fixed(), func(t *testing.T, w world) {
		s := newSweep(plan(capacity.Rate, 1), Env{Endpoint: w.endpoint})
		l := &level{s: s, at: step{load: 1}, ctx: t.Context(), start: time.Now().Add(-2 * time.Second)}
		x := l.send(0, 500*ms)
		if x.Intended != 500*ms || x.Sent != 2*time.Second || x.Latency(capacity.Rate, x.TTFT) != probe.Some(1700*ms) || x.SendDelay() != 1500*ms {
			t.Errorf("due at %v, sent at %v, TTFT %v", x.Intended, x.Sent, x.Latency(capacity.Rate, x.TTFT))
		}
		if x = l.send(0, -1); x.Intended != x.Sent || x.Latency(capacity.Concurrency, x.TTFT) != probe.Some(200*ms) {
			t.Errorf("closed loop: due at %v, sent at %v", x.Intended, x.Sent)
		}
	})
}
