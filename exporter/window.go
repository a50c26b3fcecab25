package exporter

import (
	"math"
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// The window of exact quantiles: the last windowSize ok probes, none older
// than windowAge. Fewer than windowMin samples say nothing about a P95: 59 is
// the number that holds one above it with 95 % certainty (ln 0.05 / ln 0.95).
const (
	windowSize = 120
	windowAge  = 2 * time.Hour
	windowMin  = 59
)

// latencySLIs is the order of a sample's values.
var latencySLIs = [...]slo.SLI{slo.TTFT, slo.FirstContent, slo.TPOT, slo.E2E}

// sample is one ok probe: its latencies, negative where not measured.
type sample struct {
	at     time.Time
	values [len(latencySLIs)]time.Duration
}

// window is a ring of samples. The caller locks.
type window struct {
	ring []sample // grows to windowSize
	next int      // where the next one goes once the ring is full
}

func (w *window) add(r probe.Result, now time.Time) {
	s := sample{at: now}
	for i, sli := range latencySLIs {
		s.values[i] = -1
		if v, ok := slo.Latency(sli, r).Get(); ok {
			s.values[i] = v
		}
	}
	if len(w.ring) < windowSize {
		w.ring = append(w.ring, s)
		return
	}
	w.ring[w.next] = s
	w.next = (w.next + 1) % windowSize
}

func (w *window) clear() { *w = window{} }

// values appends the seconds of latency number i that are in the window at
// now to buf, ascending.
func (w *window) values(i int, now time.Time, buf []float64) []float64 {
	for _, s := range w.ring {
		if s.values[i] >= 0 && now.Sub(s.at) <= windowAge {
			buf = append(buf, s.values[i].Seconds())
		}
	}
	slices.Sort(buf)
	return buf
}

// quantile interpolates linearly between the closest ranks of sorted values,
// as numpy does by default: of 1, 2, 3, 4 the median is 2.5. NaN for none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (rank-float64(low))*(sorted[low+1]-sorted[low])
}
