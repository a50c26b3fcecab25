package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"tokprobe/probe/wire"
)

// EndpointConfig describes one target. Only BaseURL is needed.
type EndpointConfig struct {
	Target string
	// BaseURL has scheme and host, perhaps a path prefix, and no /v1.
	BaseURL string
	// Vendor is the provider of the target: taotoken, vllm, openai or
	// anthropic. ignore_eos is sent only for vllm (or with ForceLength).
	Vendor string
	// Headers returns the credentials and custom headers of one request. It
	// runs before t0 (phase auth), bounded by the connect limit; its error
	// is outcome auth and nothing is sent. nil sends none.
	Headers func(context.Context) (http.Header, error)
	// Key returns the API key of one request, to be sent in the header that
	// the request's dialect names (Bearer or x-api-key). Like Headers it runs
	// before t0 and its error is outcome auth. nil, or an empty key without an
	// error, sends none. Headers win where both give the same header.
	Key func(context.Context) (string, error)
	// KeySource says for the hint where the key comes from: "environment
	// variable TAOTOKEN_API_KEY". It never holds the key.
	KeySource string
	TLS       *tls.Config
	Proxy     func(*http.Request) (*url.URL, error)
	// ProxyHeader goes with every CONNECT to the proxy.
	ProxyHeader http.Header
	HTTP2       bool
	UserAgent   string // empty means "tokprobe"
	// Lag measures our own scheduling lag; nil reports none.
	Lag *Sentinel
	// DialContext and Transport replace the network in tests.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
	Transport   http.RoundTripper
}

// Endpoint measures requests to one target. It is safe for concurrent use.
type Endpoint struct {
	cfg  EndpointConfig
	base *url.URL
	// fresh opens a connection for every request, kept reuses them.
	fresh, kept http.RoundTripper
	learn       learnedStore
	listed      atomic.Pointer[modelList]

	asking      chan struct{} // held by who asks for credentials
	lastConnect atomic.Int64  // nanoseconds the latest TCP connect took; 0: none yet
	inFlight    atomic.Int64
	closed      atomic.Bool
}

// NewEndpoint prepares an endpoint; it opens no connection. The error says what
// is wrong with the base URL.
func NewEndpoint(cfg EndpointConfig) (*Endpoint, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	var parse *url.Error
	switch {
	case errors.As(err, &parse):
		// Without the URL itself, which may hold a password, and without the
		// part of it that some of these errors quote.
		what, _, _ := strings.Cut(parse.Err.Error(), ` "`)
		return nil, errors.New("base URL: " + what)
	case err != nil:
		return nil, fmt.Errorf("base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, fmt.Errorf("base URL: scheme %q: write http:// or https://", base.Scheme)
	case base.Host == "":
		return nil, errors.New("base URL: no host")
	case base.User != nil:
		return nil, errors.New("base URL: holds user info; give credentials as a key or a header")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("base URL: holds a query or fragment; write only scheme, host and path")
	}
	if base.Path == "" {
		base.Path = "/" // else JoinPath makes a path without its first slash
	}
	if base.Scheme == "https" && (cfg.TLS == nil || cfg.TLS.RootCAs == nil) {
		// They are read once per process. If that happened while no file can
		// be opened, every certificate would be refused from then on.
		_, _ = x509.SystemCertPool()
	}
	e := &Endpoint{cfg: cfg, base: base, fresh: cfg.Transport, kept: cfg.Transport, asking: make(chan struct{}, maxAsking)}
	if cfg.Transport == nil {
		e.fresh, e.kept = newTransport(cfg, true), newTransport(cfg, false)
	}
	return e, nil
}

// Close gives up the kept connections, those of running probes when they end.
// Probes of a closed endpoint work, but keep nothing.
func (e *Endpoint) Close() {
	e.closed.Store(true)
	e.closeIdle()
}

func (e *Endpoint) closeIdle() {
	for _, t := range []http.RoundTripper{e.fresh, e.kept} {
		if c, ok := t.(interface{ CloseIdleConnections() }); ok {
			c.CloseIdleConnections()
		}
	}
}

// leave ends one probe's use of the endpoint.
func (e *Endpoint) leave() {
	if e.inFlight.Add(-1) == 0 && e.closed.Load() {
		e.closeIdle()
	}
}

// Calibrate implements Calibrator.
func (e *Endpoint) Calibrate(ctx context.Context, spec Spec) Calibration {
	return e.learn.calibrate(ctx, e.cfg.Vendor, spec, e.Probe)
}

// Probe implements Prober: it sends one request and measures its answer.
func (e *Endpoint) Probe(ctx context.Context, spec Spec) Result {
	e.inFlight.Add(1)
	defer e.leave()
	e.cfg.Lag.enter()
	defer e.cfg.Lag.leave()

	x := &exchange{e: e, spec: spec, parent: ctx}
	x.r = Result{ID: spec.ID, Start: time.Now(), Protocol: spec.protocol()}
	x.conclude(x.run())
	return x.r
}

// message encodes what is sent. Its failures are ours alone.
func (e *Endpoint) message(spec Spec) (wire.Dialect, []byte, error) {
	d, ok := wire.Lookup(spec.protocol())
	if !ok {
		return d, nil, fmt.Errorf("protocol %q is not known", spec.Protocol)
	}
	req, err := e.learn.request(e.cfg.Vendor, spec)
	if err != nil {
		return d, nil, err
	}
	body, err := d.Encode(req)
	return d, body, err
}
