package probe_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tokprobe/probe"
)

// listener serves raw connections until the test ends.
func listener(t *testing.T, serve func(conn *net.TCPConn, request func() error)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				serve(c.(*net.TCPConn), func() error {
					req, err := http.ReadRequest(in)
					if err != nil {
						return err
					}
					_, err = io.Copy(io.Discard, req.Body)
					return err
				})
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// closedPort returns an address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// TestConnectionFailures tells apart what can go wrong without an answer.
func TestConnectionFailures(t *testing.T) {
	url := func(base string) probe.EndpointConfig { return probe.EndpointConfig{BaseURL: base} }
	silent := listener(t, func(c *net.TCPConn, _ func() error) { _, _ = io.Copy(io.Discard, c) })
	for _, c := range []struct {
		name    string
		cfg     probe.EndpointConfig
		outcome probe.Outcome
		err     string // part of it
	}{
		{"unknown name", probe.EndpointConfig{BaseURL: "http://no-such-host.invalid", DialContext: (&net.Dialer{Resolver: &net.Resolver{
			PreferGo: true,
			Dial:     func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no resolver here") },
		}}).DialContext}, probe.DNS, "no-such-host.invalid"},
		{"hung resolver", probe.EndpointConfig{BaseURL: "http://slow-host.invalid", DialContext: (&net.Dialer{Resolver: &net.Resolver{
			PreferGo: true,
			Dial:     func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() },
		}}).DialContext}, probe.DNS, "name lookup not done within the connect limit of 500ms"},
		{"closed port", url("http://" + closedPort(t)), probe.Connect, "connection refused"},
		{"closed port, https", url("https://" + closedPort(t)), probe.Connect, "connection refused"},
		{"https to plain HTTP", url(strings.Replace(listener(t, func(c *net.TCPConn, request func() error) {
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = request()
		}), "http:", "https:", 1)), probe.TLS, "first record does not look like a TLS handshake"},
		{"https to silence", url(strings.Replace(silent, "http:", "https:", 1)), probe.TLS, "TLS handshake not done within the connect limit of 500ms"},
		{"closed without a byte", url(listener(t, func(_ *net.TCPConn, request func() error) { _ = request() })),
			probe.Reset, "before any byte"},
		{"reset without a byte", url(listener(t, func(c *net.TCPConn, request func() error) { _ = request(); _ = c.SetLinger(0) })),
			probe.Reset, "before any byte"},
		{"closed before the request", url(listener(t, func(*net.TCPConn, func() error) {})), probe.Reset, "before any byte"},
		{"closed inside the headers", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 200 O")
		})), probe.Truncated, "inside its headers"},
		{"no HTTP", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n\x1b[31m")
		})), probe.BadStream, "the answer is no HTTP"},
		{"broken chunks", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, answer+chunk(tok("a"))+"zz\r\n")
			_ = request()
		})), probe.BadStream, "broken transfer encoding"},
		{"brotli", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd")
		})), probe.BadStream, "Content-Encoding br"},
		{"no gzip", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\ndata: {\"choices\":[]}")
		})), probe.BadStream, "compressed body: gzip: invalid header"},
		{"no content", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 204 No Content\r\n\r\n")
		})), probe.Truncated, "ended before the answer did"},
		{"error body that never ends", url(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk("half a reason"))
			_ = request()
		})), probe.ServerError, "HTTP 500 Internal Server Error: half a reason"},
		{"proxy refused", probe.EndpointConfig{BaseURL: "http://t.test", Proxy: proxy("http://user:hunter22@" + closedPort(t) + "/?q=secret")},
			probe.Connect, "proxyconnect"},
		{"proxy without tunnels", probe.EndpointConfig{BaseURL: "https://t.test", Proxy: proxy(listener(t, func(c *net.TCPConn, request func() error) {
			_ = request()
			io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			_ = request()
		}))}, probe.Connect, "the proxy answered CONNECT with status 407"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := spec()
			s.Limits.FirstToken = 10 * time.Second
			r := endpoint(t, c.cfg).Probe(t.Context(), s)
			if r.Outcome != c.outcome || !strings.Contains(r.Err, c.err) {
				t.Errorf("%s: %s; want %s: …%s…", r.Outcome, r.Err, c.outcome, c.err)
			}
			if r.Hint == "" || strings.Contains(r.Err+r.Hint, "hunter22") || strings.Contains(r.Err, "secret") || strings.ContainsAny(r.Err, "\x1b\r\n") {
				t.Errorf("err %q, hint %q", r.Err, r.Hint)
			}
		})
	}
}

