package probe

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"tokprobe/probe/wire"
)

// minLag is the smallest lateness of our own that can make a result suspect.
const minLag = 50 * time.Millisecond

// conclude turns how the exchange failed, or that it did not, into the result.
func (x *exchange) conclude(f failure) {
	r := &x.r
	var m moments
	if x.tried != nil {
		m = x.tried.line.moments()
		x.timing(x.tried, m)
	}
	x.e.proxySecrets(&x.creds.redact)
	if x.spec.KeepText {
		r.Text, r.ReasoningText = x.creds.redact.blank(string(x.seen.text)), x.creds.redact.blank(string(x.seen.reasoning))
	}
	x.names()
	if r.Cut {
		return
	}
	r.Outcome, r.Err = f.outcome, f.text
	if r.Outcome == "" {
		r.Outcome = OK
		x.e.learn.judge(x.e.cfg.Vendor, x.spec, string(x.seen.text), r)
	}
	switch r.Outcome {
	case OK:
		x.seen.pace(r)
		x.e.learn.notePrompt(x.spec, r)
	case BadRequest:
		x.e.learn.noteBadRequest(x.spec.Model, x.object)
	}
	r.Err = x.creds.redact.line(r.Err)
	x.lag(m)
	r.Hint = x.creds.redact.line(hint(x.facts()))
}

// names keeps credentials out of the names that the endpoint chose, but for the
// name of the model itself, which a header may repeat for a router.
func (x *exchange) names() {
	r, hide := &x.r, x.creds.redact.blank
	r.RequestID, r.FinishReason = hide(r.RequestID), hide(r.FinishReason)
	if r.ServedModel != x.spec.Model {
		r.ServedModel = hide(r.ServedModel)
	}
}

// lag notes how late we ourselves were while the result was being made, and
// whether that could explain it: the time to first token of a good answer, or
// a limit of ours that was reached. No lateness of ours makes a 503.
func (x *exchange) lag(m moments) {
	r := &x.r
	from, to := m.t0, time.Now()
	if from.IsZero() {
		from = r.Start
	}
	if r.TTFT.OK && x.limit == nil {
		to = from.Add(r.TTFT.V)
	}
	r.ClientLag = x.e.cfg.Lag.Max(from, to)
	explains := r.Outcome == OK || x.limit != nil
	// With a TTFT of 2 s a lateness of 200 ms is a tenth: not yet suspect.
	r.LagSuspect = explains && r.ClientLag > max(minLag, to.Sub(from)/10)
}

// facts are what a hint may mention.
func (x *exchange) facts() hintFacts {
	f := hintFacts{
		result: &x.r, limit: x.limit, key: x.creds.state, keySource: x.e.cfg.KeySource,
		host: x.e.base.Host,
	}
	if x.r.Outcome == NotFound {
		f.nearest = x.e.nearest(x.parent, x.spec.Model)
	}
	return f
}

// refusal says in one line what a response that is not 2xx said.
func refusal(resp *http.Response, object *wire.ErrorObject, body []byte) string {
	text := "HTTP " + strconv.Itoa(resp.StatusCode)
	if name := http.StatusText(resp.StatusCode); name != "" {
		text += " " + name
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
		to, _, _ = strings.Cut(to, "?") // a login page's query may hold a session
		return text + " to " + to
	}
	switch {
	case object != nil && object.Message != "":
		return text + ": " + object.Message
	case object != nil && object.Code != "":
		return text + ": code " + object.Code
	case object != nil && object.Type != "":
		return text + ": type " + object.Type
	case len(body) > 0 && body[0] == '<':
		return text + " with an HTML page"
	case len(body) > 0:
		return text + ": " + string(body)
	}
	return text
}
