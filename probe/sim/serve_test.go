package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen serves on a loopback port until the test ends.
func listen(t testing.TB, s *Server) (base string, client *http.Client) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), ln) }()
	tr := &http.Transport{MaxIdleConnsPerHost: 2000}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), &http.Client{Transport: tr}
}

// quick is an engine that answers at once.
var quick = Engine{FixedTTFT: 1, FixedTPOT: 1}

func send(t testing.TB, c *http.Client, url, body string) (string, error) {
	t.Helper()
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// TestSockets: over TCP, answers end as the faults say.
func TestSockets(t *testing.T) {
	s := New(Config{Engine: quick})
	base, client := listen(t, s)
	body, err := send(t, client, base+chatPath, chat("sim-fast", 4))
	if err != nil || strings.Count(body, `"delta":{"content":`) != 4 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("healthy: %v\n%s", err, body)
	}
	for _, tt := range []struct {
		cut  string
		want error
	}{{"truncate", io.ErrUnexpectedEOF}, {"reset", syscall.ECONNRESET}} {
		s.SetFaults(Faults{Cut: tt.cut, CutRate: 1, CutAfterTokens: 2})
		body, err := send(t, client, base+chatPath, chat("sim-fast", 4))
		if !errors.Is(err, tt.want) || strings.Count(body, `"delta":{"content":`) != 2 {
			t.Errorf("%s: %v after\n%s", tt.cut, err, body)
		}
	}
}

// TestCloseIsPrompt: Close and the end of Serve's context both end answers
// that would go on for ever, hung ones too, as cut streams and not as answers.
func TestCloseIsPrompt(t *testing.T) {
	for _, hang := range []bool{false, true} {
		for _, byContext := range []bool{false, true} {
			s := New(Config{Engine: Engine{FixedTTFT: 1, FixedTPOT: time.Hour}, Faults: []Faults{{Hang: hang}}})
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, ln) }()
			failed := make(chan error, 1)
			go func() {
				_, err := send(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+ln.Addr().String()+chatPath, chat("sim-fast", 4))
				failed <- err
			}()
			for s.Stats().InFlight == 0 {
				time.Sleep(ms)
			}
			start := time.Now()
			if byContext {
				cancel()
			} else {
				s.Close()
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			if err := <-failed; err == nil {
				t.Errorf("hang %v, by context %v: the client saw a proper end", hang, byContext)
			}
			s.Close()
			cancel()
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("closed after %v", d)
			}
		}
	}
}

