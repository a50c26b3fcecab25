package capacity

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
)

// TestThresholdNames: every field of Thresholds has a name, and the default of
// each, set by name, is the default.
func TestThresholdNames(t *testing.T) {
	names := ThresholdNames()
	if n := reflect.TypeFor[Thresholds]().NumField(); len(names) != n {
		t.Errorf("%d names for %d fields", len(names), n)
	}
	var th Thresholds
	for _, s := range new(Thresholds).settings() {
		if s.is() {
			t.Errorf("%s: set in a zero value", s.name)
		}
		if err := th.Set(s.name, s.get()); err != nil {
			t.Errorf("%s: its default %q is refused: %v", s.name, s.get(), err)
		}
	}
	if want := (Thresholds{}).withDefaults(); th != want {
		t.Errorf("defaults by name %+v, want %+v", th, want)
	}
	if got := (Thresholds{}).Changed(); got != nil {
		t.Errorf("changed in a zero value: %v", got)
	}
}

func TestThresholdSet(t *testing.T) {
	for _, c := range []struct{ name, value, err string }{
		{"saturated_gain", "3%", ""},
		{"saturated_gain", "0.03", ""},
		{"saturated_gain", "3", `"3" is not a share from 0% to 100%, such as 5%`},
		{"saturated_gain", "-1%", `"-1%" is not a share from 0% to 100%, such as 5%`},
		{"saturated_gain", "NaN", `"NaN" is not a share from 0% to 100%, such as 5%`},
		{"decline", "2%", `"2%" is not a share from -100% to 0%, such as -2%`},
		{"safety_factor", "0", `"0" is not a share from 1% to 100%, such as 75%`},
		{"min_step", "0.9", `"0.9" is not a factor of at least 1, such as 1.25`},
		{"min_step", "+Inf", `"+Inf" is not a factor of at least 1, such as 1.25`},
		{"quota_time", "60", `"60" is not a duration such as 1m0s`},
		{"lag_floor", "-1ms", `"-1ms" is not a duration such as 2ms`},
		{"failure_count", "0", `"0" is not a whole number of at least 1, such as 2`},
		{"tail", "p75", `"p75" is not one of p50, p90, p95 and p99`},
		{"gain", "5%", `no threshold is called "gain"; there are failure_ratio, failure_count, decline, `},
	} {
		var th Thresholds
		err := th.Set(c.name, c.value)
		if c.err == "" && (err != nil || th.SaturatedGain != 0.03) {
			t.Errorf("%s=%s: %v, %+v", c.name, c.value, err, th)
		}
		if c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err) || th != (Thresholds{})) {
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.err)
		}
	}
	var th Thresholds
	for _, s := range []string{"quota_time=90s", "decline=0", "tail=p99", "saturated_gain=0%", "lag_floor=0s", "min_step=1.5"} {
		name, value, _ := strings.Cut(s, "=")
		if err := th.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"decline=0%", "tail=p99", "saturated_gain=0%", "min_step=1.5", "lag_floor=0s", "quota_time=1m30s"}
	if got := th.Changed(); !slices.Equal(got, want) {
		t.Errorf("changed %v, want %v", got, want)
	}
	if d := th.withDefaults(); d.Decline >= 0 || d.Decline < -1e-9 || d.SaturatedGain <= 0 || d.SaturatedGain > 1e-9 || d.LagFloor > time.Microsecond || d.QuotaTime != 90*time.Second {
		t.Errorf("a threshold of zero became %+v", d)
	}
}

// TestThresholdsDecide: each of the thresholds of the judgement, set by name,
// turns a ladder that it is about.
func TestThresholdsDecide(t *testing.T) {
	point := func(load, tput, tail float64) Point {
		return Point{Load: load, Throughput: probe.Some(tput), Tail: probe.Some(tail)}
	}
	for _, c := range []struct {
		set    string
		points []Point
		at     int
		before State
		after  State
	}{
		{"decline=-10%", []Point{point(1, 100, 1), point(2, 95, 1)}, 1, Overloaded, Saturated},
		{"saturated_gain=3%", []Point{point(1, 100, 1), point(1.25, 104, 1)}, 1, Saturated, NearSaturation},
		{"saturated_efficiency=30%", []Point{point(1, 100, 1), point(2, 120, 1)}, 1, NearSaturation, Saturated},
		{"near_efficiency=50%", []Point{point(1, 100, 1), point(2, 170, 1)}, 1, NearSaturation, Scaling},
		{"min_step=1.5", []Point{point(1, 100, 1), point(1.25, 104, 1)}, 1, Saturated, NearSaturation},
		{"tail_growth=4", []Point{point(1, 100, 1), point(2, 101, 1), point(4, 102, 3)}, 2, Overloaded, Saturated},
	} {
		var th Thresholds
		name, value, _ := strings.Cut(c.set, "=")
		if err := th.Set(name, value); err != nil {
			t.Fatal(err)
		}
		before, _ := Judge(c.points, Thresholds{})
		after, _ := Judge(c.points, th)
		if before[c.at] != c.before || after[c.at] != c.after {
			t.Errorf("%s: %s became %s, want %s and %s", c.set, before[c.at], after[c.at], c.before, c.after)
		}
	}
}
