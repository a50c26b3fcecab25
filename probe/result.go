package probe

import "time"

// Result is one finished probe. Durations come from the monotonic clock;
// Start is wall time for humans. Whatever was not measured is not OK, never 0.
type Result struct {
	ID
	Start    time.Time
	Protocol string

	Outcome Outcome
	Err     string // what happened, one line, bounded, without secrets
	Hint    string // what a human should do about it, one line
	Cut     bool   // ended by the caller's context: no outcome, not to be recorded

	HTTPStatus  int    // 0 before a response
	HTTPVersion string // "1.1"

	// Setup is everything before t0: auth, DNS, connect, TLS.
	Setup        Opt[time.Duration]
	TTFT         Opt[time.Duration] // t0 to the first token event
	FirstContent Opt[time.Duration] // t0 to the first visible text
	TPOT         Opt[time.Duration]
	E2E          Opt[time.Duration] // t0 to the end of the answer; only for complete answers
	Tail         Opt[time.Duration] // E2E − TTFT − (N−1)·TPOT = last token event to the end
	MaxGap       Opt[time.Duration]
	Gaps         []time.Duration // between neighbouring token events, the first 65,536; nil unless outcome ok
	Phases       Phases

	Chunks             int // token events
	OutputTokens       Opt[int64]
	OutputTokensSource string // "usage", "chunks" or empty
	PromptTokens       Opt[int64]
	CachedTokens       Opt[int64]
	ReasoningTokens    Opt[int64]
	FinishReason       string
	RequestID          string // bounded and cleaned, fit for an exemplar
	ServedModel        string // what the endpoint says it ran

	Reused           bool // the request went over a kept-alive connection
	StaleConnections int  // kept connections that died before the one used
	Coalesced        bool
	Warnings         []string
	RetryAfter       Opt[time.Duration] // what a 429 or 503 asked for
	RateLimit        RateLimit          // what the x-ratelimit headers said, on any status
	CertExpiry       time.Time          // earliest notAfter of the chain; zero without TLS
	ClientLag        time.Duration      // largest sentinel lateness within [t0, first token]
	LagSuspect       bool               // our own lag could explain this result
	CacheSuspect     bool               // a busted prompt was served from cache

	Text, ReasoningText string // only with Spec.KeepText
}

// RateLimit is what the x-ratelimit-limit-* and x-ratelimit-remaining-*
// headers of a response said about requests and tokens, as the endpoint counts
// them (usually per minute). The anthropic-ratelimit-* ones mean the same.
type RateLimit struct {
	LimitRequests, RemainingRequests Opt[int64]
	LimitTokens, RemainingTokens     Opt[int64]
	// Reset is how long until the one of the two that is used up refills.
	Reset Opt[time.Duration]
}

// Phases are the parts of a request before and around t0.
type Phases struct {
	DNS, Connect, TLS, Auth Opt[time.Duration] // before t0
	Send                    Opt[time.Duration] // t0 to the request being written
	Headers                 Opt[time.Duration] // request written to response headers
}

// Kind returns who has to act on the result: the kind of its outcome, but ours
// where our own lag could explain it, and for an empty answer whose tokens all
// went into hidden thinking (finish reason length).
func (r Result) Kind() Kind {
	if r.LagSuspect {
		return KindOurs
	}
	if r.Outcome == Empty && (r.FinishReason == "length" || r.FinishReason == "max_tokens") {
		return KindOurs
	}
	return r.Outcome.Kind()
}
