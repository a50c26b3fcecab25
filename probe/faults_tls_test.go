package probe_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"tokprobe/probe"
)

// tlsFaults are those of the TLS layer.
func tlsFaults() []fault {
	now := time.Now()
	day := 24 * time.Hour
	return []fault{
		{name: "certificate expired", build: wrongCert("127.0.0.1", now.Add(-2*day), now.Add(-day)), outcome: probe.TLS, err: "has expired", check: expiry(now.Add(-day))},
		{name: "certificate not yet valid", build: wrongCert("127.0.0.1", now.Add(day), now.Add(2*day)), outcome: probe.TLS, err: "is not yet valid", check: expiry(now.Add(2 * day))},
		{name: "certificate for another name", build: wrongCert("other.test", now.Add(-day), now.Add(day)), outcome: probe.TLS, err: "127.0.0.1", check: expiry(now.Add(day))},
		{name: "certificate of an unknown CA", build: unknownCA, outcome: probe.TLS, err: "unknown authority"},
		{name: "TLS to a plain port", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(_ *tls.Conn, raw net.Conn) {
				io.WriteString(raw, "HTTP/1.1 400 Bad Request\r\n\r\n")
				holdOpen(raw)
			})
		}, outcome: probe.TLS, err: "first record does not look like a TLS handshake"},
		{name: "TLS handshake never done", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(_ *tls.Conn, raw net.Conn) { holdOpen(raw) })
		}, outcome: probe.TLS, err: "not done within the connect limit", from: 400 * ms},
		{name: "closed in the TLS handshake", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(_ *tls.Conn, raw net.Conn) { _, _ = raw.Read(make([]byte, 100)) })
		}, outcome: probe.TLS},
		{name: "client certificate demanded", build: clientCert, outcome: probe.TLS, err: "certificate required"},
		{name: "TLS alert before headers", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(c *tls.Conn, raw net.Conn) {
				if _, err := readRequest(bufio.NewReader(c)); err == nil {
					corrupt(raw)
				}
			})
		}, outcome: probe.TLS, err: "tls: bad record MAC"},
		{name: "TLS record broken mid-stream", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(c *tls.Conn, raw net.Conn) {
				if _, err := readRequest(bufio.NewReader(c)); err == nil {
					io.WriteString(c, answer+chunk(tok("a")))
					corrupt(raw)
				}
			})
		}, outcome: probe.Reset, err: "tls: bad record MAC", check: oneToken},
		{name: "TLS alert mid-stream", build: func(b *faultBed) probe.EndpointConfig {
			cfg := tlsBed(b, alerting)
			cfg.TLS.MaxVersion = tls.VersionTLS12
			return cfg
		}, tune: bigPrompt, heavy: true, mib: 200, outcome: probe.Reset, err: "remote error: tls: bad record MAC", check: oneToken},
		{name: "TLS closed without a word", build: func(b *faultBed) probe.EndpointConfig {
			return tlsBed(b, func(c *tls.Conn, raw net.Conn) {
				if _, err := readRequest(bufio.NewReader(c)); err == nil {
					io.WriteString(c, answer+chunk(tok("a")))
					raw.Close()
				}
			})
		}, outcome: probe.Truncated, check: oneToken},
	}
}

// corrupt sends a record that no key made.
func corrupt(raw net.Conn) {
	io.WriteString(raw, "\x17\x03\x03\x00\x20"+strings.Repeat("\x00", 32))
	holdOpen(raw)
}

// garbled is a connection whose reads can be broken: what comes is changed.
type garbled struct {
	net.Conn
	broken atomic.Bool
}

func (g *garbled) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if g.broken.Load() {
		for i := range n {
			p[i] ^= 0x55
		}
	}
	return n, err
}

// alerting reads a record that it cannot decrypt after it sent a token, so that
// its TLS layer sends a fatal alert.
func alerting(c *tls.Conn, raw net.Conn) {
	if _, err := c.Read(make([]byte, 16<<10)); err != nil {
		return
	}
	io.WriteString(c, answer+chunk(tok("a")))
	raw.(*garbled).broken.Store(true)
	for {
		if _, err := c.Read(make([]byte, 64<<10)); err != nil {
			break
		}
	}
	holdOpen(raw)
}

