package exporter

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
)

func TestQuantile(t *testing.T) {
	tests := []struct {
		give []float64
		q    float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4}, 0.95, 3.8499999999999996}, // numpy.quantile says the same
		{[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{7}, 0.95, 7},
	}
	for _, tt := range tests {
		if got := quantile(tt.give, tt.q); got != tt.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", tt.give, tt.q, got, tt.want)
		}
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of nothing = %v, want NaN", got)
	}
}

func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w window
		ok := func(n int) probe.Result {
			return probe.Result{Outcome: probe.OK, TTFT: probe.Some(time.Duration(n) * time.Second)}
		}
		for n := range 130 { // one a minute; 120 fit, and 2 h reach back to number 9
			w.add(ok(n), time.Now())
			time.Sleep(time.Minute)
		}
		got := w.values(0, time.Now(), nil)
		if len(got) != 120 || got[0] != 10 || got[119] != 129 {
			t.Errorf("%d samples from %v to %v, want 120 from 10 to 129", len(got), got[0], got[len(got)-1])
		}
		if got := w.values(1, time.Now(), nil); len(got) != 0 {
			t.Errorf("%d samples of a latency that was never measured", len(got))
		}
		time.Sleep(time.Hour) // now it is 190 minutes: only what came at 70 and later is young enough
		got = w.values(0, time.Now(), nil)
		if len(got) != 60 || got[0] != 70 {
			t.Errorf("%d samples from %v, want 60 from 70", len(got), got[0])
		}
	})
}
