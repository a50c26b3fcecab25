package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"time"
)

// keptConnections bounds the idle connections of one endpoint. A sweep keeps
// at most 1,000 requests in flight.
const keptConnections = 1024

// newTransport builds one of an endpoint's two transports. The fresh one is a
// transport of its own with keep-alives off, since a shared pool would hand a
// kept connection to a request that asked for a new one.
func newTransport(cfg EndpointConfig, fresh bool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(cfg.HTTP2)
	t := &http.Transport{
		Proxy:                  cfg.Proxy,
		ProxyConnectHeader:     cfg.ProxyHeader,
		DialContext:            cfg.DialContext,
		Protocols:              protocols,
		DisableCompression:     true, // decoded by header, above the stamping reader
		DisableKeepAlives:      fresh,
		MaxIdleConnsPerHost:    keptConnections,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    setupTime,
		MaxResponseHeaderBytes: 1 << 20,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode != http.StatusOK {
				return &proxyError{res.StatusCode}
			}
			return nil
		},
	}
	if cfg.TLS != nil {
		t.TLSClientConfig = cfg.TLS.Clone()
	}
	if t.DialContext == nil {
		t.DialContext = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	t.DialContext = tied(t.DialContext)
	return t
}

// proxyError is a proxy that refuses to open a tunnel.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy answered CONNECT with status %d %s", e.status, http.StatusText(e.status))
}

// setupPhase is what an attempt is waiting for before t0.
type setupPhase int

const (
	phaseConnect setupPhase = iota
	phaseDNS
	phaseTLS
)

// timeline is when the parts of one attempt happened. net/http calls the hooks
// from several goroutines, some of them after the round trip has returned.
type timeline struct {
	mu    sync.Mutex
	phase setupPhase

	dnsStart, connectStart, tlsStart time.Time
	dns, connect, tls                Opt[time.Duration]

	t0        time.Time // zero until the connection is ready
	reused    bool
	wrote     time.Time // the request was written
	firstByte time.Time // the first byte of a response came
	interims  int       // responses before the real one: 100, 103
}

// maxInterims bounds the responses before the real one. The bound on the size of
// headers counts each by itself, so without it they could go on for ever.
const maxInterims = 32

// interim notes a response that is not the real one.
func (l *timeline) interim() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.interims++; l.interims > maxInterims {
		return &interimError{}
	}
	return nil
}

type interimError struct{}

func (*interimError) Error() string {
	return fmt.Sprintf("more than %d responses with a status of 1xx and no other", maxInterims)
}

// headers moves the time of the first byte behind responses that were not the
// real one.
func (l *timeline) headers(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.interims > 0 {
		l.firstByte = at
	}
}

// trace returns the hooks that fill the timeline. ready runs when the
// connection is ready to take the request.
func (l *timeline) trace(ready func(t0 time.Time)) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { l.start(phaseDNS, &l.dnsStart) },
		DNSDone:  func(i httptrace.DNSDoneInfo) { l.end(&l.dns, &l.dnsStart, i.Err) },
		// Two address families may be tried at the same time: from the
		// first start to the first success.
		ConnectStart:      func(_, _ string) { l.start(phaseConnect, &l.connectStart) },
		ConnectDone:       func(_, _ string, err error) { l.end(&l.connect, &l.connectStart, err) },
		TLSHandshakeStart: func() { l.start(phaseTLS, &l.tlsStart) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { l.end(&l.tls, &l.tlsStart, err) },
		GotConn: func(i httptrace.GotConnInfo) {
			now := time.Now()
			l.mu.Lock()
			l.t0, l.reused = now, i.Reused
			l.mu.Unlock()
			ready(now)
		},
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err != nil { // it never was
				return
			}
			l.mu.Lock()
			l.wrote = time.Now()
			l.mu.Unlock()
		},
		Got1xxResponse: func(int, textproto.MIMEHeader) error { return l.interim() },
		GotFirstResponseByte: func() {
			l.mu.Lock()
			l.firstByte = time.Now()
			l.mu.Unlock()
		},
	}
}

func (l *timeline) start(p setupPhase, at *time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = p
	if at.IsZero() {
		*at = time.Now()
	}
}

func (l *timeline) end(d *Opt[time.Duration], start *time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && !d.OK && !start.IsZero() {
		*d = Some(time.Since(*start))
	}
}

// moments is a copy of what a timeline knows.
type moments struct {
	phase                setupPhase
	dns, connect, tls    Opt[time.Duration]
	t0, wrote, firstByte time.Time
	reused               bool
}

func (l *timeline) moments() moments {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := moments{
		phase: l.phase, reused: l.reused,
		t0: l.t0, wrote: l.wrote, firstByte: l.firstByte,
		dns: l.dns, connect: l.connect, tls: l.tls,
	}
	if m.reused {
		// A dial may have been begun and lost the race against a kept
		// connection that came free: it is no part of this request.
		m.dns, m.connect, m.tls = Opt[time.Duration]{}, Opt[time.Duration]{}, Opt[time.Duration]{}
	}
	return m
}
