package probe_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"tokprobe/probe"
)

const plainOK = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// headerFaults are those of the response's head.
func headerFaults() []fault {
	good := chunk(tok("a")) + chunk(stop+done) + "0\r\n\r\n"
	return []fault{
		{name: "slow headers", build: row(func(c *net.TCPConn) { drip(c, answer, 20*ms) }), outcome: probe.TimeoutFirstToken, from: 500 * ms},
		{name: "headers never end", build: says("HTTP/1.1 200 OK\r\nX-A: b\r\n"), outcome: probe.TimeoutFirstToken, from: 500 * ms},
		{name: "closed inside the headers", build: drops("HTTP/1.1 200 OK\r\nX-A: b\r\n"), outcome: probe.Truncated, err: "inside its headers"},
		// A peek of net/http swallows the reset, and the read after it finds the end.
		{name: "reset inside the headers", build: resets("HTTP/1.1 200 OK\r\nX-A: b\r\n"), outcome: probe.Truncated, err: "inside its headers", from: 60 * ms},
		{name: "100 and 103 before the real one", build: row(func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			time.Sleep(150 * ms)
			io.WriteString(c, answer+good)
		}), outcome: probe.OK, from: 150 * ms, check: func(t *complaints, r probe.Result, _ *faultBed) {
			if r.Phases.Headers.V < 150*ms || r.TTFT.V < 150*ms || r.HTTPStatus != 200 {
				t.Errorf("headers after %v, ttft %v, status %d", r.Phases.Headers, r.TTFT, r.HTTPStatus)
			}
		}},
		{name: "only 103", build: says("HTTP/1.1 103 Early Hints\r\n\r\n"), outcome: probe.TimeoutFirstToken, from: 500 * ms},
		{name: "endless 103", build: row(func(c *net.TCPConn) {
			for {
				if _, err := io.WriteString(c, strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50)); err != nil {
					return
				}
			}
		}), outcome: probe.BadStream, err: "more than 32 responses with a status of 1xx"},
		{name: "101 as the answer", build: says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), outcome: probe.BadStream, err: "HTTP 101 Switching Protocols"},
		{name: "header flood of 64 MiB", build: row(func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for range 1 << 10 {
				if _, err := io.WriteString(c, strings.Repeat("X-Flood: "+strings.Repeat("y", 1013)+"\r\n", 64)); err != nil {
					return
				}
			}
			holdOpen(c)
		}), outcome: probe.BadStream, err: "longer than 1 MiB", heavy: true, mib: 16},
		{name: "one header of 2 MiB", build: says(plainOK + "X-A: " + strings.Repeat("y", 2<<20) + "\r\n\r\n"), outcome: probe.BadStream, err: "longer than 1 MiB", heavy: true, mib: 16},
		{name: "dirty headers", build: row(func(c *net.TCPConn) {
			io.WriteString(c, plainOK+"X-Request-Id: id\xff\u202e\r\nTransfer-Encoding: chunked\r\n\r\n"+good)
		}), outcome: probe.OK, check: func(t *complaints, r probe.Result, _ *faultBed) {
			if r.RequestID != "id" {
				t.Errorf("request id %q", r.RequestID)
			}
		}},
		{name: "terminal escapes in headers", build: drops(plainOK + "X-Request-Id: \x1b[31mred\r\n\r\n"), outcome: probe.BadStream, err: "the answer is no HTTP"},
		{name: "dirty error body", build: drops("HTTP/1.1 500 Oops\r\nContent-Length: 40\r\n\r\n\x1b]0;title\x07\xff\xfe line\r\nlevel=info msg=forged"),
			outcome: probe.ServerError, err: "HTTP 500 Internal Server Error: ]0;title?? line level=info msg=forge"},
		{name: "no HTTP", build: says("SSH-2.0-OpenSSH_9.2\r\n"), outcome: probe.BadStream, err: "the answer is no HTTP"},
		{name: "error body that never ends", build: row(func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk("half a reason"))
			holdOpen(c)
		}), outcome: probe.Overloaded, err: "half a reason", from: 500 * ms},
		{name: "error body of 64 MiB", build: row(func(c *net.TCPConn) {
			io.WriteString(c, "HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n")
			for range 64 {
				if _, err := io.WriteString(c, chunk(strings.Repeat("z", 1<<20))); err != nil {
					return
				}
			}
		}), outcome: probe.ServerError, heavy: true, mib: 24},
		{name: "redirect to another host", build: redirects, outcome: probe.Redirect, err: "to http://", check: notFollowed},
	}
}

