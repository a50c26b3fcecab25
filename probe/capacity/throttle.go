package capacity

import (
	"slices"
	"time"

	"tokprobe/probe"
)

// Throttle is what refusals (429) at a level said.
type Throttle struct {
	Count int `json:"count"`
	// Messages are the different error texts, bounded and clean already, at
	// most five.
	Messages []string `json:"messages,omitempty"`
	// The smallest x-ratelimit numbers seen on a refusal, or the limits on
	// any answer.
	LimitRequests     probe.Opt[int64] `json:"limit_requests,omitzero"`
	RemainingRequests probe.Opt[int64] `json:"remaining_requests,omitzero"`
	LimitTokens       probe.Opt[int64] `json:"limit_tokens,omitzero"`
	RemainingTokens   probe.Opt[int64] `json:"remaining_tokens,omitzero"`
	// RetryAfterS is the longest wait asked for, in seconds.
	RetryAfterS probe.Opt[float64] `json:"retry_after_s,omitzero"`
	// InFlight is how many accepted requests were in flight when requests
	// were refused: the 10 % quantile and the most. Both near the same
	// number means a limit of concurrency.
	InFlightLow probe.Opt[float64] `json:"in_flight_low,omitzero"`
	InFlightMax probe.Opt[float64] `json:"in_flight_max,omitzero"`
}

const maxMessages = 5

// throttleOf sums up the refusals of a level; nil if there were none.
func throttleOf(samples []Sample) *Throttle {
	t := &Throttle{}
	var wait time.Duration
	for _, s := range samples {
		t.LimitRequests = least(t.LimitRequests, s.RateLimit.LimitRequests)
		t.LimitTokens = least(t.LimitTokens, s.RateLimit.LimitTokens)
		if !refused(s) {
			continue
		}
		t.Count++
		if s.Err != "" && len(t.Messages) < maxMessages && !slices.Contains(t.Messages, s.Err) {
			t.Messages = append(t.Messages, s.Err)
		}
		t.RemainingRequests = least(t.RemainingRequests, s.RateLimit.RemainingRequests)
		t.RemainingTokens = least(t.RemainingTokens, s.RateLimit.RemainingTokens)
		wait = max(wait, s.RetryAfter.V)
	}
	if t.Count == 0 {
		return nil
	}
	if wait > 0 {
		t.RetryAfterS = probe.Some(wait.Seconds())
	}
	t.InFlightLow, t.InFlightMax = flyingAtRefusal(samples)
	return t
}

func refused(s Sample) bool { return s.Outcome == probe.RateLimited && !s.Cut }

func least(a, b probe.Opt[int64]) probe.Opt[int64] {
	if !a.OK || (b.OK && b.V < a.V) {
		return b
	}
	return a
}

// flyingAtRefusal counts, for every refused request, the accepted ones in
// flight when it was sent.
func flyingAtRefusal(samples []Sample) (low, most probe.Opt[float64]) {
	var starts, ends []time.Duration
	for _, s := range samples {
		if !refused(s) {
			starts, ends = append(starts, s.Sent), append(ends, s.end())
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	var counts []float64
	for _, s := range samples {
		if refused(s) {
			counts = append(counts, float64(upTo(starts, s.Sent)-upTo(ends, s.Sent)))
		}
	}
	slices.Sort(counts)
	return Quantile(counts, 0.1), Quantile(counts, 1)
}

// upTo counts the sorted times at or before t.
func upTo(sorted []time.Duration, t time.Duration) int {
	n, _ := slices.BinarySearch(sorted, t+1)
	return n
}

// ServerLoad is what the endpoint's own /metrics said during a level.
type ServerLoad struct {
	WaitingMax  probe.Opt[float64] `json:"waiting_max,omitzero"` // requests queued
	RunningMax  probe.Opt[float64] `json:"running_max,omitzero"` // requests being decoded
	KVUseMax    probe.Opt[float64] `json:"kv_use_max,omitzero"`  // share of the KV cache, 0…1
	Preemptions probe.Opt[float64] `json:"preemptions,omitzero"` // during the level
}
