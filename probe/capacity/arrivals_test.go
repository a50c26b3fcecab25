package capacity

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConstantArrivals(t *testing.T) {
	got, err := Arrivals{Kind: Constant, Rate: 2, Requests: 4}.Times()
	want := []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// TestArrivalsSpanAndSpread checks what the kinds promise: all end at exactly
// R/rate, and the gaps' coefficient of variation is 1 for Poisson and
// 1/√burstiness for gamma.
func TestArrivalsSpanAndSpread(t *testing.T) {
	for _, c := range []struct {
		give Arrivals
		cv   float64
	}{
		{Arrivals{Rate: 0.5, Requests: 20000, Seed: 1}, 1},
		{Arrivals{Kind: Gamma, Rate: 10, Requests: 20000, Burstiness: 4, Seed: 2}, 0.5},
		{Arrivals{Kind: Gamma, Rate: 10, Requests: 20000, Burstiness: 0.25, Seed: 3}, 2},
		{Arrivals{Kind: Gamma, Rate: 10, Requests: 20000, Seed: 4}, 1},
	} {
		times, err := c.give.Times()
		if err != nil {
			t.Fatal(err)
		}
		want := time.Duration(float64(c.give.Requests) / c.give.Rate * float64(time.Second))
		if last := times[len(times)-1]; last != want {
			t.Errorf("%+v: last at %v, want %v", c.give, last, want)
		}
		if !slices.IsSorted(times) {
			t.Errorf("%+v: not ascending", c.give)
		}
		gaps := []float64{times[0].Seconds()}
		for i := range times[1:] {
			gaps = append(gaps, (times[i+1] - times[i]).Seconds())
		}
		s := Summarize(gaps)
		if cv := s.Std / s.Mean; math.Abs(cv/c.cv-1) > 0.05 {
			t.Errorf("%+v: gaps vary by %.3f of their mean, want %g", c.give, cv, c.cv)
		}
		again, _ := c.give.Times()
		c.give.Seed++
		other, _ := c.give.Times()
		if !slices.Equal(times, again) || slices.Equal(times, other) {
			t.Errorf("%+v: the same seed must repeat, another must not", c.give)
		}
	}
}

func TestBadArrivals(t *testing.T) {
	for _, c := range []struct {
		give Arrivals
		want string
	}{
		{Arrivals{Requests: 1}, "rate 0"},
		{Arrivals{Rate: -1, Requests: 1}, "rate -1"},
		{Arrivals{Rate: math.NaN(), Requests: 1}, "rate NaN"},
		{Arrivals{Rate: math.Inf(1), Requests: 1}, "rate +Inf"},
		{Arrivals{Rate: 1}, "0 requests"},
		{Arrivals{Rate: 1e-12, Requests: 10}, "longer than a clock"},
		{Arrivals{Rate: 1, Requests: 1, Kind: "burst"}, "poisson, constant or gamma"},
		{Arrivals{Rate: 1, Requests: 1, Burstiness: -1}, "burstiness -1"},
	} {
		if times, err := c.give.Times(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, %v; want an error with %q", c.give, times, err, c.want)
		}
	}
}
