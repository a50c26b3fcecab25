package probe

import (
	"testing"
	"time"
)

func TestDefaultLimits(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	full := Limits{5 * s, 10 * s, 8 * s, 24 * s}
	tests := []struct {
		every time.Duration
		want  Limits
	}{
		{0, full},
		{30 * s, full},
		{time.Hour, full},
		{15 * s, Limits{2500 * ms, 5 * s, 4 * s, 12 * s}},
		{3 * s, Limits{500 * ms, s, 800 * ms, 2400 * ms}},
	}
	for _, tt := range tests {
		if got := DefaultLimits(tt.every); got != tt.want {
			t.Errorf("every %v: %+v, want %+v", tt.every, got, tt.want)
		}
	}
	if got, want := HandLimits(), (Limits{5 * s, 30 * s, 30 * s, 120 * s}); got != want {
		t.Errorf("by hand: %+v, want %+v", got, want)
	}
	if got, want := SweepLimits(), (Limits{Connect: 5 * s, FirstToken: 60 * s, Stall: 30 * s}); got != want {
		t.Errorf("in sweeps: %+v, want %+v", got, want)
	}
}
