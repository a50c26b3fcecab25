package capacity

import (
	"encoding/json"
	"math"
	"time"

	"tokprobe/probe"
)

// sampleJSON is a Sample in a saved report: seconds since the level's clock
// started, latencies in seconds from t0, gaps in nanoseconds because there are
// many of them.
type sampleJSON struct {
	Intended     float64            `json:"intended_s"`
	Sent         float64            `json:"sent_s"`
	T0           float64            `json:"t0_s"`
	Done         float64            `json:"done_s"`
	Outcome      probe.Outcome      `json:"outcome,omitempty"`
	Kind         probe.Kind         `json:"kind,omitempty"`
	Cut          bool               `json:"cut,omitempty"`
	Err          string             `json:"error,omitempty"`
	HTTPStatus   int                `json:"http_status,omitempty"`
	TTFT         probe.Opt[float64] `json:"ttft_s,omitzero"`
	FirstContent probe.Opt[float64] `json:"first_content_s,omitzero"`
	TPOT         probe.Opt[float64] `json:"tpot_s,omitzero"`
	E2E          probe.Opt[float64] `json:"e2e_s,omitzero"`
	Gaps         []time.Duration    `json:"gaps_ns,omitempty"`
	Chunks       int                `json:"chunks,omitempty"`
	OutputTokens probe.Opt[int64]   `json:"output_tokens,omitzero"`
	PromptTokens probe.Opt[int64]   `json:"prompt_tokens,omitzero"`
	CachedTokens probe.Opt[int64]   `json:"cached_tokens,omitzero"`
	FinishReason string             `json:"finish_reason,omitempty"`
	RequestID    string             `json:"request_id,omitempty"`
	Reused       bool               `json:"reused,omitempty"`
	Coalesced    bool               `json:"coalesced,omitempty"`
	ClientLag    float64            `json:"client_lag_s,omitempty"`
	LagSuspect   bool               `json:"lag_suspect,omitempty"`
	CacheSuspect bool               `json:"cache_suspect,omitempty"`
	RetryAfter   probe.Opt[float64] `json:"retry_after_s,omitzero"`
}

// MarshalJSON writes one request of a saved report; what the rate-limit
// headers said is kept in the level's throttle only.
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal(sampleJSON{
		Intended: s.Intended.Seconds(), Sent: s.Sent.Seconds(), T0: s.T0.Seconds(), Done: s.Done.Seconds(),
		Outcome: s.Outcome, Kind: s.Kind, Cut: s.Cut, Err: s.Err, HTTPStatus: s.HTTPStatus,
		TTFT: seconds(s.TTFT), FirstContent: seconds(s.FirstContent), TPOT: seconds(s.TPOT), E2E: seconds(s.E2E),
		Gaps: s.Gaps, Chunks: s.Chunks, OutputTokens: s.OutputTokens, PromptTokens: s.PromptTokens,
		CachedTokens: s.CachedTokens, FinishReason: s.FinishReason, RequestID: s.RequestID,
		Reused: s.Reused, Coalesced: s.Coalesced, ClientLag: s.ClientLag.Seconds(),
		LagSuspect: s.LagSuspect, CacheSuspect: s.CacheSuspect, RetryAfter: seconds(s.RetryAfter),
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Sample) UnmarshalJSON(b []byte) error {
	var j sampleJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Sample{
		Timing: Timing{Intended: nanos(j.Intended), Sent: nanos(j.Sent), Done: nanos(j.Done)}, T0: nanos(j.T0),
		Outcome: j.Outcome, Kind: j.Kind, Cut: j.Cut, Err: j.Err, HTTPStatus: j.HTTPStatus,
		TTFT: duration(j.TTFT), FirstContent: duration(j.FirstContent), TPOT: duration(j.TPOT), E2E: duration(j.E2E),
		Gaps: j.Gaps, Chunks: j.Chunks, OutputTokens: j.OutputTokens, PromptTokens: j.PromptTokens,
		CachedTokens: j.CachedTokens, FinishReason: j.FinishReason, RequestID: j.RequestID,
		Reused: j.Reused, Coalesced: j.Coalesced, ClientLag: nanos(j.ClientLag),
		LagSuspect: j.LagSuspect, CacheSuspect: j.CacheSuspect, RetryAfter: duration(j.RetryAfter),
	}
	return nil
}

func seconds(d probe.Opt[time.Duration]) probe.Opt[float64] {
	return probe.Opt[float64]{V: d.V.Seconds(), OK: d.OK}
}

func nanos(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func duration(s probe.Opt[float64]) probe.Opt[time.Duration] {
	return probe.Opt[time.Duration]{V: nanos(s.V), OK: s.OK}
}
