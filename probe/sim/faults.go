package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Faults are what goes wrong. The zero value is a healthy endpoint. Rates are
// 0 to 1 and drawn for each request from the server's seed and the request's
// number, so a run is repeatable.
type Faults struct {
	// Models narrows the faults; empty means all.
	Models []string `json:"models,omitempty"`
	// TTFTFactor multiplies every engine step that prefills (time to first
	// token of an idle model), TPOTFactor every other one. 0 means 1.
	TTFTFactor float64 `json:"ttft_factor,omitempty"`
	TPOTFactor float64 `json:"tpot_factor,omitempty"`
	// ErrorRate of the requests fail as ErrorClass says (see Classes). Those
	// that fail inside the stream do so after ErrorAfterTokens tokens (empty
	// has none).
	ErrorRate        float64 `json:"error_rate,omitempty"`
	ErrorClass       string  `json:"error_class,omitempty"`
	ErrorAfterTokens int     `json:"error_after_tokens,omitempty"`
	// StallRate of the streams fall silent after StallAfterTokens tokens.
	StallRate        float64 `json:"stall_rate,omitempty"`
	StallAfterTokens int     `json:"stall_after_tokens,omitempty"`
	// CutRate of the streams break off after CutAfterTokens tokens: Cut
	// "truncate" closes in order but before the end of the body, "reset" by
	// TCP reset (50 ms later, so that the client can read what was sent).
	Cut            string  `json:"cut,omitempty"`
	CutRate        float64 `json:"cut_rate,omitempty"`
	CutAfterTokens int     `json:"cut_after_tokens,omitempty"`
	// Hang takes requests and answers nothing; /health stays 200.
	Hang bool `json:"hang,omitempty"`
	// Coalesce sends the whole answer in one write at its end, as a
	// buffering proxy does.
	Coalesce bool `json:"coalesce,omitempty"`
	// SlowHeaders holds back the headers of streams for so long, tokens due
	// meanwhile included. In JSON a duration like "300ms".
	SlowHeaders time.Duration `json:"-"`
	// Keepalive sends an SSE comment at this interval while a stream waits
	// for a token. In JSON a duration like "5s".
	Keepalive time.Duration `json:"-"`
}

// Class is a way for a request to fail, and the outcome a prober should
// report for it.
type Class struct {
	Name, Outcome string
	status        int    // 0: the failure is inside a 200 answer
	kind          string // error type
}

// Classes lists what Faults.ErrorClass may be.
func Classes() []Class {
	return []Class{
		{"http_500", "server_error", 500, "InternalServerError"},
		{"http_502", "server_error", 502, ""},
		{"http_503", "overloaded", 503, "ServiceUnavailableError"},
		{"http_529", "overloaded", 529, "overloaded_error"},
		{"http_429", "rate_limited", 429, "RateLimitError"},
		{"http_401", "auth", 401, "invalid_request_error"},
		{"http_404", "not_found", 404, "NotFoundError"},
		{"http_400", "bad_request", 400, "BadRequestError"},
		{"redirect", "redirect", 302, ""},
		{"stream_error", "stream_error", 0, ""},
		{"html_200", "bad_stream", 200, ""},
		{"json_200", "bad_stream", 0, ""},
		{"bad_json", "bad_stream", 0, ""},
		{"empty", "empty", 0, ""},
		{"content_filter", "content_filter", 0, ""},
	}
}

func classOf(name string) (Class, bool) {
	list := Classes()
	i := slices.IndexFunc(list, func(c Class) bool { return c.Name == name })
	if i < 0 {
		return Class{}, false
	}
	return list[i], true
}

// Check says what in f cannot be.
func (f Faults) Check() error {
	for name, rate := range map[string]float64{"error_rate": f.ErrorRate, "stall_rate": f.StallRate, "cut_rate": f.CutRate} {
		if !(rate >= 0 && rate <= 1) {
			return fmt.Errorf("%s is %v: a rate is between 0 and 1", name, rate)
		}
	}
	if !(f.TTFTFactor >= 0 && f.TPOTFactor >= 0) {
		return fmt.Errorf("ttft_factor %v, tpot_factor %v: factors are 0 (meaning 1) or more", f.TTFTFactor, f.TPOTFactor)
	}
	if f.ErrorAfterTokens < 0 || f.StallAfterTokens < 0 || f.CutAfterTokens < 0 || f.SlowHeaders < 0 || f.Keepalive < 0 {
		return fmt.Errorf("tokens and durations are 0 or more")
	}
	if _, ok := classOf(f.ErrorClass); !ok && (f.ErrorRate > 0 || f.ErrorClass != "") {
		names := []string{}
		for _, c := range Classes() {
			names = append(names, c.Name)
		}
		return fmt.Errorf("error_class %q is unknown: take one of %v", f.ErrorClass, names)
	}
	if f.Cut != "truncate" && f.Cut != "reset" && (f.CutRate > 0 || f.Cut != "") {
		return fmt.Errorf("cut %q is unknown: take truncate or reset", f.Cut)
	}
	return nil
}

func (f Faults) factors() (prefill, decode float64) {
	prefill, decode = f.TTFTFactor, f.TPOTFactor
	if prefill == 0 {
		prefill = 1
	}
	if decode == 0 {
		decode = 1
	}
	return prefill, decode
}

// never is a token number that no answer reaches.
const never = int(^uint(0) >> 1)

// fate is what the faults hold for one request.
type fate struct {
	Faults
	class          Class // zero: none
	failAt         int   // tokens after which class strikes inside the stream
	stallAt, cutAt int
}

// draw decides the fate of request n.
func (f Faults) draw(seed, n uint64) fate {
	rng := rand.New(rand.NewPCG(seed, n))
	errs, stall, cut := rng.Float64(), rng.Float64(), rng.Float64()
	t := fate{Faults: f, failAt: never, stallAt: never, cutAt: never}
	if errs < f.ErrorRate {
		t.class, _ = classOf(f.ErrorClass)
		t.failAt = f.ErrorAfterTokens
		if t.class.Name == "empty" {
			t.failAt = 0
		}
	}
	if stall < f.StallRate {
		t.stallAt = f.StallAfterTokens
	}
	if cut < f.CutRate {
		t.cutAt = f.CutAfterTokens
	}
	return t
}

// spelled is Faults with durations as text.
type spelled struct {
	*plain
	SlowHeaders string `json:"slow_headers,omitempty"`
	Keepalive   string `json:"keepalive,omitempty"`
}

type plain Faults

// MarshalJSON writes durations as text.
func (f Faults) MarshalJSON() ([]byte, error) {
	s := spelled{plain: (*plain)(&f)}
	if f.SlowHeaders > 0 {
		s.SlowHeaders = f.SlowHeaders.String()
	}
	if f.Keepalive > 0 {
		s.Keepalive = f.Keepalive.String()
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Faults) UnmarshalJSON(b []byte) (err error) {
	s := spelled{plain: (*plain)(f)}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return err
	}
	if s.SlowHeaders != "" {
		if f.SlowHeaders, err = time.ParseDuration(s.SlowHeaders); err != nil {
			return fmt.Errorf("slow_headers: %w", err)
		}
	}
	if s.Keepalive != "" {
		if f.Keepalive, err = time.ParseDuration(s.Keepalive); err != nil {
			return fmt.Errorf("keepalive: %w", err)
		}
	}
	return nil
}
