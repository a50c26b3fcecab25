package capacity

import (
	"fmt"

	"tokprobe/probe"
)

// KneeRuns says how much the knee owes to chance: it is judged again for every
// way to take one run of each repeated level instead of their median. With runs
// of 542 and 530 tok/s at 1 stream and 560 and 590 at 2 there are four ways.
// From 530 to 590 the gain is 11.3 % for 100 % more load, an efficiency over
// 0.10: that way does not reach the knee at 2. The other three say 1.
type KneeRuns struct {
	Agree int `json:"agree"` // ways that give the knee of the report
	Of    int `json:"of"`    // ways there are, at most maxWays of them looked at
	// Low and High are the least and the largest knee of all ways. Without
	// Low none reached a knee, without High some did not.
	Low  probe.Opt[float64] `json:"low,omitzero"`
	High probe.Opt[float64] `json:"high,omitzero"`
}

// maxWays bounds the work: three levels of 16 runs each.
const maxWays = 4096

// kneeRuns is nil where no level has several runs. Points are those of levels,
// in their order.
func kneeRuns(levels []Level, points []Point, knee Knee, th Thresholds) *KneeRuns {
	ways := 1
	for _, l := range levels {
		ways = min(maxWays, ways*max(1, len(l.Runs)))
	}
	if ways == 1 {
		return nil
	}
	k := &KneeRuns{Of: ways}
	all := true // ways reached a knee
	one := make([]Point, len(points))
	for way := range ways {
		copy(one, points)
		rest := way
		for i, l := range levels {
			if n := len(l.Runs); n > 1 {
				one[i].Throughput = probe.Some(l.Runs[rest%n])
				rest /= n
			}
		}
		_, got := Judge(one, th)
		if got.Reached == knee.Reached && got.Load == knee.Load {
			k.Agree++
		}
		if !got.Reached {
			all = false
			continue
		}
		if !k.Low.OK || got.Load.V < k.Low.V {
			k.Low = got.Load
		}
		if !k.High.OK || got.Load.V > k.High.V {
			k.High = got.Load
		}
	}
	if !all {
		k.High = probe.Opt[float64]{}
	}
	return k
}

// String says it in words, without the unit.
func (k KneeRuns) String() string {
	where := "single runs agree"
	switch {
	case k.Agree == k.Of:
	case !k.Low.OK:
		where = "single runs do not reach it"
	case !k.High.OK:
		where = fmt.Sprintf("single runs put it at %g or beyond the ladder", k.Low.V)
	case k.Low == k.High:
		where = fmt.Sprintf("single runs put it at %g", k.Low.V)
	default:
		where = fmt.Sprintf("single runs put it from %g to %g", k.Low.V, k.High.V)
	}
	return fmt.Sprintf("%s (%d of %d ways to take one run of each level)", where, k.Agree, k.Of)
}
