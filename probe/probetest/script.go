package probetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// Script is a scripted endpoint: an http.RoundTripper whose answer comes at
// exactly planned moments of the clock of a testing/synctest bubble. It fires
// the hooks of net/http/httptrace that a real transport fires. The zero value
// answers at once with status 200 and an empty body.
type Script struct {
	Connect time.Duration // before the connection is ready (t0)
	Reused  bool          // say that the connection was a kept one
	Send    time.Duration // from t0 to the request being written
	Wait    time.Duration // from there to the response headers
	Status  int           // 0 is 200
	Header  http.Header
	Steps   []Step
	// End ends the body after the last step: nil is a proper end, Hang is
	// silence until the request's context ends.
	End error
	// Fail, if set, is what the round trip returns instead of a response,
	// when its headers would be due.
	Fail error

	mu       sync.Mutex
	requests []Request
}

// Request is one request a Script was sent.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
}

// Step is bytes that come in one read, After the step before (or the headers).
type Step struct {
	After time.Duration
	Data  string
}

type hang struct{}

func (hang) Error() string { return "silence" }

// Hang as a Script's End is silence.
var Hang error = hang{}

// Requests returns what was asked so far.
func (s *Script) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// RoundTrip implements http.RoundTripper.
func (s *Script) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	trace := httptrace.ContextClientTrace(ctx)
	if trace == nil {
		trace = &httptrace.ClientTrace{}
	}
	if err := sleep(ctx, s.Connect); err != nil {
		return nil, err
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Reused: s.Reused, WasIdle: s.Reused})
	}
	if err := s.take(req); err != nil {
		return nil, err
	}
	if err := sleep(ctx, s.Send); err != nil {
		return nil, err
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	if err := sleep(ctx, s.Wait); err != nil {
		return nil, err
	}
	if s.Fail != nil {
		return nil, s.Fail
	}
	if trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	return s.response(ctx, req), nil
}

// take notes the request.
func (s *Script) take(req *http.Request) error {
	r := Request{URL: req.URL.String(), Header: req.Header.Clone()}
	if req.Body != nil {
		defer req.Body.Close()
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return err
		}
		r.Body = body
	}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	return nil
}

func (s *Script) response(ctx context.Context, req *http.Request) *http.Response {
	status := s.Status
	if status == 0 {
		status = http.StatusOK
	}
	header := s.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: -1, Request: req,
		Body: &body{ctx: ctx, steps: s.Steps, end: s.End},
	}
}

// body sleeps before each step, so that a read returns when its step is due.
type body struct {
	ctx   context.Context
	steps []Step
	left  string // of the current step
	end   error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for b.left == "" {
		if len(b.steps) == 0 {
			return 0, b.finish()
		}
		if err := sleep(b.ctx, b.steps[0].After); err != nil {
			return 0, err
		}
		b.left, b.steps = b.steps[0].Data, b.steps[1:]
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

func (b *body) finish() error {
	switch b.end {
	case nil:
		return io.EOF
	case Hang:
		<-b.ctx.Done()
		return context.Cause(b.ctx)
	}
	return b.end
}

// Close implements io.Closer.
func (b *body) Close() error { return nil }

// sleep waits for d on the clock of the bubble, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