func proxy(address string) func(*http.Request) (*url.URL, error) {
	u, err := url.Parse(address)
	return func(*http.Request) (*url.URL, error) { return u, err }
}

// certificate makes a certificate for 127.0.0.1 signed by itself.
func certificate(t *testing.T, name string, from, to time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(name); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func stream(w http.ResponseWriter, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range pieces {
		io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

func TestTLS(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	for _, c := range []struct {
		name, host string
		from, to   time.Time
		trusted    bool
		http2      bool
		outcome    probe.Outcome
		err        string
		version    string
	}{
		{"good", "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), true, false, probe.OK, "", "1.1"},
		{"good, HTTP/2", "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), true, true, probe.OK, "", "2"},
		{"expired", "127.0.0.1", now.Add(-2 * time.Hour), now.Add(-time.Hour), true, false, probe.TLS, "expired", ""},
		{"wrong name", "other.test", now.Add(-time.Hour), now.Add(time.Hour), true, false, probe.TLS, "127.0.0.1", ""},
		{"unknown CA", "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), false, false, probe.TLS, "unknown authority", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cert, pool := certificate(t, c.host, c.from, c.to)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				stream(w, tok("a"), stop+done)
			}))
			server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			server.EnableHTTP2 = true
			server.Config.ErrorLog = quiet()
			server.StartTLS()
			defer server.Close()
			cfg := probe.EndpointConfig{BaseURL: server.URL, HTTP2: c.http2, TLS: &tls.Config{}}
			if c.trusted {
				cfg.TLS.RootCAs = pool
			}
			r := endpoint(t, cfg).Probe(t.Context(), spec())
			if r.Outcome != c.outcome || !strings.Contains(r.Err, c.err) || r.HTTPVersion != c.version {
				t.Errorf("%s over %q: %s", r.Outcome, r.HTTPVersion, r.Err)
			}
			if !r.CertExpiry.Equal(c.to) {
				t.Errorf("certificate expires %s, want %s", r.CertExpiry, c.to)
			}
			if p := r.Phases; p.TLS.OK != (c.outcome == probe.OK) || !p.Connect.OK || p.DNS.OK {
				t.Errorf("phases %+v", p)
			}
			if c.outcome == probe.OK && r.Setup.V < r.Phases.Connect.V+r.Phases.TLS.V {
				t.Errorf("setup %s is less than its parts %+v", r.Setup.V, r.Phases)
			}
		})
	}
}

// TestFreshAndKept: fresh connections by default, kept ones with Reuse.
func TestFreshAndKept(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		var opened atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, tok("a"), stop+done)
		}))
		server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				opened.Add(1)
			}
		}
		server.Start()
		defer server.Close()
		e := endpoint(t, probe.EndpointConfig{BaseURL: server.URL})
		s := spec()
		s.Reuse = reuse
		for i := range 3 {
			r := e.Probe(t.Context(), s)
			kept := reuse && i > 0
			if r.Outcome != probe.OK || r.Reused != kept || r.Phases.Connect.OK == kept || r.StaleConnections != 0 {
				t.Errorf("reuse %v, probe %d: %s %s, reused %v, connect %v", reuse, i, r.Outcome, r.Err, r.Reused, r.Phases.Connect)
			}
		}
		want := int32(3)
		if reuse {
			want = 1
		}
		if n := opened.Load(); n != want {
			t.Errorf("reuse %v: %d connections, want %d", reuse, n, want)
		}
	}
}

