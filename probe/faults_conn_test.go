package probe_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/wire"
)

// connectFaults are those before a request is answered at all.
func connectFaults() []fault {
	return []fault{
		{name: "refused", build: refused, outcome: probe.Connect, err: "connection refused"},
		{name: "SYN dropped", build: backlogFull, outcome: probe.Connect, err: "TCP connect not done within the connect limit of 400ms", from: 400 * ms},
		{name: "black hole", build: says(""), outcome: probe.TimeoutFirstToken, err: "no token within 500ms", from: 500 * ms},
		{name: "server never reads", build: neverReads, outcome: probe.TimeoutFirstToken, from: 500 * ms, heavy: true, mib: 200, tune: bigPrompt, check: neverSent},
		{name: "closed before headers", build: drops(""), outcome: probe.Reset, err: "before any byte of a response"},
		{name: "reset before headers", build: resets(""), outcome: probe.Reset, err: "before any byte of a response", from: 60 * ms},
		{name: "reset on a kept connection, late", build: lateReset, outcome: probe.Reset, from: 300 * ms, warm: true},
		{name: "refusal before the request is read", build: earlyRefusal, outcome: probe.RateLimited, heavy: true, mib: 200, tune: bigPrompt},
		{name: "proxy refuses CONNECT", build: proxyRefuses, outcome: probe.Connect, err: "the proxy answered CONNECT with status 403 Forbidden"},
		{name: "proxy does not answer CONNECT", build: proxyHangs, outcome: probe.Connect, err: "not done within the connect limit", from: 400 * ms},
		{name: "proxy is gone", build: proxyGone, outcome: probe.Connect, err: "connection refused"},
	}
}

// refused has nobody listening until it is healed.
func refused(b *faultBed) probe.EndpointConfig {
	live, dead := b.serve(silentTCP), closedPort(b.t)
	cfg := base("http://t.test")
	cfg.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		to := dead
		if b.healed.Load() {
			to = strings.TrimPrefix(live, "http://")
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	return cfg
}

// backlogFull is a listener whose queue is full, so that the system drops SYNs.
func backlogFull(b *faultBed) probe.EndpointConfig {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		b.t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		b.t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		b.t.Fatal(err)
	}
	full := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 4 {
		if c, err := net.DialTimeout("tcp", full, 50*ms); err == nil {
			b.t.Cleanup(func() { c.Close() })
		}
	}
	live := strings.TrimPrefix(b.serve(silentTCP), "http://")
	cfg := base("http://t.test")
	cfg.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		if b.healed.Load() {
			return (&net.Dialer{}).DialContext(ctx, network, live)
		}
		return (&net.Dialer{}).DialContext(ctx, network, full)
	}
	return cfg
}

// neverReads takes nothing of a request that no socket buffer holds.
func neverReads(b *faultBed) probe.EndpointConfig {
	return base(b.serveRaw(func(c *net.TCPConn, _ func() error) {
		_ = c.SetReadBuffer(4096)
		time.Sleep(600 * ms)
	}))
}

// bigPrompt is 17 MB, more than the buffers between two sockets take.
func bigPrompt(s *probe.Spec) {
	s.Prompt.Messages = []wire.Message{{Role: "user", Content: strings.Repeat("0123456789abcdef", 1<<20)}}
}

func neverSent(t *complaints, r probe.Result, _ *faultBed) {
	if r.Phases.Send.OK || r.Phases.Headers.OK {
		t.Errorf("phases of a request that was never written: %+v", r.Phases)
	}
}

// lateReset answers the first request of a connection and dies late with the
// second: too late for a connection that was stale.
func lateReset(b *faultBed) probe.EndpointConfig {
	return base(b.serveRaw(func(c *net.TCPConn, request func() error) {
		if request() != nil {
			return
		}
		healthy(c)
		if request() == nil {
			time.Sleep(300 * ms)
			_ = c.SetLinger(0)
		}
	}))
}

// earlyRefusal refuses with the headers and closes with most of a large request
// unread, which makes the system send a reset.
func earlyRefusal(b *faultBed) probe.EndpointConfig {
	return base(b.serveRaw(func(c *net.TCPConn, _ func() error) {
		buf := make([]byte, 1024)
		_, _ = c.Read(buf)
		io.WriteString(c, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		time.Sleep(50 * ms)
	}))
}

func proxyRefuses(b *faultBed) probe.EndpointConfig {
	return proxied(b, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	})
}

func proxyHangs(b *faultBed) probe.EndpointConfig { return proxied(b, holdOpen) }

func proxyGone(b *faultBed) probe.EndpointConfig {
	cfg := proxied(b, holdOpen)
	dead := closedPort(b.t)
	cfg.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !b.healed.Load() {
			addr = dead
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	return cfg
}
