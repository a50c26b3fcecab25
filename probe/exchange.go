package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"

	"tokprobe/probe/wire"
)

const (
	maxErrorBody  = 64 << 10
	errorBodyTime = 2 * time.Second // for the body of an error status
)

// exchange is one probe: a request, on a second connection where the first was
// a stale one, and its answer.
type exchange struct {
	e       *Endpoint
	spec    Spec
	parent  context.Context
	dialect wire.Dialect
	payload []byte
	creds   credentials
	r       Result
	limit   *limitError // the limit of ours that ended the probe, if any
	object  *wire.ErrorObject
	seen    stream
	tried   *attempt // the latest attempt; nil before the first
}

// run does the exchange and returns how it failed, or the zero failure.
func (x *exchange) run() failure {
	var err error
	x.dialect, x.payload, err = x.e.message(x.spec)
	if err != nil {
		return failure{Internal, "request: " + err.Error()}
	}
	a := x.newAttempt()
	defer func() { x.tried.end() }() // the latest, not this one
	if x.creds, err = x.e.credentials(a.ctx, x.dialect); err != nil {
		return x.failed(err, authFailure)
	}
	resp, err := x.send(a, x.spec.Reuse)
	if err != nil && x.stale(a, err) {
		a.end()
		x.r.StaleConnections++
		a = x.newAttempt()
		resp, err = x.send(a, false)
	}
	if err != nil {
		x.r.CertExpiry = certExpiry(nil, err)
		m := a.line.moments()
		return x.failed(err, func(err error) failure {
			if m.t0.IsZero() {
				return setupFailure(err, m)
			}
			return requestFailure(err, m)
		})
	}
	defer resp.Body.Close()
	x.head(resp)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return x.refused(a, resp)
	}
	return x.answer(a, resp)
}

// failed classifies err, unless it was the caller who ended the probe.
func (x *exchange) failed(err error, classify func(error) failure) failure {
	err = x.tried.reason(err)
	if !errors.As(err, &x.limit) && !isAnswer(err) && x.parent.Err() != nil {
		x.r.Cut = true
		return failure{}
	}
	return classify(err)
}

// isAnswer says whether err is something that the endpoint has said.
func isAnswer(err error) bool {
	var (
		object *wire.ErrorObject
		format *wire.FormatError
	)
	return errors.As(err, &object) || errors.As(err, &format)
}

// send does one round trip. GetBody stays nil and the transports follow no
// redirects, so exactly one request leaves.
func (x *exchange) send(a *attempt, reuse bool) (*http.Response, error) {
	ctx, made := withSetup(a.ctx)
	ctx = httptrace.WithClientTrace(ctx, a.line.trace(func(t0 time.Time) {
		made.ready.Store(true)
		a.dog.ready(t0)
	}))
	target := x.e.base.JoinPath(x.dialect.Path)
	req := (&http.Request{
		Method: http.MethodPost, URL: target, Host: target.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        x.header(),
		Body:          io.NopCloser(bytes.NewReader(x.payload)),
		ContentLength: int64(len(x.payload)),
	}).WithContext(ctx)
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	transport := x.e.fresh
	if reuse {
		transport = x.e.kept
	}
	sent := time.Now()
	resp, err := transport.RoundTrip(req)
	if err == nil {
		a.line.headers(time.Now())
	}
	if err == nil && a.line.moments().t0.IsZero() {
		a.line.mu.Lock()
		a.line.t0 = sent // a transport without hooks
		a.line.mu.Unlock()
		a.dog.ready(sent)
	}
	return resp, err
}

func (x *exchange) header() http.Header {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream"},
		// Else intermediaries may compress, which delays tokens.
		"Accept-Encoding": {"identity"},
		"User-Agent":      {"tokprobe"},
	}
	if x.e.cfg.UserAgent != "" {
		h.Set("User-Agent", x.e.cfg.UserAgent)
	}
	for name, value := range x.dialect.Headers {
		h.Set(name, value)
	}
	for name, values := range x.creds.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// head notes what the response headers say.
func (x *exchange) head(resp *http.Response) {
	x.r.HTTPStatus = resp.StatusCode
	x.r.HTTPVersion = httpVersion(resp)
	x.r.RequestID = requestID(resp.Header)
	x.r.CertExpiry = certExpiry(resp.TLS, nil)
	x.r.RateLimit, _ = rateLimit(resp.Header, time.Now())
}

// refused reads the body of a response that is not 2xx. The status decides
// whatever becomes of the body.
func (x *exchange) refused(a *attempt, resp *http.Response) failure {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 529:
		x.r.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the bare connection then, and its reads do not end
		// with any context.
		return failure{statusOutcome(resp.StatusCode, ""), refusal(resp, nil, nil)}
	}
	patience := time.AfterFunc(errorBodyTime, func() { a.cancel(nil) })
	defer patience.Stop()
	var body []byte
	if src, err := decoded(resp.Body, resp.Header.Get("Content-Encoding")); err == nil {
		body, _ = io.ReadAll(io.LimitReader(src, maxErrorBody))
	}
	code := ""
	if object, ok := wire.ParseErrorBody(body); ok {
		x.object, code = object, object.Code
	}
	return failure{statusOutcome(resp.StatusCode, code), refusal(resp, x.object, body)}
}

// answer reads a 2xx body as an event stream.
func (x *exchange) answer(a *attempt, resp *http.Response) failure {
	t0 := a.line.moments().t0
	body := &stampedBody{r: resp.Body, t0: t0}
	x.seen = stream{body: body, keepText: x.spec.KeepText || x.spec.Prompt.Expect.needsText()}
	src, err := decoded(body, resp.Header.Get("Content-Encoding"))
	if err == nil {
		err = x.seen.read(x.dialect.NewDecoder(src), a.dog.token)
	}
	a.dog.stop()
	x.seen.tally(&x.r)
	if err != nil {
		return x.failed(err, func(err error) failure {
			errors.As(err, &x.object)
			return bodyFailure(err, resp.ProtoMajor >= 2)
		})
	}
	if x.spec.Reuse {
		drain(a, resp.Body)
	}
	return finishOutcome(&x.seen)
}
