package capacity

import (
	"time"

	"tokprobe/probe"
)

// Mode says how load is applied.
type Mode string

const (
	// Concurrency is a closed loop: N streams in flight, each sends its next
	// request when its last one ended.
	Concurrency Mode = "concurrency"
	// Rate is an open loop: requests are sent when their time has come,
	// whether or not earlier ones were answered.
	Rate Mode = "rate"
)

// Timing says when a request of a level happened, as durations since the
// level's clock started.
type Timing struct {
	// Intended is when it was due. In a closed loop that is when it was
	// handed out, so it equals Sent.
	Intended time.Duration
	// Sent is when the prober was called, Done when it returned.
	Sent, Done time.Duration
}

// Sample is one request of a level.
type Sample struct {
	Timing
	// T0 is when the connection was ready: Sent plus the setup.
	T0 time.Duration

	Outcome    probe.Outcome
	Kind       probe.Kind
	Cut        bool // ended by us at the end of the sweep: no outcome
	Err        string
	HTTPStatus int

	// Latencies from T0; use Latency for those from the intended time.
	TTFT, FirstContent, TPOT, E2E probe.Opt[time.Duration]
	// Gaps lie between neighbouring token events: event i is at
	// T0 + TTFT + Gaps[0] + … + Gaps[i−1]. nil unless the outcome is ok.
	Gaps []time.Duration

	Chunks       int
	OutputTokens probe.Opt[int64]
	PromptTokens probe.Opt[int64]
	CachedTokens probe.Opt[int64]
	FinishReason string
	RequestID    string

	Reused, Coalesced        bool
	ClientLag                time.Duration
	LagSuspect, CacheSuspect bool
	RetryAfter               probe.Opt[time.Duration]
	RateLimit                probe.RateLimit
}

// FromResult builds the sample of one finished probe.
func FromResult(r probe.Result, at Timing) Sample {
	s := Sample{
		Timing: at, T0: at.Sent,
		Outcome: r.Outcome, Kind: r.Kind(), Cut: r.Cut, Err: r.Err, HTTPStatus: r.HTTPStatus,
		TTFT: r.TTFT, FirstContent: r.FirstContent, TPOT: r.TPOT, E2E: r.E2E, Gaps: r.Gaps,
		Chunks: r.Chunks, OutputTokens: r.OutputTokens, PromptTokens: r.PromptTokens,
		CachedTokens: r.CachedTokens, FinishReason: r.FinishReason, RequestID: r.RequestID,
		Reused: r.Reused, Coalesced: r.Coalesced, ClientLag: r.ClientLag,
		LagSuspect: r.LagSuspect, CacheSuspect: r.CacheSuspect,
		RetryAfter: r.RetryAfter, RateLimit: r.RateLimit,
	}
	if setup, ok := r.Setup.Get(); ok {
		s.T0 += setup
	}
	return s
}

// OK says that the request was answered as it should be. Only such samples
// enter latency statistics and throughput.
func (s Sample) OK() bool { return s.Outcome == probe.OK && !s.Cut }

// SendDelay is how much later than intended the request could be sent: our own
// lateness and the opening of a connection. Latencies of an open loop hold it.
func (s Sample) SendDelay() time.Duration { return s.T0 - s.Intended }

// Latency turns a latency from T0 into the one that the mode reports: in an
// open loop it counts from the intended time, so a backlog cannot hide.
//
// With an intended time of 10 s, a T0 of 12 s and a TTFT of 200 ms, an open
// loop reports 2.2 s and a closed one 200 ms.
func (s Sample) Latency(m Mode, fromT0 probe.Opt[time.Duration]) probe.Opt[time.Duration] {
	if m == Rate && fromT0.OK {
		fromT0.V += s.SendDelay()
	}
	return fromT0
}

// tokensPerEvent is the weight of one token event: 512 tokens in 256 events
// give 2. It is 0 without a token event.
func (s Sample) tokensPerEvent() float64 {
	if !s.TTFT.OK {
		return 0
	}
	if n, ok := s.OutputTokens.Get(); ok {
		return float64(n) / float64(1+len(s.Gaps))
	}
	return 1
}

// eventsIn counts the token events in (from, to], times of the level's clock.
func (s Sample) eventsIn(from, to time.Duration) int {
	if !s.TTFT.OK {
		return 0
	}
	n, at := 0, s.T0+s.TTFT.V
	for i := 0; ; i++ {
		if at > from && at <= to {
			n++
		}
		if i == len(s.Gaps) || at > to {
			return n
		}
		at += s.Gaps[i]
	}
}

// end is when the answer was complete, or when the failure was known.
func (s Sample) end() time.Duration {
	if s.E2E.OK {
		return s.T0 + s.E2E.V
	}
	return s.Done
}
