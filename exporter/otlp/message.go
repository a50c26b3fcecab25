package otlp

import (
	"slices"
	"strconv"
	"time"

	"tokprobe/probe"
)

// The part of ExportMetricsServiceRequest that is needed, in the JSON form of
// OTLP: lowerCamelCase keys, 64-bit integers as decimal strings, enums as
// numbers.

type request struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeMetrics struct {
	Scope   scope     `json:"scope"`
	Metrics []*metric `json:"metrics"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type metric struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Unit        string        `json:"unit"`
	Histogram   histogramData `json:"histogram"`

	bounds []float64
}

type histogramData struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality"`
}

// cumulative is AGGREGATION_TEMPORALITY_CUMULATIVE: a push that was lost loses
// nothing, since the next one carries everything since startTimeUnixNano, and
// it is what Prometheus takes.
const cumulative = 2

type point struct {
	Attributes []attribute `json:"attributes"`
	Start      string      `json:"startTimeUnixNano"`
	Time       string      `json:"timeUnixNano"`
	Count      string      `json:"count"`
	Sum        float64     `json:"sum"`
	Counts     []string    `json:"bucketCounts"`
	Bounds     []float64   `json:"explicitBounds"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has one of the two.
type value struct {
	String *string `json:"stringValue,omitempty"`
	Int    *string `json:"intValue,omitempty"`
}

func text(key, s string) attribute { return attribute{key, value{String: &s}} }

func number(key string, n uint64) attribute {
	s := strconv.FormatUint(n, 10)
	return attribute{key, value{Int: &s}}
}

func same(a, b []attribute) bool {
	return slices.EqualFunc(a, b, func(x, y attribute) bool {
		return x.Key == y.Key && equal(x.Value.String, y.Value.String) && equal(x.Value.Int, y.Value.Int)
	})
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// message sums up the given streams at one moment; ok is false if they have
// measured nothing yet. The caller holds the lock.
func (r *Recorder) message(streams []*stream, now time.Time) (msg request, ok bool) {
	duration := &metric{Name: "gen_ai.client.operation.duration", Unit: "s", bounds: secondsBounds(),
		Description: "From the connection being ready to the end of the answer, or to the failure named by error.type."}
	firstChunk := &metric{Name: "gen_ai.client.operation.time_to_first_chunk", Unit: "s", bounds: secondsBounds(),
		Description: "From the connection being ready to the first token event of answers that were in order."}
	perChunk := &metric{Name: "gen_ai.client.operation.time_per_output_chunk", Unit: "s", bounds: secondsBounds(),
		Description: "Between neighbouring token events of answers that were in order."}
	usage := &metric{Name: "gen_ai.client.token.usage", Unit: "{token}", bounds: tokenBounds(),
		Description: "Tokens of one operation as the endpoint reported them."}
	for _, s := range streams {
		for _, outcome := range probe.Outcomes() {
			if outcome == probe.OK {
				duration.add(s, s.durations[outcome], now)
			} else {
				duration.add(s, s.durations[outcome], now, text("error.type", string(outcome)))
			}
		}
		firstChunk.add(s, &s.firstChunk, now)
		perChunk.add(s, &s.perChunk, now)
		usage.add(s, &s.input, now, text("gen_ai.token.type", "input"))
		usage.add(s, &s.output, now, text("gen_ai.token.type", "output"))
	}
	var list []*metric
	for _, m := range []*metric{duration, firstChunk, perChunk, usage} {
		if len(m.Histogram.Points) > 0 {
			list = append(list, m)
		}
	}
	scopes := []scopeMetrics{{Scope: scope{Name: "tokprobe", Version: r.cfg.Resource.Version}, Metrics: list}}
	return request{[]resourceMetrics{{resource{r.resource}, scopes}}}, len(list) > 0
}

// add appends a data point, unless nothing was observed.
func (m *metric) add(s *stream, h *histogram, now time.Time, more ...attribute) {
	if h == nil || h.count == 0 {
		return
	}
	if now.Before(s.start) { // the wall clock was set back
		now = s.start
	}
	counts := make([]string, buckets)
	for i, n := range h.counts {
		counts[i] = strconv.FormatUint(n, 10)
	}
	m.Histogram.Temporality = cumulative
	m.Histogram.Points = append(m.Histogram.Points, point{
		Attributes: slices.Concat(s.attrs, more),
		Start:      strconv.FormatInt(s.start.UnixNano(), 10), Time: strconv.FormatInt(now.UnixNano(), 10),
		Count: strconv.FormatUint(h.count, 10), Sum: h.sum, Counts: counts, Bounds: m.bounds,
	})
}
