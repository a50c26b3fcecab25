package capacity

import (
	"math/rand/v2"
	"slices"
)

// Interval holds a statistic with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Contains says whether x lies in the interval, its ends included.
func (i Interval) Contains(x float64) bool { return x >= i.Low && x <= i.High }

const (
	maxResamples = 1000
	minResamples = 200
	// workBudget bounds the values drawn for one interval.
	workBudget = 4_000_000
)

// BootstrapQuantile is the 95 % interval of the q-quantile of values: how it
// would vary if the same number of requests were drawn again from those seen.
// The same seed gives the same interval. It fails under two values.
func BootstrapQuantile(values []float64, q float64, seed uint64) (Interval, bool) {
	return bootstrap(singles(values), nil, quantileOf(q), seed)
}

// BootstrapRatio is the 95 % interval of stat(next) / stat(base). A change is
// beyond noise if 1 lies outside.
func BootstrapRatio(base, next []float64, q float64, seed uint64) (Interval, bool) {
	return bootstrap(singles(next), singles(base), quantileOf(q), seed)
}

// statistic reduces pooled values to one number; it may reorder them.
type statistic func(values []float64) float64

func quantileOf(q float64) statistic {
	return func(v []float64) float64 {
		slices.Sort(v)
		return Quantile(v, q).V
	}
}

// singles makes one group of every value.
func singles(values []float64) [][]float64 {
	groups := make([][]float64, len(values))
	for i := range values {
		groups[i] = values[i : i+1]
	}
	return groups
}

// bootstrap resamples whole groups (the values of one request stay together,
// since the gaps of one answer are alike) and takes the middle 95 % of the
// statistic: of next alone, or of next over base.
func bootstrap(next, base [][]float64, stat statistic, seed uint64) (Interval, bool) {
	if len(next) < 2 || (base != nil && len(base) < 2) {
		return Interval{}, false
	}
	rng := rand.New(rand.NewPCG(seed, 0x626f6f74))
	rounds := min(max(workBudget/(1+size(next)+size(base)), minResamples), maxResamples)
	var results, scratch []float64
	for range rounds {
		scratch = draw(rng, next, scratch[:0])
		v := stat(scratch)
		if base != nil {
			scratch = draw(rng, base, scratch[:0])
			v /= stat(scratch)
		}
		if finite(v) {
			results = append(results, v)
		}
	}
	if len(results) < rounds/2 {
		return Interval{}, false
	}
	slices.Sort(results)
	return Interval{Low: Quantile(results, 0.025).V, High: Quantile(results, 0.975).V}, true
}

func draw(rng *rand.Rand, groups [][]float64, into []float64) []float64 {
	for range groups {
		into = append(into, groups[rng.IntN(len(groups))]...)
	}
	return into
}

func size(groups [][]float64) int {
	n := 0
	for _, g := range groups {
		n += len(g)
	}
	return n
}
