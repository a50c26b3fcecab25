package capacity

import (
	"math"

	"tokprobe/probe"
)

// USL is the Universal Scalability Law fitted to a ladder, a second opinion
// beside the knee:
//
//	X(N) = λN / (1 + σ(N−1) + κN(N−1))
//
// with λ the throughput of one stream, σ the share that waits for one another
// and κ the cost of keeping one another informed.
type USL struct {
	Lambda float64 `json:"lambda"`
	Sigma  float64 `json:"sigma"`
	Kappa  float64 `json:"kappa"`
	// The standard errors are absent where as many parameters were fitted as
	// there are levels, and for a parameter at its bound of 0.
	LambdaErr probe.Opt[float64] `json:"lambda_error,omitzero"`
	SigmaErr  probe.Opt[float64] `json:"sigma_error,omitzero"`
	KappaErr  probe.Opt[float64] `json:"kappa_error,omitzero"`
	R2        float64            `json:"r2"`
	// Peak is the load of the highest throughput, √((1−σ)/κ); absent if the
	// curve has none (κ = 0). Beyond the highest level it is a guess.
	Peak           probe.Opt[float64] `json:"peak_load,omitzero"`
	PeakThroughput probe.Opt[float64] `json:"peak_throughput,omitzero"`
	Levels         int                `json:"levels"`
}

// At is the fitted throughput at a load.
func (u USL) At(n float64) float64 { return uslAt([3]float64{u.Lambda, u.Sigma, u.Kappa}, n) }

func uslAt(p [3]float64, n float64) float64 {
	return p[0] * n / (1 + p[1]*(n-1) + p[2]*n*(n-1))
}

// FitUSL fits the law by least squares with λ > 0 and σ, κ ≥ 0. It fails with
// fewer than three different loads or where the throughputs say nothing.
func FitUSL(points []Point) (USL, bool) {
	var n, x []float64
	for _, p := range steps(points) {
		if p.Throughput.OK && p.Throughput.V > 0 {
			n, x = append(n, p.Load), append(x, p.Throughput.V)
		}
	}
	if len(n) < 3 {
		return USL{}, false
	}
	best, found := fit{}, false
	for _, free := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} {
		f, ok := fitUSL(n, x, free)
		if ok && f.p[0] > 0 && f.p[1] >= 0 && f.p[2] >= 0 && (!found || f.sse < best.sse*(1-1e-9)) {
			best, found = f, true
		}
	}
	if !found {
		return USL{}, false
	}
	return best.law(x), true
}

// law turns a fit into a USL.
func (f fit) law(x []float64) USL {
	u := USL{Lambda: f.p[0], Sigma: f.p[1], Kappa: f.p[2], Levels: len(x)}
	total, m := 0.0, mean(x)
	for _, v := range x {
		total += (v - m) * (v - m)
	}
	u.R2 = 1
	if total > 0 {
		u.R2 = 1 - f.sse/total
	}
	u.LambdaErr, u.SigmaErr, u.KappaErr = f.err[0], f.err[1], f.err[2]
	if f.p[2] > 0 && f.p[1] < 1 {
		u.Peak = known(math.Sqrt((1 - f.p[1]) / f.p[2]))
		u.PeakThroughput = known(u.At(u.Peak.V))
	}
	return u
}
