package probe_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"tokprobe/probe"
)

// dnsFaults are those of a name server, which is one of our own on loopback.
func dnsFaults() []fault {
	return []fault{
		{name: "DNS silent", build: named(func(*dnsmessage.Message) bool { return false }), outcome: probe.DNS, err: "name lookup not done within the connect limit of 400ms", from: 400 * ms},
		{name: "DNS NXDOMAIN", build: named(func(m *dnsmessage.Message) bool { m.RCode = dnsmessage.RCodeNameError; return true }), outcome: probe.DNS, err: "no such host"},
		{name: "DNS SERVFAIL", build: named(func(m *dnsmessage.Message) bool { m.RCode = dnsmessage.RCodeServerFailure; return true }), outcome: probe.DNS, err: "server misbehaving"},
		{name: "DNS without addresses", build: named(func(*dnsmessage.Message) bool { return true }), outcome: probe.DNS, err: "no such host"},
		{name: "DNS address of nobody, then another", build: named(func(m *dnsmessage.Message) bool { addAddress(m, 250); return true }), outcome: probe.Connect, err: "connection refused"},
	}
}

// addAddress answers with 127.0.0.n.
func addAddress(m *dnsmessage.Message, n byte) {
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, n}},
		}}
	}
}

// named is an endpoint known by name, whose name server does fault with every
// answer until it is healed.
func named(fault func(*dnsmessage.Message) bool) func(*faultBed) probe.EndpointConfig {
	return func(b *faultBed) probe.EndpointConfig {
		server := nameServer(b.t, func(m *dnsmessage.Message) bool {
			if !b.healed.Load() {
				return fault(m)
			}
			addAddress(m, 1)
			return true
		})
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(b.serve(silentTCP), "http://"))
		cfg := base("http://llm.example:" + port)
		cfg.DialContext = (&net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		}}}).DialContext
		return cfg
	}
}

// nameServer answers queries over UDP until the test ends. answer fills the
// message, or returns false to say nothing.
func nameServer(t *testing.T, answer func(*dnsmessage.Message) bool) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil {
				continue
			}
			m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
			if !answer(&m) {
				continue
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// TestNameChangesAddress: every fresh connection asks for the address anew, so a
// target that moved is found by the next probe.
func TestNameChangesAddress(t *testing.T) {
	var n atomic.Int32
	n.Store(1)
	server := nameServer(t, func(m *dnsmessage.Message) bool { addAddress(m, byte(n.Load())); return true })
	var from atomic.Value
	ln, err := net.Listen("tcp", "0.0.0.0:0")
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
			from.Store(c.LocalAddr().(*net.TCPAddr).IP.String())
			go func() {
				defer c.Close()
				if _, err := readRequest(bufio.NewReader(c)); err == nil {
					healthy(c)
				}
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	e := endpoint(t, probe.EndpointConfig{BaseURL: "http://llm.example:" + port, DialContext: (&net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		},
	}}).DialContext})
	for _, want := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		n.Store(int32(want[len(want)-1] - '0'))
		if r := e.Probe(t.Context(), spec()); r.Outcome != probe.OK || from.Load() != want || !r.Phases.DNS.OK {
			t.Errorf("%s (%s) at %v, want %s; phases %+v", r.Outcome, r.Err, from.Load(), want, r.Phases)
		}
	}
}
