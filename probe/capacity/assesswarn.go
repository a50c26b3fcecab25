package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokprobe/probe"
)

// warnAll adds what a reader of the report must know before believing it.
func (r *Report) warnAll() {
	var untrusted, short, early []float64
	for _, l := range r.Levels {
		if !l.Trusted {
			untrusted = append(untrusted, l.Load)
		}
		if l.TooShort && l.State != Failing { // refused streams are never all in flight, however long it lasts
			short = append(short, l.Load)
		}
		if l.EndedEarly {
			early = append(early, l.Load)
		}
	}
	r.warnLoads(untrusted, "our own lag could explain what was seen at %s: not judged; use a quieter machine")
	r.warnLoads(short, "too short to judge at %s: more requests or a longer duration")
	r.warnLoads(early, "answers ended early at %s: throughput there flatters; force the length where the server can")
	if k := r.KneeRuns; k != nil && 2*k.Agree < k.Of {
		r.warn("the knee is not settled: %s; repeat more often, or find a quieter hour", k)
	}
	switch {
	case r.Knee.Reached:
		r.warnSpread()
	case r.Knee.AtLeast.OK:
		r.warn("the knee was not reached: the endpoint holds at least %g; raise the ladder to find it", r.Knee.AtLeast.V)
	default:
		r.warn("no level could be judged, or all failed: there is no knee")
	}
	r.warnBacklog()
	if r.hasSLO() && !r.MostLoadUnderSLO.OK {
		r.warn("no level met the SLO: no load is recommended")
	}
	r.warnLengths()
}

func (r *Report) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

func (r *Report) warnLoads(loads []float64, format string) {
	if len(loads) > 0 {
		r.warn(format, joinLoads(loads))
	}
}

// warnSpread says how far repeated runs near the knee lie apart. Three equal
// runs of one published setup gave 123k, 84k and 122k tokens a second.
func (r *Report) warnSpread() {
	for _, l := range r.Levels {
		if l.Spread.OK && l.Spread.V > 0.1 && l.Load >= r.Knee.Load.V/2 && l.Load <= r.Knee.Load.V*2 {
			r.warn("%d runs at %g differ by %.0f %%: the knee is no better than that", l.Repeats, l.Load, 100*l.Spread.V)
		}
	}
}

// warnBacklog says where the load at the knee was more than the endpoint could
// finish. By its rule the knee is the last load that still paid: with 14.3 of
// 14.3 and 15.5 of 20 requests a second the step to 20 paid 8 % and the knee may
// be 20, but what the endpoint holds for longer is 15.5.
func (r *Report) warnBacklog() {
	const keptUp = 0.9
	for _, l := range r.Levels {
		done, sent := l.SteadyRequestThroughput, l.SteadyOfferedRate
		if !sent.OK {
			sent = probe.Some(l.Load)
		}
		if r.Mode == Rate && r.Knee.Load == probe.Some(l.Load) && done.OK && done.V < keptUp*sent.V {
			r.warn("at the knee of %g requests/s the endpoint finished only %.3g of %.3g a second: beyond %.3g its backlog grows as long as the load lasts",
				l.Load, done.V, sent.V, done.V)
		}
	}
}

// warnLengths compares mean output lengths: levels of unequal length are no
// ladder.
func (r *Report) warnLengths() {
	low, high := math.Inf(1), 0.0
	for _, l := range r.Levels {
		if n, ok := meanOutput(l).Get(); ok {
			low, high = min(low, n), max(high, n)
		}
	}
	if high > 1.1*low {
		r.warn("mean output differs between levels, from %.0f to %.0f tokens: compare their throughput with care", low, high)
	}
}

func meanOutput(l Level) probe.Opt[float64] {
	if !l.TotalOutputTokens.OK {
		return probe.Opt[float64]{}
	}
	return per(float64(l.TotalOutputTokens.V), float64(l.Completed))
}

func joinLoads(loads []float64) string {
	texts := make([]string, len(loads))
	for i, x := range loads {
		texts[i] = fmt.Sprintf("%g", x)
	}
	return strings.Join(texts, ", ")
}
