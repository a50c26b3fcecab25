package otlp

import (
	"slices"
	"time"

	"tokprobe/probe"
)

// buckets is how many each histogram has, the one above the last bound
// included.
const buckets = 15

// secondsBounds are 0.01·2^k, k = 0..13: the conventions' for durations.
func secondsBounds() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

// tokenBounds are 4^k, k = 0..13.
func tokenBounds() []float64 {
	return []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
}

// maxTokens is the most tokens one probe can be billed for, as on /metrics.
const maxTokens = 1_000_000_000

// stream is everything about one probe since start. The Recorder locks.
type stream struct {
	start time.Time
	attrs []attribute

	durations            map[probe.Outcome]*histogram
	firstChunk, perChunk histogram
	input, output        histogram
}

// histogram is cumulative since its stream's start. A value equal to a bound
// is in the bucket under it.
type histogram struct {
	counts [buckets]uint64
	count  uint64
	sum    float64
}

func (h *histogram) observe(bounds []float64, v float64) {
	if !(v >= 0) {
		return
	}
	i, _ := slices.BinarySearch(bounds, v)
	h.counts[i]++
	h.count++
	h.sum += v
}

// record leaves out what /metrics leaves out of its latencies: results that
// our own lag could explain, probes beside a sweep and those in a maintenance
// window. Tokens are counted all the same: they were billed.
func (s *stream) record(t probe.Tick, now time.Time) {
	r := t.Result
	s.recordTokens(r)
	if r.LagSuspect || t.Bystander || t.Maintenance {
		return
	}
	seconds := secondsBounds()
	if d, ok := duration(t, now).Get(); ok {
		outcome := r.Outcome
		if !slices.Contains(probe.Outcomes(), outcome) {
			outcome = probe.Internal
		}
		if s.durations[outcome] == nil {
			s.durations[outcome] = &histogram{}
		}
		s.durations[outcome].observe(seconds, d.Seconds())
	}
	if r.Outcome != probe.OK {
		return
	}
	if d, ok := r.TTFT.Get(); ok {
		s.firstChunk.observe(seconds, d.Seconds())
	}
	for _, gap := range r.Gaps {
		s.perChunk.observe(seconds, gap.Seconds())
	}
}

// recordTokens counts what the endpoint said it billed. A number of token
// events is no number of tokens, and the conventions forbid to report a guess.
func (s *stream) recordTokens(r probe.Result) {
	if n, ok := r.PromptTokens.Get(); ok && n >= 0 && n <= maxTokens {
		s.input.observe(tokenBounds(), float64(n))
	}
	if n, ok := r.OutputTokens.Get(); ok && n >= 0 && n <= maxTokens && r.OutputTokensSource == "usage" {
		s.output.observe(tokenBounds(), float64(n))
	}
}

// duration is E2E where the answer completed. Anything else lasted until now,
// when it is recorded: counted from t0 if that was reached, else from the
// start of the attempt. Started at 0 s, connected after 0.2 s and given up at
// 8.2 s: 8 s.
func duration(t probe.Tick, now time.Time) probe.Opt[time.Duration] {
	r := t.Result
	if r.E2E.OK || r.Outcome == probe.OK {
		return r.E2E
	}
	start := r.Start
	if start.IsZero() {
		start = t.Started
	}
	if start.IsZero() {
		return probe.Opt[time.Duration]{}
	}
	setup, _ := r.Setup.Get()
	return probe.Some(max(now.Sub(start)-setup, 0))
}
