package probetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const defaultHang = 10 * time.Second

// Replayer serves cases over TCP: the base URL of case NAME is URL() + "/NAME".
// It writes HTTP/1.1 itself, since net/http would neither cut a chunked body
// short nor write each segment as one chunk.
type Replayer struct {
	ln    net.Listener
	cases map[string]Case
	ctx   context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu   sync.Mutex
	sent map[string][]time.Duration
}

// NewReplayer serves cases on a free port of the loopback address.
func NewReplayer(cases []Case) (*Replayer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return Serve(ln, cases), nil
}

// Serve serves cases on a listener, which the Replayer closes.
func Serve(ln net.Listener, cases []Case) *Replayer {
	r := &Replayer{ln: ln, cases: make(map[string]Case, len(cases)), sent: map[string][]time.Duration{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	for _, c := range cases {
		r.cases[c.Name] = c
	}
	r.wg.Go(r.accept)
	return r
}

// URL is the address, without a trailing slash.
func (r *Replayer) URL() string { return "http://" + r.ln.Addr().String() }

// Sent returns when each segment of the latest answer of a case was really
// written, counted from the end of the request: a busy machine sends late.
func (r *Replayer) Sent(name string) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent[name])
}

// Close stops serving and ends open connections.
func (r *Replayer) Close() {
	r.stop()
	r.ln.Close()
	r.wg.Wait()
}

func (r *Replayer) accept() {
	for {
		conn, err := r.ln.Accept()
		if err != nil {
			return
		}
		r.wg.Go(func() {
			stop := context.AfterFunc(r.ctx, func() { conn.Close() })
			defer stop()
			defer conn.Close()
			r.serve(conn.(*net.TCPConn))
		})
	}
}

// paths says where a protocol's requests go.
var paths = map[string]string{
	"openai-chat":        "/v1/chat/completions",
	"openai-completions": "/v1/completions",
	"anthropic-messages": "/v1/messages",
}

func (r *Replayer) serve(conn *net.TCPConn) {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	c, ok := r.cases[name]
	if !ok || "/"+path != paths[c.Protocol] {
		const page = "<!doctype html><title>not here</title>\n"
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(page), page)
		return
	}
	r.answer(conn, c)
}

// answer writes one case.
func (r *Replayer) answer(conn *net.TCPConn, c Case) {
	begin := time.Now()
	r.mu.Lock()
	r.sent[c.Name] = nil
	r.mu.Unlock()

	chunked := true
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n", c.Status, http.StatusText(c.Status))
	for name, value := range c.Headers {
		chunked = chunked && !strings.EqualFold(name, "Content-Length")
		head += name + ": " + value + "\r\n"
	}
	if chunked {
		head += "Transfer-Encoding: chunked\r\n"
	}
	if _, err := io.WriteString(conn, head+"Connection: close\r\n\r\n"); err != nil {
		return
	}
	for _, s := range c.Body {
		if !r.pause(time.Duration(s.AfterMS) * time.Millisecond) {
			return
		}
		data := s.Bytes()
		if chunked {
			data = slices.Concat(fmt.Appendf(nil, "%x\r\n", len(data)), data, []byte("\r\n"))
		}
		r.mu.Lock()
		r.sent[c.Name] = append(r.sent[c.Name], time.Since(begin))
		r.mu.Unlock()
		if _, err := conn.Write(data); err != nil {
			return
		}
	}
	r.end(conn, c, chunked)
}

func (r *Replayer) end(conn *net.TCPConn, c Case, chunked bool) {
	switch c.End {
	case "close":
		if chunked {
			_, _ = io.WriteString(conn, "0\r\n\r\n")
		}
	case "reset":
		// The client shall read what was sent before the reset overtakes it.
		r.pause(50 * time.Millisecond)
		_ = conn.SetLinger(0)
	case "hang":
		hang := defaultHang
		if c.HangMS != nil {
			hang = time.Duration(*c.HangMS) * time.Millisecond
		}
		r.pause(hang)
	}
}

// pause waits; false means that the Replayer was closed meanwhile.
func (r *Replayer) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}
