package probe

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// jsonResult is a Result as `tokprobe probe --json` prints it, in this order.
// What is unknown is absent, never 0.
type jsonResult struct {
	Time         string   `json:"time,omitempty"`
	Target       string   `json:"target,omitempty"`
	Model        string   `json:"model,omitempty"`
	Probe        string   `json:"probe,omitempty"`
	Protocol     string   `json:"protocol,omitempty"`
	Outcome      Outcome  `json:"outcome,omitempty"`
	Error        string   `json:"error,omitempty"`
	Hint         string   `json:"hint,omitempty"`
	HTTPStatus   int      `json:"http_status,omitempty"`
	HTTPVersion  string   `json:"http_version,omitempty"`
	Setup        *seconds `json:"setup_s,omitempty"`
	TTFT         *seconds `json:"ttft_s,omitempty"`
	FirstContent *seconds `json:"first_content_s,omitempty"`
	TPOT         *seconds `json:"tpot_s,omitempty"`
	E2E          *seconds `json:"e2e_s,omitempty"`
	Tail         *seconds `json:"tail_s,omitempty"`
	MaxGap       *seconds `json:"max_gap_s,omitempty"`

	Chunks             *int64 `json:"chunks,omitempty"`
	OutputTokens       *int64 `json:"output_tokens,omitempty"`
	OutputTokensSource string `json:"output_tokens_source,omitempty"`
	PromptTokens       *int64 `json:"prompt_tokens,omitempty"`
	CachedTokens       *int64 `json:"cached_tokens,omitempty"`
	ReasoningTokens    *int64 `json:"reasoning_tokens,omitempty"`
	FinishReason       string `json:"finish_reason,omitempty"`
	RequestID          string `json:"request_id,omitempty"`
	ServedModel        string `json:"served_model,omitempty"`

	Connection       string      `json:"connection,omitempty"`
	StaleConnections int         `json:"stale_connections,omitempty"`
	Coalesced        bool        `json:"coalesced"`
	RetryAfter       *seconds    `json:"retry_after_s,omitempty"`
	ClientLag        *seconds    `json:"client_lag_s,omitempty"`
	Phases           *jsonPhases `json:"phases,omitempty"`
	Warnings         []string    `json:"warnings,omitempty"`
	Text             string      `json:"text,omitempty"`
	ReasoningText    string      `json:"reasoning_text,omitempty"`
}

type jsonPhases struct {
	DNS     *seconds `json:"dns_s,omitempty"`
	Connect *seconds `json:"connect_s,omitempty"`
	TLS     *seconds `json:"tls_s,omitempty"`
	Auth    *seconds `json:"auth_s,omitempty"`
	Send    *seconds `json:"send_s,omitempty"`
	Headers *seconds `json:"headers_s,omitempty"`
}

// MarshalJSON writes the object of `tokprobe probe --json`. Times are seconds
// to the microsecond.
func (r Result) MarshalJSON() ([]byte, error) {
	out := jsonResult{
		Target: r.Target, Model: r.Model, Probe: r.Probe, Protocol: r.Protocol,
		Outcome: r.Outcome, Error: r.Err, Hint: r.Hint,
		HTTPStatus: r.HTTPStatus, HTTPVersion: r.HTTPVersion,
		Setup: secondsOf(r.Setup), TTFT: secondsOf(r.TTFT), FirstContent: secondsOf(r.FirstContent),
		TPOT: secondsOf(r.TPOT), E2E: secondsOf(r.E2E), Tail: secondsOf(r.Tail), MaxGap: secondsOf(r.MaxGap),
		PromptTokens: countOf(r.PromptTokens), CachedTokens: countOf(r.CachedTokens),
		ReasoningTokens: countOf(r.ReasoningTokens),
		FinishReason:    r.FinishReason, RequestID: r.RequestID, ServedModel: r.ServedModel,
		StaleConnections: r.StaleConnections, Coalesced: r.Coalesced,
		RetryAfter: secondsOf(r.RetryAfter), Phases: phasesOf(r.Phases), Warnings: r.Warnings,
		Text: r.Text, ReasoningText: r.ReasoningText,
	}
	if !r.Start.IsZero() {
		out.Time = r.Start.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if r.OutputTokens.OK && (r.Chunks > 0 || r.OutputTokensSource == "usage") {
		out.OutputTokens, out.OutputTokensSource = countOf(r.OutputTokens), r.OutputTokensSource
	}
	answered := r.HTTPStatus != 0
	if answered || r.Chunks > 0 {
		out.Chunks = countOf(Some(int64(r.Chunks)))
	}
	if answered || r.Setup.OK {
		out.Connection = connection(r.Reused)
	}
	if r.ClientLag > 0 {
		out.ClientLag = secondsOf(Some(r.ClientLag))
	}
	return json.Marshal(out)
}

func connection(reused bool) string {
	if reused {
		return "reused"
	}
	return "fresh"
}

func phasesOf(p Phases) *jsonPhases {
	out := jsonPhases{secondsOf(p.DNS), secondsOf(p.Connect), secondsOf(p.TLS), secondsOf(p.Auth), secondsOf(p.Send), secondsOf(p.Headers)}
	if out == (jsonPhases{}) {
		return nil
	}
	return &out
}

func secondsOf(d Opt[time.Duration]) *seconds {
	if !d.OK {
		return nil
	}
	s := seconds(d.V)
	return &s
}

func countOf(n Opt[int64]) *int64 {
	if !n.OK {
		return nil
	}
	return &n.V
}

// seconds is a duration that JSON shows in seconds, rounded to the microsecond
// and never with an exponent: 20.0004999 ms is 0.02 and 1 µs is 0.000001.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	micros := int64(time.Duration(s).Round(time.Microsecond) / time.Microsecond)
	sign := ""
	if micros < 0 {
		sign, micros = "-", -micros
	}
	whole, part := micros/1e6, micros%1e6
	digits := sign + strconv.FormatInt(whole, 10)
	if part != 0 {
		padded := strconv.FormatInt(part+1e6, 10) // 1 and six digits
		digits += "." + strings.TrimRight(padded[1:], "0")
	}
	return []byte(digits), nil
}
