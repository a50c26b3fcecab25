package capacity

import (
	"fmt"
	"math"
	"strings"

	"tokprobe/probe"
)

// compareSeed makes the intervals of a comparison repeatable.
const compareSeed = 1

// compared is how one named number of a level is read and its noise judged.
type compared struct {
	value func(Level) probe.Opt[float64]
	// groups are the values behind it, one group a request, and stat what
	// the number is of them; nil where a level does not tell its noise.
	groups func(Level) [][]float64
	stat   statistic
	// share: the number is a share, compared by difference, since 0 errors
	// are no base for a ratio.
	share bool
}

// lookUp finds a metric by the name that tables and gates use.
func lookUp(name string) (compared, error) {
	if m, stat, ok := statOf(name); ok {
		return compared{
			value:  func(l Level) probe.Opt[float64] { return l.Stats[m].At(stat) },
			groups: func(l Level) [][]float64 { return valuesOf(m, l) },
			stat:   statisticOf(stat),
		}, nil
	}
	switch name {
	case "output_tps":
		return compared{value: orWall(func(l Level) (a, b probe.Opt[float64]) { return l.SteadyOutputThroughput, l.OutputThroughput }),
			groups: func(l Level) [][]float64 { return workOf(l, true) }, stat: workRate}, nil
	case "request_tps":
		return compared{value: orWall(func(l Level) (a, b probe.Opt[float64]) { return l.SteadyRequestThroughput, l.RequestThroughput }),
			groups: func(l Level) [][]float64 { return workOf(l, false) }, stat: workRate}, nil
	case "error_ratio":
		return compared{value: func(l Level) probe.Opt[float64] { return l.ErrorRatio }, share: true}, nil
	case "attainment":
		return compared{value: func(l Level) probe.Opt[float64] { return l.Attainment }, share: true}, nil
	case "knee":
		return compared{value: func(Level) probe.Opt[float64] { return probe.Opt[float64]{} }}, nil
	}
	return compared{}, fmt.Errorf("no metric %q: there are %s with _mean, _p50, _p90, _p95 or _p99, and output_tps, request_tps, error_ratio, attainment, knee",
		name, strings.Join([]string{"ttft", "tpot", "e2e", "itl", "first_content", "send_delay"}, ", "))
}

// orWall prefers the steady figure, and takes that over wall time without one.
func orWall(of func(Level) (steady, wall probe.Opt[float64])) func(Level) probe.Opt[float64] {
	return func(l Level) probe.Opt[float64] {
		steady, wall := of(l)
		if steady.OK {
			return steady
		}
		return wall
	}
}

// compareLevel makes the row of one number at one level; not ok where neither
// report has it.
func compareLevel(name string, base, next Level) (Row, bool) {
	c, err := lookUp(name)
	if err != nil {
		return Row{}, false
	}
	r := Row{Load: probe.Some(base.Load), Metric: name, Base: c.value(base), New: c.value(next), Noise: UnknownNoise}
	if !r.Base.OK && !r.New.OK {
		return Row{}, false
	}
	r.Change = changeOf(r.Base, r.New)
	if !r.Base.OK || !r.New.OK {
		return r, true
	}
	var iv Interval
	var ok bool
	switch {
	case c.share:
		iv, ok = shareInterval(c, base, next)
	case c.groups != nil:
		if iv, ok = bootstrap(c.groups(next), c.groups(base), c.stat, compareSeed); ok {
			iv = Interval{Low: iv.Low - 1, High: iv.High - 1}
		}
	}
	if !ok {
		return r, true
	}
	r.Interval, r.Noise = &iv, BeyondNoise
	if iv.Contains(0) || within(base, next, r) {
		r.Noise = WithinNoise
	}
	return r, true
}

// within says that repeated runs of a level differ by more than the change of
// its throughput: a wider truth than what the requests of one run can tell.
func within(base, next Level, r Row) bool {
	if !strings.HasSuffix(r.Metric, "_tps") || !r.Change.OK {
		return false
	}
	spread := max(base.Spread.V, next.Spread.V)
	return r.Change.V <= spread && r.Change.V >= -spread
}

// valuesOf groups the values of a latency by request.
func valuesOf(m Metric, l Level) [][]float64 {
	var groups [][]float64
	for _, s := range l.Samples {
		if v := m.of(s, l.Mode); len(v) > 0 {
			groups = append(groups, v)
		}
	}
	return groups
}

func statisticOf(stat string) statistic {
	switch stat {
	case "mean":
		return mean
	case "p90":
		return quantileOf(0.90)
	case "p95":
		return quantileOf(0.95)
	case "p99":
		return quantileOf(0.99)
	}
	return quantileOf(0.5)
}

// workOf pairs what a request delivered with the time it took. In a closed loop
// every stream is always busy, so Σ work / Σ time is the throughput of one
// stream and tells how noisy that of all is. An open loop has no such rule.
func workOf(l Level, tokens bool) [][]float64 {
	if l.Mode != Concurrency {
		return nil
	}
	var groups [][]float64
	for _, s := range l.Samples {
		if !s.OK() || !s.E2E.OK {
			continue
		}
		work := 1.0
		if tokens {
			work = float64(s.OutputTokens.V)
		}
		groups = append(groups, []float64{work, s.E2E.V.Seconds()})
	}
	return groups
}

func workRate(pairs []float64) float64 {
	work, time := 0.0, 0.0
	for i := 0; i+1 < len(pairs); i += 2 {
		work, time = work+pairs[i], time+pairs[i+1]
	}
	return work / time
}

// shareInterval is the 95 % interval of the difference of two shares by
// Newcombe's method (1998), from their counts alone. Resampling would call any
// single failure beyond noise after a baseline without one.
//
// 2 failures of 100, then 9 of 100: the difference lies between 0.005 and
// 0.144, so beyond noise; of 2 and then 6 of 100 it may be 0.
func shareInterval(c compared, base, next Level) (Interval, bool) {
	bn, nn := float64(base.Completed+base.Failed), float64(next.Completed+next.Failed)
	if bn < 2 || nn < 2 {
		return Interval{}, false
	}
	b, n := c.value(base).V, c.value(next).V
	bLow, bHigh := wilson(b, bn)
	nLow, nHigh := wilson(n, nn)
	return Interval{Low: n - b - math.Hypot(n-nLow, bHigh-b), High: n - b + math.Hypot(nHigh-n, b-bLow)}, true
}

// wilson is the 95 % score interval of a share p seen in n trials.
func wilson(p, n float64) (low, high float64) {
	const z = 1.959964
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (middle - half) / (1 + z*z/n), (middle + half) / (1 + z*z/n)
}
