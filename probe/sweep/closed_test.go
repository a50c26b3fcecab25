package sweep

import (
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
)

// TestSlotsAreAKnee: with 4 slots of 100 tokens a second each, the knee is 4
// and the wall is the queue.
func TestSlotsAreAKnee(t *testing.T) {
	r := sweepOf(t, sim.Config{Engine: slotted()}, plan(capacity.Concurrency, 1, 2, 4, 8, 16)).Report
	if r.Knee.Load != probe.Some(4.0) || !r.Knee.Reached {
		t.Errorf("knee %+v, want 4", r.Knee)
	}
	if got := walls(r); len(got) != 1 || got[capacity.Queue] != 8 {
		t.Errorf("limits %+v, want a queue from 8 on", r.Limits)
	}
	for i, want := range []float64{100, 200, 400, 400, 400} {
		l := r.Levels[i]
		near(t, "steady output", l.SteadyOutputThroughput, want, 0.03)
		if want := max(50, 4*int(l.Load)); l.Completed != want || l.Failed != 0 {
			t.Errorf("level %g: %d ok and %d failed, want %d and 0", l.Load, l.Completed, l.Failed, want)
		}
	}
}

// TestIdealServer: the times of every request are those of the engine, to the
// nanosecond, and no load is ever too much.
func TestIdealServer(t *testing.T) {
	r := sweepOf(t, fixed(), plan(capacity.Concurrency, 1, 4, 16, 32)).Report
	if r.Knee.Reached || r.Knee.AtLeast != probe.Some(32.0) {
		t.Errorf("knee %+v, want none up to 32", r.Knee)
	}
	if got := walls(r); len(got) != 1 || r.Limits[0].Limit != capacity.None {
		t.Errorf("limits %+v, want none", r.Limits)
	}
	// 200 ms and 31 × 20 ms make 820 ms an answer of 32 tokens.
	for _, l := range r.Levels {
		for _, x := range l.Samples {
			if x.TTFT != probe.Some(200*ms) || x.TPOT != probe.Some(20*ms) || x.E2E != probe.Some(820*ms) {
				t.Fatalf("level %g: TTFT %v, TPOT %v, E2E %v", l.Load, x.TTFT, x.TPOT, x.E2E)
			}
			if !x.Reused {
				t.Fatalf("level %g: a connection was opened on the clock", l.Load)
			}
		}
		near(t, "steady output", l.SteadyOutputThroughput, l.Load*32/0.82, 0.03)
	}
}

// TestStartsAreSpread: stream i of 8 starts i/8 of an answer after the first.
func TestStartsAreSpread(t *testing.T) {
	p := plan(capacity.Concurrency, 8)
	p.Requests = 16
	r := sweepOf(t, fixed(), p).Report
	for i, x := range r.Levels[0].Samples[:8] {
		if want := 820 * ms * time.Duration(i) / 8; x.Sent != want || x.Intended != want {
			t.Errorf("request %d was sent at %v (due %v), want %v", i, x.Sent, x.Intended, want)
		}
	}
}

// TestWarmUpIsNotCounted: the simulator has seen 8 more requests at each level
// than were counted (2 at the level of 2), and 4 connections at once at most
// where there are 4 streams.
func TestWarmUpIsNotCounted(t *testing.T) {
	simulate(t, fixed(), func(t *testing.T, w world) {
		p := plan(capacity.Concurrency, 2, 16)
		result, err := Run(t.Context(), p, Env{Endpoint: w.endpoint})
		if err != nil {
			t.Fatal(err)
		}
		counted := result.Report.Levels[0].Completed + result.Report.Levels[1].Completed
		calibration := result.Cost.Requests - counted - 10
		if counted != 50+64 || calibration < 1 || w.Stats().Requests != result.Cost.Requests {
			t.Errorf("%d counted, %d paid for, the simulator saw %d", counted, result.Cost.Requests, w.Stats().Requests)
		}
		if got := result.Cost.OutputTokens; got != int64(w.Stats().OutputTokens) {
			t.Errorf("%d output tokens paid for, the simulator billed %d", got, w.Stats().OutputTokens)
		}
		if w.Stats().MaxInFlight != 16 {
			t.Errorf("%d in flight at most, want 16", w.Stats().MaxInFlight)
		}
	})
}

// TestDuration: a level of 60 s hands out requests for 60 s and waits for the
// last: 4 streams of 820 ms each start their 74th at 59.86 s.
func TestDuration(t *testing.T) {
	p := plan(capacity.Concurrency, 4)
	p.Duration = time.Minute
	l := sweepOf(t, fixed(), p).Report.Levels[0]
	last := time.Duration(0)
	for _, x := range l.Samples {
		last = max(last, x.Sent)
	}
	if last >= time.Minute || last < time.Minute-820*ms/4 {
		t.Errorf("the last request was sent at %v", last)
	}
	near(t, "steady output", l.SteadyOutputThroughput, 4*32/0.82, 0.01)
}

// TestPromptsAreShared: every level asks the same of several prompts.
func TestPromptsAreShared(t *testing.T) {
	p := plan(capacity.Concurrency, 1, 2)
	p.Requests = 6
	p.Prompts = []probe.Prompt{prompt(8), prompt(16), prompt(32)}
	r := sweepOf(t, fixed(), p).Report
	for _, l := range r.Levels {
		if l.TotalOutputTokens != probe.Some(int64(2*(8+16+32))) {
			t.Errorf("level %g: %v output tokens, want each prompt twice", l.Load, l.TotalOutputTokens)
		}
	}
	if r.Conditions.MaxTokens != 0 {
		t.Errorf("one length of %d is claimed for three", r.Conditions.MaxTokens)
	}
}

// TestDecodeWall: where a step takes longer the more sequences are in it,
// tokens come slower and the wall is decode.
func TestDecodeWall(t *testing.T) {
	engine := sim.Engine{Slots: 256, PrefillRate: 1e12, Decode: 10 * ms, DecodeSlope: 10 * ms}
	r := sweepOf(t, sim.Config{Engine: engine}, plan(capacity.Concurrency, 1, 4, 16, 64)).Report
	if !r.Knee.Reached || walls(r)[capacity.Decode] == 0 {
		t.Errorf("knee %+v, limits %+v, want decode", r.Knee, r.Limits)
	}
}
