package capacity

import (
	"cmp"
	"slices"

	"tokprobe/probe"
)

// Point is what the judgement needs to know of a level.
type Point struct {
	Load float64
	// Offered is the load that was really applied, where it differs.
	Offered probe.Opt[float64]
	// Throughput is steady output tokens per second in a closed loop and
	// steady requests per second in an open one. Any unit will do.
	Throughput probe.Opt[float64]
	Tail       probe.Opt[float64] // tail TTFT, any unit
	Failing    bool
	Skip       bool // untrusted or too short
}

// steps sorts points by load and merges those of equal load. A load that is no
// positive number is left out.
func steps(points []Point) []Point {
	byLoad := make(map[float64][]Point)
	for _, p := range points {
		if finite(p.Load) && p.Load > 0 {
			byLoad[p.Load] = append(byLoad[p.Load], p)
		}
	}
	merged := make([]Point, 0, len(byLoad))
	for load, same := range byLoad {
		p := Point{Load: load, Failing: true, Skip: true}
		var offered, throughput, tail []float64
		for _, s := range same {
			p.Failing = p.Failing && (s.Failing || s.Skip)
			p.Skip = p.Skip && s.Skip && !s.Failing
			if !s.Skip {
				offered, throughput, tail = add(offered, s.Offered), add(throughput, s.Throughput), add(tail, s.Tail)
			}
		}
		p.Failing = p.Failing && !p.Skip
		p.Offered, p.Throughput, p.Tail = median(offered), median(throughput), median(tail)
		merged = append(merged, p)
	}
	slices.SortFunc(merged, func(a, b Point) int { return cmp.Compare(a.Load, b.Load) })
	return merged
}

func add(list []float64, v probe.Opt[float64]) []float64 {
	if v.OK && finite(v.V) {
		return append(list, v.V)
	}
	return list
}
