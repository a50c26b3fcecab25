package capacity

import (
	"math"
	"testing"

	"tokprobe/probe"
)

func lawPoints(u USL, loads ...float64) []Point {
	var ps []Point
	for _, n := range loads {
		ps = append(ps, Point{Load: n, Throughput: probe.Some(u.At(n))})
	}
	return ps
}

func TestFitUSLFindsTheLaw(t *testing.T) {
	for _, want := range []USL{
		{Lambda: 40, Sigma: 0.05, Kappa: 0.001},
		{Lambda: 995.6, Sigma: 0.02671, Kappa: 0.0007690}, // scale of a published fit
		{Lambda: 0.3, Sigma: 0, Kappa: 0.01},
		{Lambda: 2500, Sigma: 0.2, Kappa: 0},
		{Lambda: 12, Sigma: 0, Kappa: 0},
	} {
		u, ok := FitUSL(lawPoints(want, 1, 2, 4, 8, 16, 32, 64))
		if !ok || math.Abs(u.Lambda/want.Lambda-1) > 1e-6 || math.Abs(u.Sigma-want.Sigma) > 1e-6 || math.Abs(u.Kappa-want.Kappa) > 1e-7 {
			t.Errorf("fit %+v, %v; want %+v", u, ok, want)
			continue
		}
		if u.R2 < 1-1e-9 {
			t.Errorf("R² %g of exact data", u.R2)
		}
		if want.Kappa > 1e-6 {
			near(t, "peak", u.Peak, math.Sqrt((1-want.Sigma)/want.Kappa), 1e-3)
		}
	}
}

func TestUSLErrorsCoverTheTruth(t *testing.T) {
	truth := USL{Lambda: 40, Sigma: 0.05, Kappa: 0.001}
	rng := newRand(11)
	inside, trials := 0, 0
	for range 300 {
		ps := lawPoints(truth, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
		for i := range ps {
			ps[i].Throughput.V += 5 * rng.NormFloat64()
		}
		u, ok := FitUSL(ps)
		if !ok || !u.SigmaErr.OK || !u.KappaErr.OK {
			continue
		}
		trials++
		inside += toInt(math.Abs(u.Kappa-truth.Kappa) <= 2.36*u.KappaErr.V) // Student's t, 7 left over, 95 %
	}
	if share := float64(inside) / float64(trials); trials < 250 || share < 0.9 || share > 0.99 {
		t.Errorf("the 95 %% error of κ covers the truth in %.3f of %d fits", share, trials)
	}
}

func TestFitUSLOfAPublishedLadder(t *testing.T) {
	u, ok := FitUSL(points(1, 4210, 4, 15200, 8, 27800, 16, 30100, 32, 30500))
	if !ok || u.R2 < 0.95 || !u.SigmaErr.OK {
		t.Errorf("fit %+v, %v; want R² over 0.95 with errors", u, ok)
	}
}

func TestFitUSLDegenerate(t *testing.T) {
	for _, give := range [][]Point{nil, points(1, 10), points(1, 10, 2, 20), points(2, 1, 2, 2, 2, 3, 4, 5),
		points(1, 0, 2, 0, 4, 0), points(1, math.NaN(), 2, math.Inf(1), 4, 7)} {
		if u, ok := FitUSL(give); ok {
			t.Errorf("fit of %v is %+v; want none", give, u)
		}
	}
	u, ok := FitUSL(lawPoints(USL{Lambda: 10, Sigma: 0.1, Kappa: 0.01}, 1, 2, 4))
	if !ok || u.SigmaErr.OK || u.LambdaErr.OK {
		t.Errorf("three levels: %+v, %v; want a fit without errors", u, ok)
	}
	rng := newRand(5)
	for range 2000 { // whatever comes, only numbers come out
		var ps []Point
		for range 3 + rng.IntN(6) {
			ps = append(ps, points(float64(1+rng.IntN(100)), math.Exp(40*(rng.Float64()-0.5)))...)
		}
		if u, ok := FitUSL(ps); ok {
			for _, v := range []float64{u.Lambda, u.Sigma, u.Kappa, u.R2, u.LambdaErr.V, u.SigmaErr.V, u.KappaErr.V, u.Peak.V, u.PeakThroughput.V} {
				if !finite(v) {
					t.Fatalf("fit of %v is %+v", ps, u)
				}
			}
		}
	}
}
