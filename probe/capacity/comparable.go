package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tokprobe/probe"
)

// Comparable says why two reports may not be compared: nil if they may. Mode,
// levels, arrivals, prompt sizes and output lengths must agree: TTFT under a
// fixed concurrency depends on all of them.
func Comparable(base, next Report) error {
	b, n := base.byLoad(), next.byLoad()
	loads := func(levels []Level) (l []float64) {
		for _, x := range levels {
			l = append(l, x.Load)
		}
		return l
	}
	switch {
	case base.Mode != next.Mode:
		return fmt.Errorf("not comparable: the baseline is a %s ladder, the new one a %s ladder", base.Mode, next.Mode)
	case !slices.Equal(loads(b), loads(n)):
		return fmt.Errorf("not comparable: the baseline has the levels %s, the new report %s", joinLoads(loads(b)), joinLoads(loads(n)))
	}
	if err := ComparableConditions(base.Conditions, next.Conditions); err != nil {
		return err
	}
	for i := range b {
		for _, f := range []struct {
			what      string
			base, now probe.Opt[float64]
		}{{"prompt", meanPrompt(b[i]), meanPrompt(n[i])}, {"output", meanOutput(b[i]), meanOutput(n[i])}} {
			if change := changeOf(f.base, f.now); change.OK && math.Abs(change.V) > 0.1 {
				return fmt.Errorf("not comparable: at level %g the mean %s was %.0f tokens and is %.0f", b[i].Load, f.what, f.base.V, f.now.V)
			}
		}
	}
	return nil
}

// ComparableConditions is the part of Comparable that is known before a sweep
// sends anything.
func ComparableConditions(bc, nc Conditions) error {
	switch {
	case bc.Arrival != nc.Arrival || bc.Burstiness != nc.Burstiness:
		return fmt.Errorf("not comparable: arrivals were %q (burstiness %g) and are %q (%g)", bc.Arrival, bc.Burstiness, nc.Arrival, nc.Burstiness)
	case bc.InputTokens != nc.InputTokens:
		return fmt.Errorf("not comparable: prompts of %d input tokens were asked for, now %d", bc.InputTokens, nc.InputTokens)
	case bc.MaxTokens != nc.MaxTokens:
		return fmt.Errorf("not comparable: max_tokens was %d and is %d", bc.MaxTokens, nc.MaxTokens)
	}
	return nil
}

func meanPrompt(l Level) probe.Opt[float64] {
	if !l.TotalInputTokens.OK {
		return probe.Opt[float64]{}
	}
	return per(float64(l.TotalInputTokens.V), float64(l.Completed))
}

// byLoad are the levels in ascending order.
func (r Report) byLoad() []Level {
	levels := slices.Clone(r.Levels)
	slices.SortStableFunc(levels, func(a, b Level) int { return cmp.Compare(a.Load, b.Load) })
	return levels
}

// differences warns of conditions that may explain a change.
func differences(base, next Report) []string {
	var out []string
	b, n := base.Conditions, next.Conditions
	for _, f := range []struct{ what, base, next string }{
		{"model", b.Model, n.Model}, {"endpoint", b.Endpoint, n.Endpoint}, {"prompt hash", b.PromptHash, n.PromptHash},
		{"cache mode", b.Cache, n.Cache}, {"host", b.Host, n.Host}, {"location", b.Location, n.Location},
	} {
		if f.base != f.next {
			out = append(out, fmt.Sprintf("%s was %q and is %q", f.what, f.base, f.next))
		}
	}
	return out
}
