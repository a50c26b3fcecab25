package capacity

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tokprobe/probe"
)

// Gate is one condition under which a comparison fails: "ttft_p90>+10%".
type Gate struct {
	Text string
	// Metric is a latency with its statistic (ttft_p90), output_tps,
	// request_tps, error_ratio, attainment or knee.
	Metric string
	// AtLoad narrows the gate to one level: "ttft_p99@8>500ms".
	AtLoad probe.Opt[float64]
	Above  bool // > or <
	// Relative bounds are shares of change (+10% is 0.1), absolute ones are
	// in the unit of the metric: ms, per second, a share, a load.
	Relative bool
	Bound    float64
}

var gateSyntax = regexp.MustCompile(`^([a-z0-9_]+)(?:@([0-9.]+))?([<>])([+-]?)([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(%|us|µs|ms|s)?$`)

// ParseGate reads an expression of --fail-on: a metric, perhaps @ and a load,
// > or <, and a bound. A bound with a sign and % is a change against the
// baseline (+10%, -5%); without a sign it is absolute, with us, ms or s for
// latencies and % allowed for shares.
//
// "ttft_p90>+10%" fails if the P90 of TTFT grew by more than a tenth at some
// level, "output_tps<-5%" if throughput fell by more than a twentieth,
// "ttft_p99@8>500ms" if it is over half a second at 8 streams.
func ParseGate(text string) (Gate, error) {
	m := gateSyntax.FindStringSubmatch(strings.ReplaceAll(text, " ", ""))
	if m == nil {
		return Gate{}, fmt.Errorf("%q is no condition: write a metric, > or <, and a bound, such as ttft_p90>+10%% or ttft_p99>500ms", text)
	}
	g := Gate{Text: text, Metric: m[1], Above: m[3] == ">"}
	if _, err := lookUp(g.Metric); err != nil {
		return Gate{}, fmt.Errorf("%q: %w", text, err)
	}
	if m[2] != "" {
		load, err := strconv.ParseFloat(m[2], 64)
		if err != nil || load <= 0 || g.Metric == "knee" {
			return Gate{}, fmt.Errorf("%q: %q is no load of a level", text, "@"+m[2])
		}
		g.AtLoad = probe.Some(load)
	}
	return g.bound(m[4], m[5], m[6])
}

// bound reads sign, number and unit.
func (g Gate) bound(sign, number, unit string) (Gate, error) {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !finite(v) {
		return Gate{}, fmt.Errorf("%q: %q is no number", g.Text, number)
	}
	_, _, latency := statOf(g.Metric)
	share := g.Metric == "error_ratio" || g.Metric == "attainment"
	switch {
	case sign != "" && unit != "%":
		return Gate{}, fmt.Errorf("%q: a change is written in %%, such as +10%%; leave out the sign for an absolute bound", g.Text)
	case sign != "":
		g.Relative, g.Bound = true, v/100
		if sign == "-" {
			g.Bound = -g.Bound
		}
	case unit == "%" && !share:
		return Gate{}, fmt.Errorf("%q: a change needs its sign, +%s%% or -%s%%", g.Text, number, number)
	case unit == "%":
		g.Bound = v / 100
	case latency != (unit != ""):
		return Gate{}, fmt.Errorf("%q: give a latency a unit (us, ms or s) and nothing else one", g.Text)
	case latency:
		d, err := time.ParseDuration(number + unit)
		if err != nil {
			return Gate{}, fmt.Errorf("%q: %w", g.Text, err)
		}
		g.Bound = millis(d)
	default:
		g.Bound = v
	}
	return g, nil
}

// statOf splits ttft_p90 into its metric and statistic; ok is false for what
// is no latency.
func statOf(name string) (m Metric, stat string, ok bool) {
	base, stat, cut := cutLast(name, "_")
	if !cut {
		return "", "", false
	}
	if base == "e2e" {
		base = string(E2E)
	}
	if base == "chunk_gap" {
		base = string(ITL)
	}
	switch m = Metric(base); m {
	case TTFT, TPOT, ITL, E2E, FirstContent, SendDelay:
	default:
		return "", "", false
	}
	return m, stat, quantileStat(stat)
}

func quantileStat(stat string) bool {
	switch stat {
	case "mean", "median", "p50", "p90", "p95", "p99":
		return true
	}
	return false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// trips says whether a row breaks the gate. A change within noise never does.
func (g Gate) trips(row Row) bool {
	v := row.New
	if g.Relative {
		if row.Noise == WithinNoise {
			return false
		}
		v = row.Change
		if row.Base.OK && row.Base.V == 0 && row.New.OK && row.New.V > 0 {
			v = probe.Some(math.Inf(1)) // from nothing to something
		}
	}
	if !v.OK {
		return false
	}
	if g.Above {
		return v.V > g.Bound
	}
	return v.V < g.Bound
}

// judges says whether the gate is about that row.
func (g Gate) judges(row Row) bool {
	return g.Metric == row.Metric && (!g.AtLoad.OK || row.Load.OK && row.Load.V == g.AtLoad.V)
}
