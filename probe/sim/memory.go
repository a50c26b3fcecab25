package sim

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"syscall"
)

// errBodyClosed is what a reader gets after it closed the body.
var errBodyClosed = errors.New("http: read on closed response body")

// memoryWriter is the answer of one request in memory: the handler's writer
// and the client's body. Its buffer has no bound, like the window of a client
// that reads.
type memoryWriter struct {
	header  http.Header
	started chan struct{} // closed when there is a response, or none to come
	leave   func(error)   // the client goes away
	ended   func()        // the body was read to its proper end

	mu     sync.Mutex
	more   sync.Cond
	status int
	sent   http.Header // as it was at WriteHeader
	opened bool        // started is closed
	buf    []byte
	err    error // after buf; io.EOF at the proper end
}

// serve runs the handler to its end.
func (w *memoryWriter) serve(h http.Handler, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // it is that very value
				panic(p)
			}
			w.fail(io.ErrUnexpectedEOF, false)
		}
	}()
	h.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	w.fail(io.EOF, false)
}

// Header implements http.ResponseWriter.
func (w *memoryWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. Unlike over a socket the client
// sees the headers at once, which nothing here depends on.
func (w *memoryWriter) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status != 0 || w.err != nil {
		return
	}
	w.status = status
	w.sent = w.header.Clone()
	w.open()
}

func (w *memoryWriter) open() {
	if !w.opened {
		w.opened = true
		close(w.started)
	}
}

// Write implements http.ResponseWriter.
func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	w.more.Broadcast()
	return len(p), nil
}

// Flush implements http.Flusher.
func (w *memoryWriter) Flush() { w.WriteHeader(http.StatusOK) }

// cut ends the body before its end.
func (w *memoryWriter) cut(reset bool) {
	if reset {
		w.fail(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, false)
		return
	}
	w.fail(io.ErrUnexpectedEOF, false)
}

// fail ends the body with err, once; what was written before can still be
// read unless drop is set.
func (w *memoryWriter) fail(err error, drop bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		if drop {
			w.buf = nil
		}
	}
	w.open()
	w.more.Broadcast()
}

// response is what the client gets, once started.
func (w *memoryWriter) response(req *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		return nil, w.err
	}
	if trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	resp := &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Body: (*memoryBody)(w), ContentLength: -1, Request: req,
	}
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		resp.ContentLength = n
	} else {
		resp.TransferEncoding = []string{"chunked"}
	}
	return resp, nil
}

// memoryBody is the reading side.
type memoryBody memoryWriter

// Read returns what the handler wrote so far, or waits for more.
func (b *memoryBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	for len(b.buf) == 0 && b.err == nil {
		b.more.Wait()
	}
	n := copy(p, b.buf)
	b.buf = b.buf[n:]
	err := b.err
	ended := b.ended
	if n == 0 && err == io.EOF { //nolint:errorlint // it is that very value
		b.ended = nil
	}
	b.mu.Unlock()
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	if err == io.EOF && ended != nil { //nolint:errorlint
		ended()
	}
	return 0, err
}

// Close ends the exchange; the handler sees a client that left.
func (b *memoryBody) Close() error {
	b.leave(errBodyClosed)
	return nil
}
