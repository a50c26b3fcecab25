package capacity

import (
	"math"

	"tokprobe/probe"
)

// fit is one solved least-squares problem over the free parameters of the law.
type fit struct {
	p    [3]float64 // λ, σ, κ; those not free are 0
	free []int
	sse  float64
	err  [3]probe.Opt[float64] // standard errors
}

// fitUSL minimises Σ (x − X(n))² over the free parameters: first linearised,
// N/X = 1/λ + σ/λ·(N−1) + κ/λ·N(N−1), then by Levenberg and Marquardt. Loads and
// throughputs are scaled to about 1 so that the matrices stay well behaved.
func fitUSL(n, x []float64, free []int) (fit, bool) {
	f := fit{free: free}
	scale := x[0]
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] / scale
	}
	if !f.linear(n, y) {
		return fit{}, false
	}
	f.sse = sse(f.p, n, y)
	damp := 1e-3
	for range 200 {
		next, ok := f.step(n, y, damp)
		if !ok {
			return fit{}, false
		}
		s := sse(next, n, y)
		if finite(s) && s <= f.sse {
			done := f.sse-s <= 1e-14*(1+f.sse)
			f.p, f.sse, damp = next, s, max(damp/10, 1e-12)
			if done {
				break
			}
			continue
		}
		if damp *= 10; damp > 1e12 {
			break
		}
	}
	f.errors(n, y)
	f.p[0] *= scale
	f.err[0].V *= scale
	f.sse *= scale * scale
	return f, finite(f.sse)
}

// errors computes the standard errors, √(s²·(JᵀJ)⁻¹ᵢᵢ) with s² the residual
// variance. They stay unknown where no observation is left over.
func (f *fit) errors(n, y []float64) {
	dof := len(n) - len(f.free)
	jtj, _ := f.normal(n, y)
	inv := invert(jtj)
	if dof <= 0 || inv == nil {
		return
	}
	for i, k := range f.free {
		f.err[k] = known(math.Sqrt(f.sse / float64(dof) * inv[i][i]))
	}
}

// linear finds starting values.
func (f *fit) linear(n, y []float64) bool {
	k := len(f.free)
	a, b := square(k), make([]float64, k)
	for i := range n {
		row := [3]float64{1, n[i] - 1, n[i] * (n[i] - 1)}
		w := y[i] * y[i] / (n[i] * n[i]) // so that large loads do not rule
		for r, fr := range f.free {
			b[r] += w * row[fr] * n[i] / y[i]
			for c, fc := range f.free {
				a[r][c] += w * row[fr] * row[fc]
			}
		}
	}
	inv := invert(a)
	if inv == nil {
		return false
	}
	v := times(inv, b)
	if !(v[0] > 0) {
		return false
	}
	f.p = [3]float64{1 / v[0], 0, 0}
	for i, fr := range f.free[1:] {
		f.p[fr] = v[i+1] / v[0]
	}
	return true
}

// step solves (JᵀJ + damp·diag) δ = Jᵀr.
func (f *fit) step(n, y []float64, damp float64) ([3]float64, bool) {
	a, g := f.normal(n, y)
	for i := range a {
		a[i][i] += damp*a[i][i] + 1e-300
	}
	inv := invert(a)
	if inv == nil {
		return f.p, false
	}
	next := f.p
	for i, d := range times(inv, g) {
		next[f.free[i]] += d
	}
	return next, true
}

// normal is JᵀJ and Jᵀr at the present parameters.
func (f *fit) normal(n, y []float64) ([][]float64, []float64) {
	k := len(f.free)
	a, g := square(k), make([]float64, k)
	for i := range n {
		den := 1 + f.p[1]*(n[i]-1) + f.p[2]*n[i]*(n[i]-1)
		x := f.p[0] * n[i] / den
		full := [3]float64{n[i] / den, -x * (n[i] - 1) / den, -x * n[i] * (n[i] - 1) / den}
		for r, fr := range f.free {
			g[r] += full[fr] * (y[i] - x)
			for c, fc := range f.free {
				a[r][c] += full[fr] * full[fc]
			}
		}
	}
	return a, g
}

func sse(p [3]float64, n, y []float64) float64 {
	sum := 0.0
	for i := range n {
		d := y[i] - uslAt(p, n[i])
		sum += d * d
	}
	return sum
}
