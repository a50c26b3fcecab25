package exporter

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"tokprobe/exporter/catalog"
)

// pair is our histogram beside client_golang's with the same settings: both
// must say the same of the same observations.
type pair struct {
	ours   *histogram
	theirs prometheus.Histogram
}

func newPair() pair {
	return pair{
		ours: newHistogram(catalog.LatencyBuckets(), time.Now()),
		theirs: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "x", Help: "x", Buckets: catalog.LatencyBuckets(), NativeHistogramBucketFactor: 1.1,
			NativeHistogramMaxBucketNumber: maxNative, NativeHistogramMinResetDuration: resetAfter,
		}),
	}
}

func (p pair) observe(v float64) {
	p.ours.observe(v, time.Now(), nil)
	p.theirs.Observe(v)
}

func (p pair) compare(t *testing.T) *dto.Histogram {
	t.Helper()
	var want dto.Metric
	if err := p.theirs.Write(&want); err != nil {
		t.Fatal(err)
	}
	got := p.ours.write(&arenas{})
	if !proto.Equal(got, want.Histogram) {
		t.Fatalf("histograms differ\ngot  %v\nwant %v", got, want.Histogram)
	}
	return got
}

func TestHistogramAgainstClientGolang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.compare(t) // empty
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 3000 {
			p.observe(math.Exp(r.NormFloat64() - 1))
			if i%500 == 0 {
				p.compare(t)
			}
		}
		for _, bound := range catalog.LatencyBuckets() { // le is inclusive, at 2^k both kinds of bucket are
			p.observe(bound)
			p.observe(math.Nextafter(bound, math.Inf(1)))
		}
		for _, v := range []float64{0, 0.25, 0.5, 1, 2, 4, math.Ldexp(1, -128), math.Ldexp(1, -127)} {
			p.observe(v)
		}
		if got := p.compare(t); got.GetSampleCount() != 3036 || got.GetZeroCount() != 2 {
			t.Errorf("count %d, zero %d, want 3036 and 2", got.GetSampleCount(), got.GetZeroCount())
		}
	})
}

// TestHistogramLimit: over 160 buckets it gets coarser at first, and starts
// anew an hour after its start.
func TestHistogramLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		v := 1e-3
		for range 200 {
			p.observe(v)
			v *= 1.1
		}
		if got := p.compare(t); got.GetSchema() != 2 || got.GetSampleCount() != 200 {
			t.Errorf("schema %d with %d samples, want 2 with 200", got.GetSchema(), got.GetSampleCount())
		}
		time.Sleep(resetAfter)
		synctest.Wait()
		p.observe(0.3)
		if got := p.compare(t); got.GetSchema() != 3 || got.GetSampleCount() != 1 {
			t.Errorf("an hour later schema %d with %d samples, want 3 with 1", got.GetSchema(), got.GetSampleCount())
		}
		time.Sleep(resetAfter)
		for v = 1e-3; p.ours.count > 0 && v < 1e6; v *= 1.1 {
			p.observe(v)
		}
		p.compare(t)
	})
}

func TestHistogramRefuses(t *testing.T) {
	h := newHistogram(catalog.LatencyBuckets(), time.Now())
	for _, v := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		h.observe(v, time.Now(), nil)
	}
	if h.count != 0 || h.sum != 0 {
		t.Errorf("count %d, sum %v after values that are no durations, want 0 and 0", h.count, h.sum)
	}
}

func TestHistogramExemplar(t *testing.T) {
	now := time.Now()
	h := newHistogram(catalog.LatencyBuckets(), now)
	h.observe(0.3, now, exemplarOf("first", 300*time.Millisecond, now))
	h.observe(0.2, now, exemplarOf("second", 200*time.Millisecond, now))
	h.observe(500, now, exemplarOf("slow", 500*time.Second, now))
	out := h.write(&arenas{})
	for i, b := range out.Bucket {
		var want string
		switch b.GetUpperBound() {
		case 0.32:
			want = "second" // the latest of its bucket
		case math.Inf(1):
			want = "slow"
		}
		got := ""
		if b.Exemplar != nil {
			got = b.Exemplar.Label[0].GetValue()
		}
		if got != want {
			t.Errorf("bucket %d (le %v): exemplar %q, want %q", i, b.GetUpperBound(), got, want)
		}
	}
	if len(out.Bucket) != 15 || out.Bucket[14].GetCumulativeCount() != 3 || len(out.Exemplars) != 2 {
		t.Errorf("%d buckets, %d native exemplars", len(out.Bucket), len(out.Exemplars))
	}
}
