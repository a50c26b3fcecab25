package sim

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
)

// Transport returns a transport that runs the handler in memory: what the
// handler flushes can be read at once, the trace of a request fires as over
// a socket, and time is the caller's, so a synctest bubble simulates minutes
// in milliseconds. Whatever host is asked for, this server answers. Each
// transport keeps connections alive by itself, as far as GotConnInfo.Reused
// goes; a request with Close set or "Connection: close" gets a fresh one.
func (s *Server) Transport() http.RoundTripper { return &memory{s: s} }

// memory is an in-memory http.RoundTripper.
type memory struct {
	s    *Server
	idle atomic.Int64 // kept-alive connections
}

// RoundTrip implements http.RoundTripper.
func (t *memory) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	keep := !req.Close && !strings.EqualFold(req.Header.Get("Connection"), "close")
	if err := t.connect(req, keep); err != nil {
		closeBody(req)
		return nil, err
	}
	r, err := inbound(req)
	if err != nil {
		return nil, err
	}
	trace := hooks(req)
	if trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	w := &memoryWriter{header: http.Header{}, started: make(chan struct{})}
	w.more.L = &w.mu
	serverCtx, cancel := context.WithCancel(context.Background())
	w.leave = func(err error) {
		w.fail(err, true) // first, or the handler could still answer
		cancel()
	}
	stop := context.AfterFunc(ctx, func() { w.leave(ctx.Err()) })
	w.ended = func() {
		stop()
		cancel()
		if keep {
			t.idle.Add(1)
		}
	}
	go w.serve(t.s, r.WithContext(serverCtx))
	<-w.started
	return w.response(req, trace)
}

// hooks returns the trace of a request, an empty one if it has none.
func hooks(req *http.Request) *httptrace.ClientTrace {
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil {
		return trace
	}
	return &httptrace.ClientTrace{}
}

// connect reports a connection to the trace, an idle one if it may.
func (t *memory) connect(req *http.Request, keep bool) error {
	trace := hooks(req)
	host := req.URL.Host
	if trace.GetConn != nil {
		trace.GetConn(host)
	}
	reused := false
	for n := t.idle.Load(); keep && n > 0 && !reused; n = t.idle.Load() {
		reused = t.idle.CompareAndSwap(n, n-1)
	}
	if !reused {
		var err error
		if t.s.isClosed() {
			err = &net.OpError{Op: "dial", Net: "tcp", Addr: memoryAddr(host), Err: syscall.ECONNREFUSED}
		}
		if trace.ConnectStart != nil {
			trace.ConnectStart("tcp", host)
		}
		if trace.ConnectDone != nil {
			trace.ConnectDone("tcp", host, err)
		}
		if err != nil {
			return err
		}
	}
	if trace.GotConn != nil {
		client, server := net.Pipe() // only to have something with addresses
		client.Close()
		server.Close()
		trace.GotConn(httptrace.GotConnInfo{Conn: client, Reused: reused, WasIdle: reused})
	}
	return nil
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// inbound turns a client's request into a server's, its body read to the end.
func inbound(req *http.Request) (*http.Request, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	r := &http.Request{
		Method: req.Method, URL: &url.URL{Path: req.URL.Path, RawPath: req.URL.RawPath, RawQuery: req.URL.RawQuery},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: req.Header.Clone(), Host: req.Host,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		RemoteAddr: "memory:0", RequestURI: req.URL.RequestURI(),
	}
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	return r, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

type memoryAddr string

func (memoryAddr) Network() string  { return "tcp" }
func (a memoryAddr) String() string { return string(a) }
