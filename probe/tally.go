package probe

import (
	"fmt"
	"time"

	"tokprobe/probe/wire"
)

const (
	minTPOTSpan = time.Millisecond       // between first and last token event
	minTailWarn = 100 * time.Millisecond // a tail up to this is nothing to say
)

// tally writes what the stream has seen into the result: counts, times that
// exist for failures too, texts.
func (s *stream) tally(r *Result) {
	r.Chunks = s.chunks
	r.FinishReason, r.ServedModel = s.finish, s.model
	if r.RequestID == "" {
		r.RequestID = s.id
	}
	r.PromptTokens = known(s.usage.Prompt)
	r.CachedTokens = known(s.usage.Cached)
	r.ReasoningTokens = known(s.usage.Reasoning)
	switch {
	// A count of 0 beside received tokens is a server that does not count.
	case s.usage.Output.Known && (s.usage.Output.N > 0 || s.chunks == 0):
		r.OutputTokens, r.OutputTokensSource = Some(s.usage.Output.N), "usage"
	case s.chunks > 0:
		r.OutputTokens, r.OutputTokensSource = Some(int64(s.chunks)), "chunks"
	}
	if s.chunks > 0 {
		r.TTFT = Some(s.first)
		r.FirstContent = s.firstContent
		r.Coalesced = s.coalesced()
	}
	if s.chunks > 1 {
		r.MaxGap = Some(s.maxGap)
	}
	if s.complete {
		r.E2E = Some(s.end)
		if s.chunks > 0 {
			r.Tail = Some(s.end - s.last)
		}
	}
}

func known(c wire.Count) Opt[int64] { return Opt[int64]{V: c.N, OK: c.Known} }

// visibleTokens is the number of output tokens that were streamed: hidden
// thinking is billed, but no token event brought it.
func (s *stream) visibleTokens(r *Result) int64 {
	n := r.OutputTokens.V
	if r.OutputTokensSource == "usage" && !s.thinking && s.usage.Reasoning.Known {
		n -= s.usage.Reasoning.N
	}
	return n
}

// pace writes what only a good answer has: the time per output token, the
// gaps, and warnings about numbers that do not fit together. With first token
// at 300 ms, last at 510 ms and 4 tokens, TPOT is 70 ms.
func (s *stream) pace(r *Result) {
	r.Gaps = s.gaps
	n := s.visibleTokens(r)
	span := s.last - s.first
	if n >= 2 && span >= minTPOTSpan {
		r.TPOT = Some(span / time.Duration(n-1))
	}
	if tail := r.Tail.V; tail > max(minTailWarn, r.E2E.V/20) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the answer ended %s after its last token", tail.Round(time.Millisecond)))
	}
	if r.OutputTokensSource == "usage" && s.chunks > 0 {
		if per := float64(n) / float64(s.chunks); per < 0.8 || per > 8 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%d output tokens in %d token events: %.2f each, outside 0.8 to 8", n, s.chunks, per))
		}
	}
}
