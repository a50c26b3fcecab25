package capacity

import (
	"math"
	"slices"
	"time"

	"tokprobe/probe"
)

// FewSamples is the number of samples under which quantiles carry a warning.
const FewSamples = 10

// Quantile is the q-quantile (0…1) of sorted values, linear between closest
// ranks as numpy does it by default. It is unknown without values.
//
// Of 10, 20, 30, 40 the 0.5-quantile is 25 and the 0.95-quantile 38.5: rank
// 0.95·3 = 2.85 lies 85 % of the way from 30 to 40.
func Quantile(sorted []float64, q float64) probe.Opt[float64] {
	if len(sorted) == 0 || math.IsNaN(q) {
		return probe.Opt[float64]{}
	}
	q = min(max(q, 0), 1)
	rank := q * float64(len(sorted)-1)
	low := int(math.Floor(rank))
	if low+1 >= len(sorted) {
		return probe.Some(sorted[len(sorted)-1])
	}
	part := rank - float64(low)
	return probe.Some(sorted[low] + part*(sorted[low+1]-sorted[low]))
}

// Summary holds the statistics of one metric at one level. Its zero value, with
// N 0, means that nothing was measured.
type Summary struct {
	N                  int
	Mean, Std          float64 // Std is that of the population, as vllm's
	P50, P90, P95, P99 float64
}

// Summarize computes a Summary. It sorts a copy; values that are no numbers
// are left out.
//
// 2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and standard deviation 2.
func Summarize(values []float64) Summary {
	v := make([]float64, 0, len(values))
	for _, x := range values {
		if finite(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return Summary{}
	}
	slices.Sort(v)
	s := Summary{N: len(v), Mean: mean(v)}
	for _, x := range v {
		s.Std += (x - s.Mean) * (x - s.Mean)
	}
	s.Std = math.Sqrt(s.Std / float64(len(v)))
	for _, p := range []struct {
		q  float64
		to *float64
	}{{0.5, &s.P50}, {0.9, &s.P90}, {0.95, &s.P95}, {0.99, &s.P99}} {
		*p.to = Quantile(v, p.q).V
	}
	return s
}

// At returns the statistic named mean, median, std, p50, p90, p95 or p99; it
// is unknown without samples or for another name.
func (s Summary) At(name string) probe.Opt[float64] {
	if s.N == 0 {
		return probe.Opt[float64]{}
	}
	for _, f := range s.fields() {
		if f.name == name {
			return probe.Some(*f.v)
		}
	}
	return probe.Opt[float64]{}
}

type summaryField struct {
	name string
	v    *float64
}

// fields lists the statistics in the order and under the names of vllm's
// result files; median and p50 are the same number.
func (s *Summary) fields() []summaryField {
	return []summaryField{{"mean", &s.Mean}, {"median", &s.P50}, {"std", &s.Std},
		{"p50", &s.P50}, {"p90", &s.P90}, {"p95", &s.P95}, {"p99", &s.P99}}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func median(v []float64) probe.Opt[float64] {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	return Quantile(sorted, 0.5)
}

// finite says that x is a number that JSON and arithmetic can bear.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// known wraps a number, or nothing where it is none.
func known(x float64) probe.Opt[float64] {
	if !finite(x) {
		return probe.Opt[float64]{}
	}
	return probe.Some(x)
}

// per divides and is unknown where there is nothing to divide by.
func per(x, by float64) probe.Opt[float64] {
	if by <= 0 {
		return probe.Opt[float64]{}
	}
	return known(x / by)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
