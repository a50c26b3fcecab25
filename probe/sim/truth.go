package sim

import (
	"encoding/json"
	"maps"
	"sync"
	"time"
)

// Record is the truth about one request. Times that did not happen are zero;
// differences of times are monotonic.
type Record struct {
	// ID is the x-request-id of the answer; the id in its body ends with it.
	ID       string
	Model    string
	Protocol string
	Stream   bool
	// Arrival is when the headers of the request had been read.
	Arrival time.Time
	// PrefillStart is when the engine took the request from its queue.
	PrefillStart time.Time
	// FirstToken and LastToken are taken right before the write of the event
	// that carries the token, as is every one of TokenTimes (offsets from
	// Arrival, only with Config.TokenTimes).
	FirstToken, LastToken time.Time
	TokenTimes            []time.Duration
	End                   time.Time

	PromptTokens int
	CachedTokens int
	// Tokens is what was billed: hidden thinking included, and of a request
	// that ended early what was written until then.
	Tokens          int
	ReasoningTokens int
	// StreamedTokens is what the client was sent: Tokens less hidden thinking.
	StreamedTokens int
	FinishReason   string
	// Outcome is what a prober should report: ok, a class of failure, or
	// "cancelled" if the client left an answer that was in order.
	Outcome string
	// Cancelled says that the client left before the end.
	Cancelled bool
	// Status is the HTTP status sent; 0 if there was none.
	Status int
}

// TTFT is the true time to first token: arrival to its write. False without one.
func (r Record) TTFT() (time.Duration, bool) {
	return r.FirstToken.Sub(r.Arrival), !r.FirstToken.IsZero()
}

// TPOT is the true time per output token: first to last written token over
// the streamed tokens less one. False with fewer than two of them, or when
// less than a millisecond lies between first and last (one write, a buffer).
func (r Record) TPOT() (time.Duration, bool) {
	n := r.StreamedTokens - 1
	span := r.LastToken.Sub(r.FirstToken)
	if r.FirstToken.IsZero() || n < 1 || span < time.Millisecond {
		return 0, false
	}
	return span / time.Duration(n), true
}

// MarshalJSON gives durations in seconds from arrival; what did not happen is
// absent.
func (r Record) MarshalJSON() ([]byte, error) {
	since := func(t time.Time) *float64 {
		if t.IsZero() {
			return nil
		}
		s := t.Sub(r.Arrival).Seconds()
		return &s
	}
	times := make([]float64, len(r.TokenTimes))
	for i, d := range r.TokenTimes {
		times[i] = d.Seconds()
	}
	return json.Marshal(struct {
		ID              string    `json:"id"`
		Model           string    `json:"model"`
		Protocol        string    `json:"protocol"`
		Stream          bool      `json:"stream"`
		Arrival         time.Time `json:"arrival"`
		Queue           *float64  `json:"prefill_start_s,omitempty"`
		First           *float64  `json:"first_token_s,omitempty"`
		Last            *float64  `json:"last_token_s,omitempty"`
		End             *float64  `json:"end_s,omitempty"`
		Times           []float64 `json:"token_times_s,omitempty"`
		PromptTokens    int       `json:"prompt_tokens"`
		CachedTokens    int       `json:"cached_tokens"`
		Tokens          int       `json:"tokens"`
		ReasoningTokens int       `json:"reasoning_tokens"`
		StreamedTokens  int       `json:"streamed_tokens"`
		FinishReason    string    `json:"finish_reason,omitempty"`
		Outcome         string    `json:"outcome"`
		Cancelled       bool      `json:"cancelled"`
		Status          int       `json:"status,omitempty"`
	}{
		r.ID, r.Model, r.Protocol, r.Stream, r.Arrival, since(r.PrefillStart), since(r.FirstToken), since(r.LastToken),
		since(r.End), times, r.PromptTokens, r.CachedTokens, r.Tokens, r.ReasoningTokens, r.StreamedTokens, r.FinishReason, r.Outcome, r.Cancelled, r.Status,
	})
}

// Stats counts every completion request since the start, whatever the ring
// of records has forgotten.
type Stats struct {
	Requests        int            `json:"requests"` // ended ones
	InFlight        int            `json:"in_flight"`
	MaxInFlight     int            `json:"max_in_flight"`
	PromptTokens    int            `json:"prompt_tokens"`
	CachedTokens    int            `json:"cached_tokens"`
	OutputTokens    int            `json:"output_tokens"`
	ReasoningTokens int            `json:"reasoning_tokens"`
	Cancelled       int            `json:"cancelled"`
	Outcomes        map[string]int `json:"outcomes"`
}

// truth keeps records and stats.
type truth struct {
	limit int
	mu    sync.Mutex
	ring  []Record
	next  int // slot of the oldest record once the ring is full
	stats Stats
}

func (t *truth) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.InFlight++
	t.stats.MaxInFlight = max(t.stats.MaxInFlight, t.stats.InFlight)
}

func (t *truth) end(r Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.stats
	if s.Outcomes == nil {
		s.Outcomes = map[string]int{}
	}
	s.InFlight--
	s.Requests++
	s.Outcomes[r.Outcome]++
	s.PromptTokens += r.PromptTokens
	s.CachedTokens += r.CachedTokens
	s.OutputTokens += r.Tokens
	s.ReasoningTokens += r.ReasoningTokens
	if r.Cancelled {
		s.Cancelled++
	}
	if len(t.ring) < t.limit {
		t.ring = append(t.ring, r)
		return
	}
	t.ring[t.next] = r
	t.next = (t.next + 1) % t.limit
}

// Records returns what became of the last requests that ended, in the order
// of their ends.
func (s *Server) Records() []Record {
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	ring, next := s.truth.ring, s.truth.next
	return append(append(make([]Record, 0, len(ring)), ring[next:]...), ring[:next]...)
}

// Stats returns the totals since the start.
func (s *Server) Stats() Stats {
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	st := s.truth.stats
	st.Outcomes = maps.Clone(st.Outcomes)
	return st
}