// TestDialInABubble: net/http over in-memory connections keeps the virtual
// times and real keep-alive, too.
func TestDialInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Engine: Truth()})
		dials := 0
		tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return s.DialContext(ctx, network, addr)
		}}
		for range 2 {
			g := ask(t, tr, chatPath, chat("sim-fast", 3))
			if len(g.arrived) != 7 || g.arrived[1] != 200*ms || g.arrived[3] != 240*ms {
				t.Errorf("events after %v", g.arrived)
			}
		}
		s.SetFaults(Faults{Cut: "truncate", CutRate: 1, CutAfterTokens: 2})
		if g := ask(t, tr, chatPath, chat("sim-fast", 3)); !errors.Is(g.err, io.ErrUnexpectedEOF) || dials != 1 {
			t.Errorf("cut: %v; %d connections, want 1", g.err, dials)
		}
		s.Close()
		if _, err := tr.RoundTrip(must(http.NewRequest("GET", "http://sim/health", http.NoBody))); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("closed: %v, want connection refused", err)
		}
		tr.CloseIdleConnections()
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestTransportTrace: the trace of a request in memory fires as over a socket,
// and a connection is reused once its answer was read to the end.
func TestTransportTrace(t *testing.T) {
	bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		do := func(read, closing bool) (events string) {
			start := time.Now()
			note := func(what string) { events += what + "@" + time.Since(start).String() + " " }
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GetConn:              func(string) { note("get") },
				ConnectStart:         func(string, string) { note("dial") },
				ConnectDone:          func(string, string, error) { note("dialled") },
				GotConn:              func(i httptrace.GotConnInfo) { note(map[bool]string{true: "reused", false: "fresh"}[i.Reused]) },
				WroteRequest:         func(httptrace.WroteRequestInfo) { note("wrote") },
				GotFirstResponseByte: func() { note("byte") },
			})
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://any.host"+chatPath, strings.NewReader(chat("sim-fast", 2)))
			req.Close = closing
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if read {
				io.Copy(io.Discard, resp.Body)
			}
			resp.Body.Close()
			synctest.Wait()
			return events
		}
		s.SetFaults(Faults{SlowHeaders: 30 * ms})
		const fresh = "get@0s dial@0s dialled@0s fresh@0s wrote@0s byte@30ms "
		for i, tt := range []struct {
			read, closing bool
			want          string
		}{
			{true, false, fresh},
			{true, false, "get@0s reused@0s wrote@0s byte@30ms "},
			{true, true, fresh},
			{false, false, "get@0s reused@0s wrote@0s byte@30ms "}, // of the first
			{true, false, fresh},
		} {
			if got := do(tt.read, tt.closing); got != tt.want {
				t.Errorf("request %d: %s\nwant %s", i, got, tt.want)
			}
		}
		s.Close()
		req, _ := http.NewRequest("GET", "http://sim/health", http.NoBody)
		req.Close = true
		if _, err := rt.RoundTrip(req); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("closed: %v, want connection refused", err)
		}
	})
}

// BenchmarkStreams is the cost of 1,000 concurrent streams in truth mode over
// loopback: 20 ms a token, 64 tokens, read by a client that parses nothing.
func BenchmarkStreams(b *testing.B) {
	for _, e := range []struct {
		name string
		Engine
	}{{"truth", Truth()}, {"batching", Engine{Decode: 20 * ms, PrefillRate: 1e6, Slots: 1000}}} {
		b.Run(e.name, func(b *testing.B) { benchmarkStreams(b, e.Engine) })
	}
}

func benchmarkStreams(b *testing.B, e Engine) {
	const streams, tokens = 1000, 64
	s := New(Config{Engine: e})
	base, client := listen(b, s)
	var late []time.Duration
	for b.Loop() {
		before, used := s.Stats().OutputTokens, cpuTime()
		done := make(chan error)
		for i := range streams {
			go func() {
				time.Sleep(time.Duration(i) * 1480 * ms / streams) // spread over one answer
				done <- drain(client, base+chatPath, chat("sim-fast", tokens))
			}()
		}
		for range streams {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
		b.ReportMetric(float64((cpuTime()-used).Nanoseconds())/float64(s.Stats().OutputTokens-before)/1000, "cpu-µs/token")
	}
	for _, r := range s.Records() {
		d, _ := r.TTFT()
		late = append(late, d-e.FixedTTFT)
	}
	b.ReportMetric(float64(percentile(late, 0.95).Microseconds())/1000, "p95-late-ms")
}

func drain(c *http.Client, url, body string) error {
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := bufio.NewReaderSize(resp.Body, 4096)
	for {
		if _, err := r.ReadSlice('\n'); err != nil && err != bufio.ErrBufferFull {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// BenchmarkDelta is the rendering of one token event.
func BenchmarkDelta(b *testing.B) {
	for _, d := range dialects {
		b.Run(d.name, func(b *testing.B) {
			f := d.frame(head{id: "0123456789abcdef", model: "sim-fast"})
			var buf, word []byte
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				word = words(word[:0], 7, i, i+1)
				buf = f.delta(buf[:0], word, false, usage{})
				i++
			}
			if !bytes.HasSuffix(buf, []byte("\n\n")) {
				b.Errorf("%q is no event", buf)
			}
		})
	}
}
