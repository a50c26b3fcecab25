package exporter

import (
	dto "github.com/prometheus/client_model/go"
)

// arena hands out values of one type from chunks that the next page uses
// again. A thousand probes are 105,000 metrics and 72,000 buckets: made anew
// for each scrape they would be 33 MB of garbage, and it is the collector more
// than the page that makes streams wait. What it hands out is dirty: every
// field must be set.
type arena[T any] struct {
	chunks []*[chunkSize]T
	used   int
}

const chunkSize = 1024

func (a *arena[T]) take() *T {
	if a.used == len(a.chunks)*chunkSize {
		a.chunks = append(a.chunks, new([chunkSize]T))
	}
	v := &a.chunks[a.used/chunkSize][a.used%chunkSize]
	a.used++
	return v
}

// arenas are what a page is made of.
type arenas struct {
	metrics    arena[dto.Metric]
	counters   arena[dto.Counter]
	gauges     arena[dto.Gauge]
	histograms arena[dto.Histogram]
	buckets    arena[dto.Bucket]
	spans      arena[dto.BucketSpan]
}

// reset takes everything back.
func (a *arenas) reset() {
	a.metrics.used, a.counters.used, a.gauges.used = 0, 0, 0
	a.histograms.used, a.buckets.used, a.spans.used = 0, 0, 0
}

// put writes a value where a message points, and keeps what is there.
func put[T any](field **T, v T) {
	if *field == nil {
		*field = new(T)
	}
	**field = v
}
