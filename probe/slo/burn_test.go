package slo

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPairs(t *testing.T) {
	tests := []struct {
		objective float64
		every     time.Duration
		usable    string
		left      string
	}{
		{0.995, 30 * time.Second, "1h/5m ×14.4, 6h/30m ×6, 1d/2h ×3, 3d/6h ×1", ""},
		{0.999, time.Minute, "1h/6m ×14.4, 6h/30m ×6, 1d/2h ×3, 3d/6h ×1", ""},
		{0.95, 5 * time.Minute, "1h/30m ×14.4, 6h/30m ×6, 1d/2h ×3, 3d/6h ×1", ""},
		{0.95, 10 * time.Minute, "6h/1h ×6, 1d/2h ×3, 3d/6h ×1",
			"1h/1h ×14.4: 1h holds 6 probes, 12 are needed; probe every 5m0s or more often"},
		{0.90, time.Minute, "6h/30m ×6, 1d/2h ×3, 3d/6h ×1",
			"1h/6m ×14.4: 14.4 times the 10% that may fail is over 100%; the objective must exceed 93.06%"},
		{0.60, time.Minute, "3d/6h ×1",
			"1h/6m ×14.4: 14.4 times the 40% that may fail is over 100%; the objective must exceed 93.06%, " +
				"6h/30m ×6: 6 times the 40% that may fail is over 100%; the objective must exceed 83.33%, " +
				"1d/2h ×3: 3 times the 40% that may fail is over 100%; the objective must exceed 66.67%"},
	}
	for _, tt := range tests {
		usable, left := Pairs(tt.objective, tt.every)
		var u, l []string
		for _, p := range usable {
			u = append(u, p.String())
		}
		for _, p := range left {
			l = append(l, p.Pair.String()+": "+p.Reason)
		}
		if got := strings.Join(u, ", "); got != tt.usable {
			t.Errorf("%v every %v: usable %q, want %q", tt.objective, tt.every, got, tt.usable)
		}
		if got := strings.Join(l, ", "); got != tt.left {
			t.Errorf("%v every %v: left out %q, want %q", tt.objective, tt.every, got, tt.left)
		}
	}
	for _, bad := range []float64{0, 1, -1, 2} {
		if usable, left := Pairs(bad, time.Minute); len(usable) != 0 || len(left) != 4 {
			t.Errorf("objective %v: %d usable, %d left out", bad, len(usable), len(left))
		}
	}
}

func TestDetect(t *testing.T) {
	tests := []struct {
		objective float64
		every     time.Duration
		want      []string
	}{
		{0.995, 30 * time.Second, []string{
			"1h/5m ×14.4 page: 120 samples, over 7.2%, 9 bad, 4m30s",
			"6h/30m ×6 page: 720 samples, over 3%, 22 bad, 11m0s",
			"1d/2h ×3 ticket: 2880 samples, over 1.5%, 44 bad, 22m0s",
			"3d/6h ×1 ticket: 8640 samples, over 0.5%, 44 bad, 22m0s",
		}},
		// 14.4 × 0.1 % of 120 is 1.7, but one page needs 3 bad ones.
		{0.999, 30 * time.Second, []string{
			"1h/5m ×14.4 page: 120 samples, over 1.44%, 3 bad, 1m30s",
			"6h/30m ×6 page: 720 samples, over 0.6%, 5 bad, 2m30s",
			"1d/2h ×3 ticket: 2880 samples, over 0.3%, 9 bad, 4m30s",
			"3d/6h ×1 ticket: 8640 samples, over 0.1%, 9 bad, 4m30s",
		}},
	}
	for _, tt := range tests {
		var got []string
		for _, d := range Detect(tt.objective, tt.every) {
			got = append(got, fmt.Sprintf("%s %s: %d samples, over %.4g%%, %d bad, %s", d.Pair, d.Severity, d.Samples, 100*d.Ratio, d.MinBad, d.Outage))
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%v every %v:\n%s\nwant\n%s", tt.objective, tt.every, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}
