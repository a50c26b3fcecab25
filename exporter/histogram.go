package exporter

import (
	"math"
	"slices"
	"sort"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Native histograms have 8 buckets per power of two (schema 3: each is 9 %
// wider than the one below), at most maxNative of them. One that outgrows
// this starts anew if its last start is resetAfter ago, else it is made
// coarser and starts anew when that time has come.
const (
	nativeSchema = 3
	maxNative    = 160
	resetAfter   = time.Hour
)

var infinity = math.Inf(1)

// zeroThreshold is the largest value of the native zero bucket, as small as
// client_golang's.
var zeroThreshold = math.Ldexp(1, -128)

// nativeFractions are the upper bounds 2^(i/8 − 1) of the buckets between ½
// and 1.
var nativeFractions = [8]float64{
	0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
	0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
}

// histogram counts observations in classic and native buckets at once, as
// client_golang's does, in a tenth of the memory: five of these per probe and
// a thousand probes make the difference between 5 and 60 MB. The caller locks.
type histogram struct {
	bounds    []float64 // shared, upper bounds without +Inf
	classic   []uint64  // one more than bounds; not cumulative
	count     uint64
	sum       float64
	zero      uint64
	native    []nativeBucket // ascending
	schema    int32
	started   time.Time
	created   *timestamppb.Timestamp // started, for the page
	exemplars []*dto.Exemplar        // nil, or the latest of each classic bucket
}

type nativeBucket struct {
	key int32
	n   uint64
}

func newHistogram(bounds []float64, now time.Time) *histogram {
	return &histogram{bounds: bounds, classic: make([]uint64, len(bounds)+1), schema: nativeSchema,
		started: now, created: timestamppb.New(now)}
}

// observe counts v, a number of seconds that is not negative. Anything else
// cannot be a duration and is dropped.
func (h *histogram) observe(v float64, now time.Time, exemplar *dto.Exemplar) {
	if !(v >= 0) || math.IsInf(v, 0) {
		return
	}
	if h.schema < nativeSchema && now.Sub(h.started) >= resetAfter {
		h.reset(now)
	}
	h.add(v)
	if len(h.native) > maxNative {
		if now.Sub(h.started) >= resetAfter {
			h.reset(now)
			h.add(v)
		}
		for len(h.native) > maxNative {
			h.coarsen()
		}
	}
	if exemplar != nil {
		if h.exemplars == nil {
			h.exemplars = make([]*dto.Exemplar, len(h.classic))
		}
		h.exemplars[sort.SearchFloat64s(h.bounds, v)] = exemplar
	}
}

func (h *histogram) add(v float64) {
	h.count++
	h.sum += v
	h.classic[sort.SearchFloat64s(h.bounds, v)]++
	if v <= zeroThreshold {
		h.zero++
		return
	}
	key := nativeKey(v, h.schema)
	i, found := slices.BinarySearchFunc(h.native, key, func(b nativeBucket, k int32) int { return int(b.key - k) })
	if found {
		h.native[i].n++
		return
	}
	h.native = slices.Insert(h.native, i, nativeBucket{key: key, n: 1})
}

// nativeKey returns the index of v's bucket: key 0 ends at 1, key 8 at 2.
// 0.2 s is 0.8·2^-2, the 7th bound from ½, so key 6 − 3·8 + 0 = -18.
func nativeKey(v float64, schema int32) int32 {
	frac, exp := math.Frexp(v)
	key := int32(sort.SearchFloat64s(nativeFractions[:], frac) + (exp-1)*len(nativeFractions))
	for ; schema < nativeSchema; schema++ {
		key = coarser(key)
	}
	return key
}

// coarser returns the bucket of twice the width that holds bucket key.
func coarser(key int32) int32 { return (key + 1) >> 1 }

func (h *histogram) coarsen() {
	h.schema--
	merged := h.native[:0]
	for _, b := range h.native {
		b.key = coarser(b.key)
		if last := len(merged) - 1; last >= 0 && merged[last].key == b.key {
			merged[last].n += b.n
			continue
		}
		merged = append(merged, b)
	}
	h.native = merged
}

func (h *histogram) reset(now time.Time) {
	bounds := h.bounds
	*h = *newHistogram(bounds, now)
}

// write returns the histogram for the page. The exemplars in it are shared
// and never written again.
func (h *histogram) write(a *arenas) *dto.Histogram {
	out := a.histograms.take()
	put(&out.SampleCount, h.count)
	put(&out.SampleSum, h.sum)
	put(&out.Schema, h.schema)
	put(&out.ZeroThreshold, zeroThreshold)
	put(&out.ZeroCount, h.zero)
	out.CreatedTimestamp = h.created
	h.writeClassic(a, out)
	h.writeNative(a, out)
	out.Exemplars = out.Exemplars[:0]
	for _, e := range h.exemplars {
		if e != nil {
			out.Exemplars = append(out.Exemplars, e)
		}
	}
	return out
}

func (h *histogram) writeClassic(a *arenas, out *dto.Histogram) {
	out.Bucket = out.Bucket[:0]
	sum := uint64(0)
	for i, n := range h.classic {
		sum += n
		var exemplar *dto.Exemplar
		if h.exemplars != nil {
			exemplar = h.exemplars[i]
		}
		bound := &infinity
		if i < len(h.bounds) {
			bound = &h.bounds[i]
		} else if exemplar == nil {
			return // +Inf stands for itself only if it has an exemplar to carry
		}
		b := a.buckets.take()
		put(&b.CumulativeCount, sum)
		b.UpperBound, b.Exemplar = bound, exemplar
		out.Bucket = append(out.Bucket, b)
	}
}

// writeNative writes spans of neighbouring buckets and each bucket's
// difference to the one before. Up to two empty buckets are filled in, since
// a new span costs more than they do.
func (h *histogram) writeNative(a *arenas, out *dto.Histogram) {
	out.PositiveSpan, out.PositiveDelta = out.PositiveSpan[:0], out.PositiveDelta[:0]
	var (
		span   *dto.BucketSpan
		before int64
		next   int32
	)
	add := func(n int64) {
		*span.Length++
		out.PositiveDelta = append(out.PositiveDelta, n-before)
		before = n
	}
	for i, b := range h.native {
		gap := b.key - next
		if i == 0 || gap > 2 {
			span = a.spans.take()
			put(&span.Offset, gap)
			put(&span.Length, 0)
			out.PositiveSpan = append(out.PositiveSpan, span)
		} else {
			for range gap {
				add(0)
			}
		}
		add(int64(b.n))
		next = b.key + 1
	}
}