// TestStaleConnection: a kept connection that dies before any byte of a
// response is replaced once, by a fresh one with a new clock; later it is an
// outage. Nothing else is ever sent twice.
func TestStaleConnection(t *testing.T) {
	for _, c := range []struct {
		name     string
		die      func(c *net.TCPConn) // what becomes of the second request of a connection
		fresh    bool                 // whether new connections go on answering
		outcome  probe.Outcome
		stale    int
		requests int32 // that the second probe made
	}{
		{"closed at once", func(*net.TCPConn) {}, true, probe.OK, 1, 2},
		{"reset at once", func(c *net.TCPConn) { _ = c.SetLinger(0) }, true, probe.OK, 1, 2},
		{"closed late", func(*net.TCPConn) { time.Sleep(400 * ms) }, true, probe.Reset, 0, 1},
		{"closed inside the headers", func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 200 OK\r\n") }, true, probe.Truncated, 0, 1},
		{"closed twice", func(*net.TCPConn) {}, false, probe.Reset, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests, connections atomic.Int32
			address := listener(t, func(conn *net.TCPConn, request func() error) {
				first := connections.Add(1) == 1
				for n := 0; request() == nil; n++ {
					requests.Add(1)
					if n > 0 || !first && !c.fresh {
						c.die(conn)
						return
					}
					io.WriteString(conn, answer+chunk(tok("a"))+chunk(stop+done)+"0\r\n\r\n")
				}
			})
			// With this header net/http takes a POST for safe to repeat, and
			// repeats it by itself if it can get the body once more.
			idempotent := func(context.Context) (http.Header, error) { return http.Header{"Idempotency-Key": {"1"}}, nil }
			e := endpoint(t, probe.EndpointConfig{BaseURL: address, Headers: idempotent})
			s := spec()
			s.Reuse = true
			if r := e.Probe(t.Context(), s); r.Outcome != probe.OK || requests.Load() != 1 {
				t.Fatalf("first probe: %s %s, %d requests", r.Outcome, r.Err, requests.Load())
			}
			r := e.Probe(t.Context(), s)
			if r.Outcome != c.outcome || r.StaleConnections != c.stale {
				t.Errorf("%s (%s), %d stale; want %s, %d", r.Outcome, r.Err, r.StaleConnections, c.outcome, c.stale)
			}
			if n := requests.Load() - 1; n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if r.Reused != (c.stale == 0) || r.Phases.Connect.OK != (c.stale == 1) {
				t.Errorf("reused %v, connect %v", r.Reused, r.Phases.Connect)
			}
		})
	}
}

// TestAllKeptConnectionsAreStale: the second try does not take the next stale
// connection out of the pool.
func TestAllKeptConnectionsAreStale(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	var connections atomic.Int32
	address := listener(t, func(conn *net.TCPConn, request func() error) {
		n := connections.Add(1)
		if request() != nil {
			return
		}
		if n <= 2 {
			both.Done()
			both.Wait() // so that there are two connections at the same time
		}
		io.WriteString(conn, answer+chunk(tok("a"))+chunk(stop+done)+"0\r\n\r\n")
		_ = request() // and dies
	})
	e := endpoint(t, probe.EndpointConfig{BaseURL: address})
	s := spec()
	s.Reuse = true
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if r := e.Probe(t.Context(), s); r.Outcome != probe.OK {
				t.Errorf("%s %s", r.Outcome, r.Err)
			}
		})
	}
	wg.Wait()
	if r := e.Probe(t.Context(), s); r.Outcome != probe.OK || r.StaleConnections != 1 || r.Reused {
		t.Errorf("%s (%s), %d stale, reused %v", r.Outcome, r.Err, r.StaleConnections, r.Reused)
	}
}

// TestRedirectIsNotFollowed: whatever waits at the other end is not asked.
func TestRedirectIsNotFollowed(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "https://user:pw@login.test/in?session=abc", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	r := endpoint(t, probe.EndpointConfig{BaseURL: server.URL}).Probe(t.Context(), spec())
	if want := "HTTP 307 Temporary Redirect to https://login.test/in"; r.Outcome != probe.Redirect || r.Err != want || asked.Load() != 1 {
		t.Errorf("%s %q, %d requests; want %q", r.Outcome, r.Err, asked.Load(), want)
	}
}

// TestEndlessLine: a line without an end is refused at 64 MiB, in bounded
// memory.
func TestEndlessLine(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "data: ")
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range 1 << 10 { // 1 GiB
			n, err := w.Write(block)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	defer server.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := spec()
	s.Limits = probe.Limits{Total: time.Minute}
	r := endpoint(t, probe.EndpointConfig{BaseURL: server.URL}).Probe(t.Context(), s)
	runtime.ReadMemStats(&after)
	if r.Outcome != probe.BadStream || len(r.Err) > 300 {
		t.Errorf("%s: %s", r.Outcome, r.Err)
	}
	if n := sent.Load() >> 20; n > 100 {
		t.Errorf("%d MiB were read", n)
	}
	if grown := (after.Sys - min(before.Sys, after.Sys)) >> 20; grown > 400 {
		t.Errorf("the process grew by %d MiB", grown)
	}
}

