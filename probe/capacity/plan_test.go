package capacity

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tokprobe/probe"
)

func TestPlan(t *testing.T) {
	rate := vectors(t)[2].report()
	rate.Assess(Settings{})
	closed := vectors(t)[1].report()
	closed.Levels[4].SteadyRequestThroughput = probe.Some(2.0)
	closed.Assess(Settings{})
	p99 := &Limit{Metric: TTFT, Stat: "p99", Most: 700}
	for _, c := range []struct {
		name        string
		give        Demand
		per         float64
		n, headroom int
	}{
		{"the figure", Demand{PeakRPS: 1000, PerInstanceRPS: 60, Headroom: 0.15}, 60, 17, 20},
		{"no dust", Demand{PeakRPS: 1200, PerInstanceRPS: 60, Headroom: 0.15}, 60, 20, 23},
		{"no dust either", Demand{PeakRPS: 1000, PerInstanceRPS: 10, Headroom: 0.1}, 10, 100, 110},
		{"no headroom", Demand{PeakRPS: 1000, PerInstanceRPS: 60}, 60, 17, 17},
		{"under one", Demand{PeakRPS: 0.1, PerInstanceRPS: 60}, 60, 1, 1},
		{"limit", Demand{PeakRPS: 1000, Report: &rate, Limit: p99, Headroom: 0.15}, 60, 17, 20},
		{"knee", Demand{PeakRPS: 1000, Report: &rate}, 80, 13, 13},
		{"limit beyond the knee", Demand{PeakRPS: 1000, Report: &rate, Limit: &Limit{Metric: TTFT, Stat: "p99", Most: 1e9}}, 80, 13, 13},
		{"two instances", Demand{PeakRPS: 1000, Report: &rate, Instances: 2}, 40, 25, 25},
		{"streams", Demand{PeakRPS: 9, Report: &closed}, 2, 5, 5},
	} {
		got, err := NewPlan(c.give)
		if err != nil || got.PerInstanceRPS != c.per || got.Instances != c.n || got.WithHeadroom != c.headroom {
			t.Errorf("%s: %+v, %v; want %g each, %d and %d", c.name, got, err, c.per, c.n, c.headroom)
		}
	}
	for _, c := range []struct {
		give Demand
		want string
	}{
		{Demand{PerInstanceRPS: 1}, "peak of 0"},
		{Demand{PeakRPS: math.NaN(), PerInstanceRPS: 1}, "peak of NaN"},
		{Demand{PeakRPS: 1, PerInstanceRPS: -1}, "-1 requests"},
		{Demand{PeakRPS: 1, PerInstanceRPS: 1, Headroom: -1}, "headroom -1"},
		{Demand{PeakRPS: 1}, "neither a report nor a figure"},
		{Demand{PeakRPS: 1, Report: &rate, Limit: &Limit{Metric: TTFT, Stat: "p99", Most: 1}}, "no level of the report has ttft p99"},
		{Demand{PeakRPS: 1, Report: &Report{Mode: Rate}}, "neither a knee"},
		{Demand{PeakRPS: 1e300, PerInstanceRPS: 1e-9}, "than can be counted"},
	} {
		if got, err := NewPlan(c.give); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %+v, %v; want an error with %q", c.give, got, err, c.want)
		}
	}
}

func ExampleNewPlan() {
	p, _ := NewPlan(Demand{PeakRPS: 1000, PerInstanceRPS: 60, Headroom: 0.15})
	fmt.Println(p.Instances, p.WithHeadroom)
	// Output: 17 20
}
