package sweep

import (
	"math"
	"testing"

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
	if len(r.Limits) != 1 || r.Limits[0].Limit != capacity.Queue || r.Limits[0].FromLoad != probe.Some(8.0) {
		t.Errorf("limits %+v, want a queue from 8 on", r.Limits)
	}
	for i, want := range []float64{100, 200, 400, 400, 400} {
		l := r.Levels[i]
		if got := l.SteadyOutputThroughput; !got.OK || math.Abs(got.V/want-1) > 0.03 {
			t.Errorf("level %g: steady output %v tokens/s, want %g (%d requests, %v)", l.Load, got.V, want, l.Completed, l.Warnings)
		}
		if want := max(50, 4*int(l.Load)); l.Completed != want || l.Failed != 0 {
			t.Errorf("level %g: %d ok and %d failed, want %d and 0", l.Load, l.Completed, l.Failed, want)
		}
	}
}
