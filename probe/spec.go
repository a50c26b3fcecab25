package probe

import (
	"context"
	"time"

	"tokprobe/probe/wire"
)

// ID names one watched thing: a probe of a model at a target. It is the base
// label set of every metric.
type ID struct {
	Target, Model, Probe string
}

// String returns "target/model/probe", for logs and hashes.
func (id ID) String() string { return id.Target + "/" + id.Model + "/" + id.Probe }

// Spec is one request to be measured. It is a value: two equal Specs send the
// same request (but for the nonce of a busted prompt).
type Spec struct {
	ID
	Protocol string // a wire dialect's name; empty means openai-chat
	Prompt   Prompt
	Limits   Limits
	Reuse    bool // take a kept-alive connection if there is one
	KeepText bool // keep the answer's text in the Result (at most 1 MiB)

	trial *trial // only in the requests of a calibration
}

// Limits bound one probe. Connect covers DNS, TCP and TLS; the others count
// from t0, the moment the connection is ready, and only token events are
// progress. A zero limit is no limit.
type Limits struct {
	Connect, FirstToken, Stall, Total time.Duration
}

// CacheMode says how a prompt meets a server's prefix cache.
type CacheMode string

const (
	// CacheBust begins the first message's text with 12 decimal digits and a
	// line feed, new each time. The default.
	CacheBust CacheMode = "bust"
	// CacheWarm sends the prompt unchanged.
	CacheWarm CacheMode = "warm"
)

// Prompt is what is asked. Files are read and defaults are set before it is
// built; a Prompt itself touches nothing.
type Prompt struct {
	Name     string
	Messages []wire.Message
	// InputTokens asks for a generated prompt of that many tokens, as the
	// endpoint counts them; Messages is empty then.
	InputTokens int
	// MaxTokens bounds the output; 0 means DefaultMaxTokens.
	MaxTokens int
	Cache     CacheMode // empty means CacheBust
	// ForceLength asks for exactly MaxTokens where the server can do that.
	ForceLength bool
	// Params are merged verbatim into the request body.
	Params map[string]any
	Expect Expect
}

// DefaultMaxTokens bounds the output of a prompt that does not say.
const DefaultMaxTokens = 64

// Expect is what a good answer must have; a miss is outcome assertion. The
// zero value expects nothing.
type Expect struct {
	Regex        string // RE2, matched against the visible text
	MinTokens    int
	FinishReason string
}

// Prober measures one request. It returns no error: a failure is an Outcome
// and an Err in the Result. A Result whose Cut is set was ended by ctx and is
// no outcome.
type Prober interface {
	Probe(ctx context.Context, spec Spec) Result
}

// Calibrator learns, outside any measured request, what an endpoint accepts
// for a spec: names of parameters, prompt sizes. Doing it again for what is
// already known costs nothing.
type Calibrator interface {
	Calibrate(ctx context.Context, spec Spec) Calibration
}

// Calibration is what a calibration cost. Its requests are recorded nowhere
// but count against the budget.
type Calibration struct {
	Requests                  int
	InputTokens, OutputTokens int64
	Err                       error // nothing could be learned; the probe itself will tell why
}
