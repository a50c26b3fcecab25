package report

import "math"

// scale maps values to a stretch of the drawing, linear or logarithmic.
type scale struct {
	low, high float64 // values at from and to
	from, to  float64 // drawing units
	log       bool
}

// at places a value; ok is false for one that a logarithm cannot take or that
// is no number.
func (s scale) at(v float64) (pos float64, ok bool) {
	low, high := s.low, s.high
	if s.log {
		if v <= 0 {
			return 0, false
		}
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	pos = s.from + (v-low)/(high-low)*(s.to-s.from)
	return pos, !math.IsNaN(pos) && !math.IsInf(pos, 0)
}

// wideRatio is from where on a logarithmic axis is the readable one: 0.6 s and
// 8 s still share a linear axis, 0.08 s and 8 s do not.
const wideRatio = 20

// newScale spans round numbers around the values: from 0 on a linear axis,
// between 1-2-5 steps on a logarithmic one, taken where the values are wide.
// It returns the values of its ticks, none without a positive value.
func newScale(values []float64, wide float64, from, to float64) (scale, []float64) {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if high == 0 {
		return scale{}, nil
	}
	if high/low >= wide {
		return logScale(low, high, from, to)
	}
	// Four to six ticks: 0, 2, 4, 6, 8 up to 8.6 needs a top of 10.
	step := roundUp(high / 5)
	s := scale{low: 0, high: step * math.Ceil(high/step-1e-9), from: from, to: to}
	var ticks []float64
	for i := 0; float64(i)*step <= s.high*(1+1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return s, ticks
}

func logScale(low, high, from, to float64) (scale, []float64) {
	s := scale{low: roundDown(low), high: roundUp(high), from: from, to: to, log: true}
	all := s.high/s.low <= 1000 // over three decades, powers of ten are enough
	var ticks []float64
	for e := math.Floor(math.Log10(s.low)); e <= math.Ceil(math.Log10(s.high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := decimal(m, e); v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) && (all || m == 1) {
				ticks = append(ticks, v)
			}
		}
	}
	return s, ticks
}

// roundUp is the next of … 1, 2, 5, 10 … at or above v.
func roundUp(v float64) float64 {
	e := math.Floor(math.Log10(v))
	for _, m := range []float64{1, 2, 5} {
		if r := decimal(m, e); r >= v*(1-1e-9) {
			return r
		}
	}
	return decimal(1, e+1)
}

// roundDown is the next of … 1, 2, 5, 10 … at or below v.
func roundDown(v float64) float64 {
	e := math.Floor(math.Log10(v))
	for _, m := range []float64{5, 2} {
		if r := decimal(m, e); r <= v*(1+1e-9) {
			return r
		}
	}
	return decimal(1, e)
}

// decimal is m·10^e without the dust of a negative power.
func decimal(m, e float64) float64 {
	if e < 0 {
		return m / math.Pow10(int(-e))
	}
	return m * math.Pow10(int(e))
}