// tlsBed is a TLS server that does fault with the first connection's handshake
// still to be done, and answers well once it is healed.
func tlsBed(b *faultBed, fault func(c *tls.Conn, raw net.Conn)) probe.EndpointConfig {
	cert, pool := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	server := &tls.Config{Certificates: []tls.Certificate{cert}}
	address := b.listen(func(tcp *net.TCPConn, _ func() error) {
		raw := &garbled{Conn: tcp}
		c := tls.Server(raw, server)
		if !b.healed.Load() {
			fault(c, raw)
			return
		}
		if _, err := readRequest(bufio.NewReader(c)); err == nil {
			healthy(c)
		}
	})
	cfg := base(strings.Replace(address, "http:", "https:", 1))
	cfg.TLS = &tls.Config{RootCAs: pool}
	return cfg
}

// wrongCert is a server with a wrong certificate until it is healed.
func wrongCert(name string, from, to time.Time) func(*faultBed) probe.EndpointConfig {
	return func(b *faultBed) probe.EndpointConfig {
		good, pool := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		wrong, _ := certificate(b.t, name, from, to)
		leaf, err := x509.ParseCertificate(wrong.Certificate[0])
		if err != nil {
			b.t.Fatal(err)
		}
		pool.AddCert(leaf)
		return certBed(b, wrong, good, &tls.Config{RootCAs: pool})
	}
}

func unknownCA(b *faultBed) probe.EndpointConfig {
	good, pool := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	wrong, _ := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	return certBed(b, wrong, good, &tls.Config{RootCAs: pool})
}

// certBed serves healthy answers, with the wrong certificate until healed.
func certBed(b *faultBed, wrong, good tls.Certificate, client *tls.Config) probe.EndpointConfig {
	server := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if b.healed.Load() {
			return &good, nil
		}
		return &wrong, nil
	}}
	return serveTLS(b, server, client)
}

func clientCert(b *faultBed) probe.EndpointConfig {
	good, pool := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	server := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c := &tls.Config{Certificates: []tls.Certificate{good}}
		if !b.healed.Load() {
			c.ClientAuth = tls.RequireAnyClientCert
		}
		return c, nil
	}}
	return serveTLS(b, server, &tls.Config{RootCAs: pool})
}

func serveTLS(b *faultBed, server, client *tls.Config) probe.EndpointConfig {
	address := b.listen(func(tcp *net.TCPConn, _ func() error) {
		c := tls.Server(tcp, server)
		if _, err := readRequest(bufio.NewReader(c)); err == nil {
			healthy(c)
		}
	})
	cfg := base(strings.Replace(address, "http:", "https:", 1))
	cfg.TLS = client
	return cfg
}

func expiry(want time.Time) func(*complaints, probe.Result, *faultBed) {
	return func(t *complaints, r probe.Result, _ *faultBed) {
		if !r.CertExpiry.Equal(want.Truncate(time.Second)) {
			t.Errorf("certificate expires %s, want %s", r.CertExpiry, want)
		}
	}
}

// proxied is an https target behind a proxy that does fault with a CONNECT until
// it is healed, and then makes the tunnel.
func proxied(b *faultBed, fault func(net.Conn)) probe.EndpointConfig {
	cfg := tlsBed(b, func(*tls.Conn, net.Conn) {})
	proxyAt := b.listen(func(c *net.TCPConn, _ func() error) {
		in := bufio.NewReader(c)
		req, err := readRequest(in)
		switch {
		case err != nil:
		case !b.healed.Load():
			fault(c)
		default:
			tunnel(c, in, req)
		}
	})
	cfg.Proxy = proxy(strings.Replace(proxyAt, "http://", "http://user:proxy-pass-1@", 1))
	return cfg
}

func tunnel(c net.Conn, in io.Reader, req *http.Request) {
	up, err := net.Dial("tcp", req.Host)
	if err != nil {
		return
	}
	defer up.Close()
	io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(up, in); up.Close() }()
	_, _ = io.Copy(c, up)
}