// TestAnswerHeaders holds what is read from the headers of a refusal.
func TestAnswerHeaders(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("X-Request-Id", "req-\u00e9\u200b "+strings.Repeat("7", 200))
		h.Set("X-Ratelimit-Limit-Requests", "500")
		h.Set("X-Ratelimit-Remaining-Requests", "0")
		h.Set("X-Ratelimit-Reset-Requests", "1m30s")
		h.Set("X-Ratelimit-Remaining-Tokens", "-1")
		h.Set("X-Ratelimit-Reset-Tokens", "6m0s")
		w.WriteHeader(429)
		io.WriteString(w, `{"error":{"message":"slow\ndown"}}`)
	}))
	defer server.Close()
	r := endpoint(t, probe.EndpointConfig{BaseURL: server.URL}).Probe(t.Context(), spec())
	limit := probe.RateLimit{LimitRequests: probe.Some[int64](500), RemainingRequests: probe.Some[int64](0), Reset: some(90 * time.Second)}
	if r.Outcome != probe.RateLimited || r.RetryAfter != some(90*time.Second) || r.RateLimit != limit {
		t.Errorf("%s, retry after %v, %+v", r.Outcome, r.RetryAfter, r.RateLimit)
	}
	if want := "HTTP 429 Too Many Requests: slow down"; r.Err != want {
		t.Errorf("err %q, want %q", r.Err, want)
	}
	if n := len([]rune(r.RequestID)); n != 100 || !strings.HasPrefix(r.RequestID, "req-") {
		t.Errorf("request id of %d runes: %q", n, r.RequestID)
	}
}

// TestAbortedStream: a server that gives up in the middle of an answer cuts
// the body short over HTTP/1.1 and resets the stream over HTTP/2.
func TestAbortedStream(t *testing.T) {
	for _, c := range []struct {
		http2   bool
		outcome probe.Outcome
		version string
	}{{false, probe.Truncated, "1.1"}, {true, probe.Reset, "2"}} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, tok("a"))
			panic(http.ErrAbortHandler)
		}))
		server.EnableHTTP2 = true
		server.StartTLS()
		defer server.Close()
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		r := endpoint(t, probe.EndpointConfig{BaseURL: server.URL, HTTP2: c.http2, TLS: &tls.Config{RootCAs: pool}}).Probe(t.Context(), spec())
		if r.Outcome != c.outcome || r.HTTPVersion != c.version || r.Chunks != 1 {
			t.Errorf("%s over %s with %d tokens: %s; want %s over %s", r.Outcome, r.HTTPVersion, r.Chunks, r.Err, c.outcome, c.version)
		}
	}
}

// TestUnknownModel: the hint names what the endpoint lists, and the list is
// asked for once.
func TestUnknownModel(t *testing.T) {
	var lists atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			lists.Add(1)
			io.WriteString(w, `{"data":[{"id":"far-away"},{"id":"M-1"}]}`)
			return
		}
		w.WriteHeader(400)
		io.WriteString(w, `{"error":{"message":"no","code":"model_not_found"}}`)
	}))
	defer server.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: server.URL})
	s := spec()
	s.Model = "m1"
	for range 2 {
		r := e.Probe(t.Context(), s)
		if want := `no model "m1"; nearest that the endpoint lists: M-1, far-away`; r.Outcome != probe.NotFound || r.Hint != want {
			t.Errorf("%s, hint %q, want %q", r.Outcome, r.Hint, want)
		}
	}
	if lists.Load() != 1 {
		t.Errorf("%d lists were asked for", lists.Load())
	}
}

// TestAside holds what is asked beside the completions.
func TestAside(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization")
		switch {
		case r.URL.Path == "/health":
			w.WriteHeader(503)
			io.WriteString(w, key)
		case key != "Bearer sk-right":
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":"wrong key %s"}`, strings.TrimPrefix(key, "Bearer "))
		case r.URL.Path == "/base/v1/models":
			io.WriteString(w, `{"data":[{"id":"a"}]}`)
		}
	}))
	defer server.Close()
	with := func(key string) *probe.Endpoint {
		return endpoint(t, probe.EndpointConfig{BaseURL: server.URL + "/base", Key: func(context.Context) (string, error) { return key, nil }})
	}
	if ids, err := with("sk-right").Models(t.Context()); err != nil || len(ids) != 1 || ids[0] != "a" {
		t.Errorf("models %q, %v", ids, err)
	}
	_, err := with("sk-wrong").Models(t.Context())
	var status *probe.StatusError
	if !errors.As(err, &status) || status.Code != 401 || err.Error() != "status 401 Unauthorized: wrong key <secret>" {
		t.Errorf("models with a wrong key: %v", err)
	}
	if code, err := with("sk-right").Health(t.Context(), server.URL+"/health"); code != 503 || err != nil {
		t.Errorf("health %d, %v", code, err)
	}
	if code, err := with("").Health(t.Context(), "http://"+closedPort(t)); code != 0 || err == nil {
		t.Errorf("health of nothing: %d, %v", code, err)
	}
	e := with("sk-wrong")
	if err := e.Open(t.Context()); err != nil {
		t.Errorf("any status opens a connection: %v", err)
	}
	s := spec()
	s.Reuse = true
	if r := e.Probe(t.Context(), s); !r.Reused {
		t.Error("the opened connection was not used")
	}
}
