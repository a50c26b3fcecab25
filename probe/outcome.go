package probe

// Outcome is how a probe ended: ok, or exactly one class of failure.
type Outcome string

// The closed list of outcomes.
const (
	OK Outcome = "ok"

	// The service failed the user.
	DNS               Outcome = "dns"
	Connect           Outcome = "connect"
	TLS               Outcome = "tls"
	ServerError       Outcome = "server_error"
	Overloaded        Outcome = "overloaded"
	TimeoutFirstToken Outcome = "timeout_first_token"
	Stall             Outcome = "stall"
	TimeoutTotal      Outcome = "timeout_total"
	Reset             Outcome = "reset"
	Truncated         Outcome = "truncated"
	StreamError       Outcome = "stream_error"
	BadStream         Outcome = "bad_stream"
	Empty             Outcome = "empty"

	// The answer came but is not what was asked for.
	Short         Outcome = "short"
	Assertion     Outcome = "assertion"
	ContentFilter Outcome = "content_filter"

	// The cause lies with us: our key, our request, our machine.
	Auth        Outcome = "auth"
	NotFound    Outcome = "not_found"
	BadRequest  Outcome = "bad_request"
	RateLimited Outcome = "rate_limited"
	Redirect    Outcome = "redirect"
	Internal    Outcome = "internal"
)

// Kind groups outcomes by who has to act. SLO verdicts go by kind.
type Kind string

const (
	KindOK      Kind = "ok"
	KindService Kind = "service" // bad for every SLI
	KindAnswer  Kind = "answer"  // bad for success only
	KindOurs    Kind = "ours"    // excluded: neither good nor bad
)

var outcomes = []struct {
	outcome Outcome
	kind    Kind
}{
	{OK, KindOK},
	{DNS, KindService}, {Connect, KindService}, {TLS, KindService},
	{ServerError, KindService}, {Overloaded, KindService},
	{TimeoutFirstToken, KindService}, {Stall, KindService}, {TimeoutTotal, KindService},
	{Reset, KindService}, {Truncated, KindService}, {StreamError, KindService},
	{BadStream, KindService}, {Empty, KindService},
	{Short, KindAnswer}, {Assertion, KindAnswer}, {ContentFilter, KindAnswer},
	{Auth, KindOurs}, {NotFound, KindOurs}, {BadRequest, KindOurs},
	{RateLimited, KindOurs}, {Redirect, KindOurs}, {Internal, KindOurs},
}

// Outcomes returns the closed list in its documented order, ok first.
func Outcomes() []Outcome {
	list := make([]Outcome, len(outcomes))
	for i, o := range outcomes {
		list[i] = o.outcome
	}
	return list
}

// Kind returns the kind an outcome has by itself. Result.Kind also knows the
// two cases in which the rest of the result moves it.
func (o Outcome) Kind() Kind {
	for _, row := range outcomes {
		if row.outcome == o {
			return row.kind
		}
	}
	return KindOurs
}