// bodyFaults are those of a 200 stream.
func bodyFaults() []fault {
	one := answer + chunk(role) + chunk(tok("a"))
	return []fault{
		{name: "closed after headers", build: drops(answer), outcome: probe.Truncated},
		{name: "reset after headers", build: resets(answer), outcome: probe.Reset, from: 60 * ms},
		{name: "reset between tokens", build: resets(one), outcome: probe.Reset, from: 60 * ms, check: oneToken},
		{name: "reset mid-token", build: resets(one + chunk(`data: {"choices":[{"delta":{"content":"b`)), outcome: probe.Reset, from: 60 * ms, check: oneToken},
		{name: "half-close", build: row(func(c *net.TCPConn) {
			io.WriteString(c, one)
			_ = c.CloseWrite()
			holdOpen(c)
		}), outcome: probe.Truncated, check: oneToken},
		{name: "slow drip", build: row(func(c *net.TCPConn) {
			io.WriteString(c, one)
			drip(c, strings.Repeat(chunk("d"), 400), 10*ms)
		}), outcome: probe.Stall, err: "no further token for 300ms", from: 300 * ms, check: oneToken},
		{name: "tokens for ever", build: row(func(c *net.TCPConn) {
			io.WriteString(c, answer)
			for {
				if _, err := io.WriteString(c, chunk(tok("a"))); err != nil {
					return
				}
				time.Sleep(20 * ms)
			}
		}), outcome: probe.TimeoutTotal, err: "not complete within 900ms", from: 900 * ms},
		{name: "comments for ever", build: row(func(c *net.TCPConn) {
			io.WriteString(c, answer)
			for {
				if _, err := io.WriteString(c, chunk(": ping\n\n")); err != nil {
					return
				}
				time.Sleep(20 * ms)
			}
		}), outcome: probe.TimeoutFirstToken, from: 500 * ms},
		{name: "truncated chunk", build: drops(one + "400\r\n" + tok("b")), outcome: probe.Truncated, check: twoTokens},
		{name: "chunk size garbage", build: says(one + "zz\r\n"), outcome: probe.BadStream, err: "broken transfer encoding", check: oneToken},
		{name: "chunk size of 17 digits", build: says(one + "fffffffffffffffff\r\n"), outcome: probe.BadStream, err: "broken transfer encoding", check: oneToken},
		{name: "chunk size negative", build: says(one + "-5\r\n"), outcome: probe.BadStream, err: "broken transfer encoding", check: oneToken},
		{name: "chunk without its line end", build: says(answer + "3\r\nabcdef\r\n"), outcome: probe.BadStream, err: "broken transfer encoding"},
		{name: "Content-Length too long", build: drops(plainOK + "Content-Length: 9999\r\n\r\n" + tok("a") + stop), outcome: probe.Truncated, check: oneToken},
		{name: "Content-Length too long, but done", build: drops(plainOK + "Content-Length: 9999\r\n\r\n" + tok("a") + stop + done), outcome: probe.OK, check: oneToken},
		{name: "Content-Length too short", build: says(plainOK + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(tok("a"))+9) + tok("a") + tok("b") + stop + done), outcome: probe.Truncated, check: oneToken},
		{name: "Content-Length twice, different", build: says(plainOK + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"), outcome: probe.BadStream, err: "the answer is no HTTP"},
		{name: "Content-Length no number", build: says(plainOK + "Content-Length: many\r\n\r\nabcdef"), outcome: probe.BadStream, err: "the answer is no HTTP"},
		{name: "HTTP/1.0 without length", build: drops("HTTP/1.0 200 OK\r\n\r\n" + tok("a") + stop), outcome: probe.OK, check: oneToken},
		{name: "HTTP/1.0 cut short", build: drops("HTTP/1.0 200 OK\r\n\r\n" + tok("a") + "data: {\"ch"), outcome: probe.Truncated, check: oneToken},
		{name: "HTTP/1.0 reset", build: resets("HTTP/1.0 200 OK\r\n\r\n" + tok("a")), outcome: probe.Reset, from: 60 * ms, check: oneToken},
		{name: "after done, for ever", build: row(func(c *net.TCPConn) {
			io.WriteString(c, one+chunk(stop+done))
			for {
				if _, err := io.WriteString(c, chunk(strings.Repeat("x", 1<<16))); err != nil {
					return
				}
			}
		}), outcome: probe.OK},
		{name: "gzip cut short", build: gzipped(false, tok("a")), outcome: probe.Truncated, check: oneToken},
		{name: "gzip corrupt", build: gzipped(true, tok("a")), outcome: probe.BadStream, err: "compressed body"},
		{name: "gzip bomb, one line", build: bomb("data: ", "x", 1<<30), tune: heavyLimits, outcome: probe.BadStream, err: "a line over 64 MiB", within: 20 * time.Second, heavy: true, mib: 400},
		{name: "gzip bomb, comments", build: bomb(":", "x\n:", 1<<34), tune: shortTotal, outcome: probe.TimeoutFirstToken, from: 500 * ms, heavy: true, mib: 32},
		{name: "gzip bomb in an error", build: errorBomb, outcome: probe.ServerError, heavy: true, mib: 32},
		{name: "1 GB line", build: longLine, tune: heavyLimits, outcome: probe.BadStream, err: "a line over 64 MiB", within: 20 * time.Second, heavy: true, mib: 400},
		{name: "tiny events", build: tinyEvents, tune: heavyLimits, outcome: probe.OK, within: 60 * time.Second, heavy: true, mib: 64, check: allTiny},
	}
}

func heavyLimits(s *probe.Spec) { s.Limits = probe.Limits{Total: time.Minute} }
func shortTotal(s *probe.Spec)  { s.Limits = probe.Limits{FirstToken: 500 * ms, Total: time.Second} }

func tokens(n int) func(*complaints, probe.Result, *faultBed) {
	return func(t *complaints, r probe.Result, _ *faultBed) {
		if r.Chunks != n {
			t.Errorf("%d tokens, want %d", r.Chunks, n)
		}
	}
}

func oneToken(t *complaints, r probe.Result, b *faultBed)  { tokens(1)(t, r, b) }
func twoTokens(t *complaints, r probe.Result, b *faultBed) { tokens(2)(t, r, b) }

// drip sends text byte by byte.
func drip(c net.Conn, text string, pause time.Duration) {
	for i := range len(text) {
		if _, err := io.WriteString(c, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// redirects sends the request to another server, which must not be asked.
func redirects(b *faultBed) probe.EndpointConfig {
	other := listener(b.t, func(c *net.TCPConn, request func() error) {
		if request() == nil {
			b.asked.Add(1000)
		}
	})
	return base(b.serve(func(c *net.TCPConn) {
		fmt.Fprintf(c, "HTTP/1.1 308 Permanent Redirect\r\nLocation: %s/v1/x?key=abc\r\nContent-Length: 0\r\n\r\n", other)
		holdOpen(c)
	}))
}

func notFollowed(t *complaints, r probe.Result, b *faultBed) {
	if n := b.asked.Load(); n >= 1000 || strings.Contains(r.Err, "abc") {
		t.Errorf("the redirect was followed (%d), or shows its query: %s", n, r.Err)
	}
}

// gzipped sends a flushed stream without its end, or with a broken piece.
func gzipped(corrupt bool, text string) func(*faultBed) probe.EndpointConfig {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	io.WriteString(z, text)
	_ = z.Flush()
	body := buf.Bytes()
	if corrupt { // a block of a type that does not exist
		body = append(body[:10], bytes.Repeat([]byte{0xff}, 64)...)
	}
	return drops(plainOK + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(string(body)) + "0\r\n\r\n")
}

// squeezed is 1 MiB of a repeated text as one raw gzip member; members may
// follow one another.
func squeezed(text string) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(bytes.Repeat([]byte(text), (1<<20)/len(text)))
	_ = z.Close()
	return buf.Bytes()
}

// bomb sends begin and then text for size bytes, compressed a thousandfold.
func bomb(begin, text string, size int) func(*faultBed) probe.EndpointConfig {
	member := sync.OnceValue(func() []byte { return bytes.Repeat(squeezed(text), 64) })
	return row(func(c *net.TCPConn) {
		var head bytes.Buffer
		z := gzip.NewWriter(&head)
		io.WriteString(z, begin)
		_ = z.Close()
		io.WriteString(c, plainOK+"Content-Encoding: gzip\r\n\r\n"+head.String())
		for range size >> 26 {
			if _, err := c.Write(member()); err != nil {
				return
			}
		}
	})
}

func errorBomb(b *faultBed) probe.EndpointConfig {
	member := bytes.Repeat(squeezed("x"), 64)
	return base(b.serve(func(c *net.TCPConn) {
		io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n\r\n")
		for range 1 << 10 {
			if _, err := c.Write(member); err != nil {
				return
			}
		}
	}))
}

func longLine(b *faultBed) probe.EndpointConfig {
	block := bytes.Repeat([]byte("x"), 1<<20)
	return base(b.serve(func(c *net.TCPConn) {
		io.WriteString(c, plainOK+"\r\ndata: ")
		for range 1 << 10 {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	}))
}

// tinyEvents is ten million events of one token each; a tenth with -short.
func tinyEvents(b *faultBed) probe.EndpointConfig {
	const event = `data:{"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	block := bytes.Repeat([]byte(event), 10_000)
	return base(b.serve(func(c *net.TCPConn) {
		io.WriteString(c, plainOK+"\r\n")
		for range tinyCount() / 10_000 {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
		io.WriteString(c, done)
	}))
}

func tinyCount() int {
	if testing.Short() {
		return 1_000_000
	}
	return 10_000_000
}

func allTiny(t *complaints, r probe.Result, _ *faultBed) {
	if r.Chunks != tinyCount() || len(r.Gaps) > 1<<16 {
		t.Errorf("%d tokens, %d gaps kept", r.Chunks, len(r.Gaps))
	}
}
