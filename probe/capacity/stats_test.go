package capacity

import (
	"math"
	"testing"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		give []float64
		q    float64
		want float64
	}{
		{[]float64{10, 20, 30, 40}, 0.5, 25},
		{[]float64{10, 20, 30, 40}, 0.95, 38.5},
		{[]float64{10, 20, 30, 40}, 0, 10},
		{[]float64{10, 20, 30, 40}, 1, 40},
		{[]float64{7}, 0.99, 7},
		{[]float64{1, 2}, 0.25, 1.25},
	} {
		got, ok := Quantile(c.give, c.q).Get()
		if !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Quantile(%v, %g) = %g, %v; want %g", c.give, c.q, got, ok, c.want)
		}
	}
	if v, ok := Quantile(nil, 0.5).Get(); ok {
		t.Errorf("a quantile of nothing is %g; want unknown", v)
	}
}

func TestSummarize(t *testing.T) {
	got := Summarize([]float64{9, 2, 4, math.NaN(), 4, 4, 5, 5, 7, math.Inf(1)})
	want := Summary{N: 8, Mean: 5, Std: 2, P50: 4.5, P90: 7.6, P95: 8.3, P99: 8.86}
	for i, f := range got.fields() {
		if w := *want.fields()[i].v; math.Abs(*f.v-w) > 1e-9 {
			t.Errorf("%s = %g, want %g", f.name, *f.v, w)
		}
	}
	if got.N != want.N {
		t.Errorf("N = %d, want %d: values that are no numbers are left out", got.N, want.N)
	}
	if s := Summarize([]float64{math.NaN()}); s != (Summary{}) || s.At("p50").OK {
		t.Errorf("nothing measured gives %+v; want the zero value and nothing known", s)
	}
}
