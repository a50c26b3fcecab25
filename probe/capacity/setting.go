package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is a threshold as people write it: `thresholds:` of a scheduled
// sweep and `--threshold NAME=VALUE` by hand both read this table.
type setting struct {
	name string
	want string // what its value looks like
	set  func(string) error
	get  func() string // as set reads it; the default where nothing was set
	is   func() bool   // something was set
}

// zero stands for a threshold of 0 that was asked for, since 0 itself means the
// default. No measured share is as near to 0.
const zero = 1e-12

var errRange = errors.New("out of range")

// settings is the table over the fields of t.
func (t *Thresholds) settings() []setting {
	def := Thresholds{}.withDefaults()
	share := func(name string, v *float64, def, low, high float64) setting {
		return setting{name, fmt.Sprintf("a share from %s to %s, such as %s", percentText(low), percentText(high), percentText(def)),
			func(s string) error { return readShare(s, v, low, high) },
			func() string { return percentText(cmp.Or(*v, def)) },
			func() bool { return *v != 0 }}
	}
	factor := func(name string, v *float64, def, low float64) setting {
		return setting{name, fmt.Sprintf("a factor of at least %g, such as %g", low, def),
			func(s string) error {
				f, err := strconv.ParseFloat(s, 64)
				if err != nil || !finite(f) || f < low {
					return errRange
				}
				*v = f
				return nil
			},
			func() string { return strconv.FormatFloat(cmp.Or(*v, def), 'g', -1, 64) },
			func() bool { return *v != 0 }}
	}
	length := func(name string, v *time.Duration, def time.Duration) setting {
		return setting{name, "a duration such as " + def.String(),
			func(s string) error {
				d, err := time.ParseDuration(s)
				if err != nil || d < 0 {
					return errRange
				}
				*v = max(d, 1)
				return nil
			},
			func() string { return cmp.Or(*v, def).Truncate(time.Microsecond).String() },
			func() bool { return *v != 0 }}
	}
	return []setting{
		share("failure_ratio", &t.FailureRatio, def.FailureRatio, 0, 1),
		{"failure_count", "a whole number of at least 1, such as 2",
			func(s string) error {
				n, err := strconv.Atoi(s)
				if err != nil || n < 1 {
					return errRange
				}
				t.FailureCount = n
				return nil
			},
			func() string { return strconv.Itoa(cmp.Or(t.FailureCount, def.FailureCount)) },
			func() bool { return t.FailureCount != 0 }},
		share("decline", &t.Decline, def.Decline, -1, 0),
		factor("tail_growth", &t.TailGrowth, def.TailGrowth, 1),
		{"tail", "one of p50, p90, p95 and p99",
			func(s string) error {
				if !slices.Contains([]string{"p50", "p90", "p95", "p99"}, s) {
					return errRange
				}
				t.TailQuantile = s
				return nil
			},
			func() string { return cmp.Or(t.TailQuantile, def.TailQuantile) },
			func() bool { return t.TailQuantile != "" }},
		share("saturated_efficiency", &t.SaturatedEfficiency, def.SaturatedEfficiency, 0, 1),
		share("saturated_gain", &t.SaturatedGain, def.SaturatedGain, 0, 1),
		factor("min_step", &t.MinStep, def.MinStep, 1),
		share("near_efficiency", &t.NearEfficiency, def.NearEfficiency, 0, 1),
		share("confirm", &t.Confirm, def.Confirm, 0, 1),
		share("safety_factor", &t.SafetyFactor, def.SafetyFactor, 0.01, 1),
		length("min_window", &t.MinWindow, def.MinWindow),
		factor("min_window_e2e", &t.MinWindowE2E, def.MinWindowE2E, 1),
		share("lag_share", &t.LagShare, def.LagShare, 0, 1),
		length("lag_floor", &t.LagFloor, def.LagFloor),
		share("early_answers", &t.EarlyAnswers, def.EarlyAnswers, 0, 1),
		length("quota_time", &t.QuotaTime, def.QuotaTime),
		share("plateau", &t.Plateau, def.Plateau, 0, 1),
		factor("queue_ttft", &t.QueueTTFT, def.QueueTTFT, 1),
		factor("decode_tpot", &t.DecodeTPOT, def.DecodeTPOT, 1),
	}
}

// ThresholdNames lists what Set knows.
func ThresholdNames() []string {
	var names []string
	for _, s := range new(Thresholds).settings() {
		names = append(names, s.name)
	}
	return names
}

// Set gives one threshold a value, as in Set("saturated_gain", "3%"). The error
// says what is possible.
func (t *Thresholds) Set(name, value string) error {
	all := t.settings()
	i := slices.IndexFunc(all, func(s setting) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("no threshold is called %q; there are %s", name, strings.Join(ThresholdNames(), ", "))
	}
	if err := all[i].set(strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%q is not %s", value, all[i].want)
	}
	return nil
}

// Get returns the threshold of that name as Set reads it, "" if there is none.
func (t Thresholds) Get(name string) string {
	for _, s := range t.settings() {
		if s.name == name {
			return s.get()
		}
	}
	return ""
}

// Changed lists what was set, as name=value, in the order of ThresholdNames.
func (t Thresholds) Changed() []string {
	var list []string
	for _, s := range t.settings() {
		if s.is() {
			list = append(list, s.name+"="+s.get())
		}
	}
	return list
}

// readShare reads 5%, 0.05 or -2%. A bare number over 1 is refused: nobody can
// tell whether 5 is 5 % or 500 %.
func readShare(s string, v *float64, low, high float64) error {
	number, percent := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || !finite(f) || f < low || f > high {
		return errRange
	}
	if *v = f; f == 0 {
		*v = math.Copysign(zero, low+high)
	}
	return nil
}

func percentText(v float64) string {
	if math.Abs(v) <= zero {
		return "0%"
	}
	return strconv.FormatFloat(100*v, 'g', 6, 64) + "%"
}
