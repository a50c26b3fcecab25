package capacity

import "math"

func square(k int) [][]float64 {
	a := make([][]float64, k)
	for i := range a {
		a[i] = make([]float64, k)
	}
	return a
}

func times(a [][]float64, v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range a {
		for j := range v {
			out[i] += a[i][j] * v[j]
		}
	}
	return out
}

// invert is Gauss and Jordan with pivots, on rows and columns scaled by the
// diagonal; nil for a singular matrix.
func invert(a [][]float64) [][]float64 {
	k := len(a)
	d := make([]float64, k)
	for i := range a {
		if !(a[i][i] > 0) || !finite(a[i][i]) {
			return nil
		}
		d[i] = math.Sqrt(a[i][i])
	}
	m, inv := square(k), square(k)
	for i := range a {
		for j := range a {
			m[i][j] = a[i][j] / d[i] / d[j]
		}
		inv[i][i] = 1
	}
	for c := range k {
		pivot := c
		for r := c + 1; r < k; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[pivot][c]) {
				pivot = r
			}
		}
		if !(math.Abs(m[pivot][c]) > 1e-13) {
			return nil
		}
		m[c], m[pivot], inv[c], inv[pivot] = m[pivot], m[c], inv[pivot], inv[c]
		eliminate(m, inv, c)
	}
	for i := range inv {
		for j := range inv {
			inv[i][j] /= d[i] * d[j]
		}
	}
	return inv
}

func eliminate(m, inv [][]float64, c int) {
	p := m[c][c]
	for j := range m {
		m[c][j] /= p
		inv[c][j] /= p
	}
	for r := range m {
		if f := m[r][c]; r != c && f != 0 {
			for j := range m {
				m[r][j] -= f * m[c][j]
				inv[r][j] -= f * inv[c][j]
			}
		}
	}
}