// http2Faults are those of HTTP/2 framing, made with a hand-held framer.
func http2Faults() []fault {
	return []fault{
		{name: "HTTP/2, good", build: h2(func(f h2Stream) { f.headers(); f.data(tok("a") + stop + done); f.end() }), outcome: probe.OK, check: oneToken},
		{name: "HTTP/2 RST_STREAM before headers", build: h2(func(f h2Stream) { f.reset(http2.ErrCodeRefusedStream) }), outcome: probe.Reset, err: "the server reset the HTTP/2 stream: REFUSED_STREAM"},
		{name: "HTTP/2 RST_STREAM mid-stream", build: h2(func(f h2Stream) { f.headers(); f.data(tok("a")); f.reset(http2.ErrCodeInternal) }), outcome: probe.Reset, err: "the server reset the HTTP/2 stream: INTERNAL_ERROR", check: oneToken},
		{name: "HTTP/2 GOAWAY before headers", build: h2(func(f h2Stream) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) }), outcome: probe.Reset, err: "GOAWAY"},
		{name: "HTTP/2 GOAWAY mid-stream, not for this stream", build: h2(func(f h2Stream) {
			f.headers()
			_ = f.WriteGoAway(f.id, http2.ErrCodeNo, nil)
			time.Sleep(20 * ms)
			f.data(tok("a") + stop + done)
			f.end()
		}), outcome: probe.OK, check: oneToken},
		{name: "HTTP/2 GOAWAY mid-stream with an error", build: h2(func(f h2Stream) {
			f.headers()
			f.data(tok("a"))
			_ = f.WriteGoAway(f.id, http2.ErrCodeInternal, []byte("worker \x1b[31mdied"))
			time.Sleep(20 * ms)
			f.conn.Close()
		}), outcome: probe.Reset, check: oneToken},
		{name: "HTTP/2 GOAWAY mid-stream that forgets the stream", build: h2(func(f h2Stream) {
			f.headers()
			f.data(tok("a"))
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}), outcome: probe.Reset, err: "GOAWAY", check: oneToken},
		{name: "HTTP/2 connection closed mid-stream", build: h2(func(f h2Stream) { f.headers(); f.data(tok("a")); time.Sleep(20 * ms); f.conn.Close() }), outcome: probe.Truncated, check: oneToken},
		{name: "HTTP/2 silence", build: h2(func(h2Stream) {}), outcome: probe.TimeoutFirstToken, from: 500 * ms},
		{name: "HTTP/2 stall", build: h2(func(f h2Stream) { f.headers(); f.data(tok("a")) }), outcome: probe.Stall, from: 300 * ms, check: oneToken},
		{name: "HTTP/2 frame garbage", build: h2(func(f h2Stream) {
			f.headers()
			f.data(tok("a"))
			time.Sleep(20 * ms)
			_, _ = f.conn.Write([]byte("\xff\xff\xff\x00\x00\x00\x00\x00\x01"))
		}), outcome: probe.BadStream, err: "broken HTTP/2", check: oneToken},
		{name: "HTTP/2 stream of nobody", build: h2(func(f h2Stream) {
			f.headers()
			f.data(tok("a"))
			time.Sleep(20 * ms)
			_ = f.WriteData(f.id+100, false, []byte("x"))
		}), outcome: probe.BadStream, err: "broken HTTP/2", check: oneToken},
	}
}

// h2Stream writes frames to one stream.
type h2Stream struct {
	*http2.Framer
	conn net.Conn
	id   uint32
}

func (f h2Stream) headers() {
	var block strings.Builder
	enc := hpack.NewEncoder(&block)
	_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/event-stream"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: f.id, BlockFragment: []byte(block.String()), EndHeaders: true})
}

func (f h2Stream) data(text string)         { _ = f.WriteData(f.id, false, []byte(text)) }
func (f h2Stream) end()                     { _ = f.WriteData(f.id, true, nil) }
func (f h2Stream) reset(code http2.ErrCode) { _ = f.WriteRSTStream(f.id, code) }

// h2 serves HTTP/2 with a framer, one request a connection.
func h2(fault func(h2Stream)) func(*faultBed) probe.EndpointConfig {
	return func(b *faultBed) probe.EndpointConfig {
		cert, pool := certificate(b.t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		server := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}
		address := b.listen(func(tcp *net.TCPConn, _ func() error) {
			c := tls.Server(tcp, server)
			if err := c.HandshakeContext(context.Background()); err == nil {
				serveH2(b, c, fault)
			}
		})
		cfg := base(strings.Replace(address, "http:", "https:", 1))
		cfg.HTTP2, cfg.TLS = true, &tls.Config{RootCAs: pool}
		return cfg
	}
}

func serveH2(b *faultBed, c net.Conn, fault func(h2Stream)) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(c, c)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch {
		case frame.Header().Type == http2.FrameSettings && !frame.Header().Flags.Has(http2.FlagSettingsAck):
			_ = framer.WriteSettingsAck()
		case frame.Header().Type == http2.FrameData && frame.Header().Flags.Has(http2.FlagDataEndStream):
			f := h2Stream{framer, c, frame.Header().StreamID}
			if !b.healed.Load() {
				fault(f)
				continue
			}
			f.headers()
			f.data(tok("a") + stop + done)
			f.end()
		}
	}
}
