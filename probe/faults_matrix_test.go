package probe_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tokprobe/probe"
)

// fault is one row of the matrix: what is wrong with an endpoint, and what a
// probe of it must say and when.
type fault struct {
	name    string
	build   func(*faultBed) probe.EndpointConfig
	outcome probe.Outcome
	err     string        // part of Result.Err
	from    time.Duration // the probe takes at least this
	within  time.Duration // and at most this; 0 is from + slowest
	mib     float64       // the heap grows by at most this; 0 is a few
	heavy   bool          // run alone, so that its memory is its own
	warm    bool          // over a kept connection that a good probe has used
	tune    func(*probe.Spec)
	kind    probe.Kind // 0: that of the outcome
	check   func(*complaints, probe.Result, *faultBed)
}

// tightLimits are those of the rows where a limit is what ends the probe: those
// that take at least the shortest of them. The others have room for a machine
// that is busy with something else.
var (
	tightLimits = probe.Limits{Connect: 400 * ms, FirstToken: 500 * ms, Stall: 300 * ms, Total: 900 * ms}
	roomyLimits = probe.Limits{Connect: 5 * time.Second, FirstToken: 5 * time.Second, Stall: 5 * time.Second, Total: 10 * time.Second}
)

// complaints are what is wrong with a run of a row.
type complaints []string

func (c *complaints) Errorf(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

const (
	slowest  = 1500 * ms // what a busy machine may add
	smallMiB = 24.0      // of all the rows that run at the same time
	together = 12        // rows that run at the same time
	tries    = 4         // a busy machine may be late once, not so often
)

// faultBed is what a row builds its endpoint on. It heals before the second
// probe.
type faultBed struct {
	t      *testing.T
	healed atomic.Bool
	asked  atomic.Int32 // requests that were read
	open   atomic.Int32 // connections that the servers hold
}

// healthy answers one request.
func healthy(c net.Conn) {
	io.WriteString(c, answer+chunk(role)+chunk(tok("a"))+chunk(tok("b"))+chunk(stop+done)+"0\r\n\r\n")
}

// serve answers requests with fault until the bed is healed; later with a good
// stream. hold in the fault is closed when the client goes away.
func (b *faultBed) serve(fault func(c *net.TCPConn)) string {
	return b.serveRaw(func(c *net.TCPConn, request func() error) {
		if request() == nil {
			fault(c)
		}
	})
}

// serveRaw hands over the connection before any request is read.
func (b *faultBed) serveRaw(fault func(c *net.TCPConn, request func() error)) string {
	return b.listen(func(c *net.TCPConn, request func() error) {
		if !b.healed.Load() {
			fault(c, func() error {
				err := request()
				if err == nil {
					b.asked.Add(1)
				}
				return err
			})
			return
		}
		for request() == nil {
			b.asked.Add(1)
			healthy(c)
		}
	})
}

// listen is listener that counts the open connections.
func (b *faultBed) listen(serve func(c *net.TCPConn, request func() error)) string {
	return listener(b.t, func(c *net.TCPConn, request func() error) {
		b.open.Add(1)
		defer b.open.Add(-1)
		serve(c, request)
	})
}

// holdOpen waits until the client closes the connection.
func holdOpen(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func base(address string) probe.EndpointConfig { return probe.EndpointConfig{BaseURL: address} }

// row makes a build function of a fault after the request.
func row(fault func(c *net.TCPConn)) func(*faultBed) probe.EndpointConfig {
	return func(b *faultBed) probe.EndpointConfig { return base(b.serve(fault)) }
}

// says sends text, then holds the connection.
func says(text string) func(*faultBed) probe.EndpointConfig {
	return row(func(c *net.TCPConn) { io.WriteString(c, text); holdOpen(c) })
}

// drops sends text, then closes the connection in an orderly way.
func drops(text string) func(*faultBed) probe.EndpointConfig {
	return row(func(c *net.TCPConn) { io.WriteString(c, text) })
}

// resets sends text, leaves time to read it, and resets the connection.
func resets(text string) func(*faultBed) probe.EndpointConfig {
	return row(func(c *net.TCPConn) {
		io.WriteString(c, text)
		time.Sleep(60 * ms)
		_ = c.SetLinger(0)
	})
}

// ran is what became of a row.
type ran struct {
	first, second probe.Result
	took          time.Duration
	mib           float64
	left          int32 // connections that were never let go
	wrong         complaints
}

func (f fault) run(b *faultBed) ran {
	e, err := probe.NewEndpoint(f.build(b))
	if err != nil {
		return ran{wrong: complaints{err.Error()}}
	}
	defer e.Close()
	s := spec()
	s.Limits, s.Reuse = roomyLimits, f.warm
	if f.from >= tightLimits.Stall {
		s.Limits = tightLimits
	}
	if f.tune != nil {
		f.tune(&s)
	}
	var got ran
	if f.warm {
		if r := e.Probe(b.t.Context(), s); r.Outcome != probe.OK {
			got.wrong.Errorf("warming up: %s (%s)", r.Outcome, r.Err)
		}
	}
	peak := watchHeap()
	begin := time.Now()
	got.first = e.Probe(b.t.Context(), s)
	got.took = time.Since(begin)
	got.mib = peak()
	b.healed.Store(true)
	healthy := spec()
	healthy.Limits, healthy.Reuse = roomyLimits, f.warm
	got.second = e.Probe(b.t.Context(), healthy)
	if f.warm {
		e.Close() // a kept connection is no leak
	}
	for range 50 { // what was begun for a probe ends with it
		if got.left = b.open.Load(); got.left == 0 {
			break
		}
		time.Sleep(20 * ms)
	}
	f.judge(b, &got)
	return got
}

// watchHeap returns what the heap has grown by at most since, in MiB, garbage
// that is not yet collected included.
func watchHeap() func() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() float64 { metrics.Read(sample); return float64(sample[0].Value.Uint64()) / (1 << 20) }
	runtime.GC()
	begin, peak := read(), 0.0
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * ms)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak = max(peak, read()-begin)
			case <-stop:
				peak = max(peak, read()-begin)
				return
			}
		}
	}()
	return func() float64 { close(stop); <-done; return peak }
}

// judge compares a row with what it must be.
func (f fault) judge(b *faultBed, got *ran) {
	t := &got.wrong
	r := got.first
	if r.Outcome != f.outcome || !strings.Contains(r.Err, f.err) {
		t.Errorf("%s (%s); want %s (…%s…)", r.Outcome, r.Err, f.outcome, f.err)
	}
	if kind := f.kind; kind != "" && r.Kind() != kind {
		t.Errorf("kind %s, want %s", r.Kind(), kind)
	}
	to := f.within
	if to == 0 {
		to = f.from + slowest
	}
	if got.took < f.from || got.took > to {
		t.Errorf("took %s, want %s to %s", got.took, f.from, to)
	}
	bound := f.mib
	if bound == 0 {
		bound = smallMiB
	}
	if got.mib > bound {
		t.Errorf("the heap grew by %.1f MiB, want at most %.0f", got.mib, bound)
	}
	if f.outcome != probe.OK && (r.Hint == "" || strings.ContainsAny(r.Err+r.Hint, "\x1b\r\n\x00") || len(r.Err) > 300 || r.E2E.OK || r.TPOT.OK) {
		t.Errorf("err %q, hint %q, e2e %v, tpot %v", r.Err, r.Hint, r.E2E, r.TPOT)
	}
	if got.left != 0 {
		t.Errorf("%d connections are still open", got.left)
	}
	if f.check != nil {
		f.check(t, r, b)
	}
	if s := got.second; s.Outcome != probe.OK || s.Chunks == 0 {
		t.Errorf("the next probe: %s (%s)", s.Outcome, s.Err)
	}
}

// TestFaultMatrix holds outcome, time and memory for what can go wrong between
// a probe and an endpoint, over real sockets, and that the endpoint is as good
// as new for the probe after it. Rows whose memory matters run alone.
func TestFaultMatrix(t *testing.T) {
	rows := slices.Concat(connectFaults(), headerFaults(), bodyFaults(), tlsFaults(), http2Faults(), dnsFaults())
	goroutines := runtime.NumGoroutine()
	results := make([]ran, len(rows))
	t.Run("all", func(t *testing.T) { // its end closes what the rows listen on
		var wg sync.WaitGroup
		room := make(chan struct{}, together)
		for i, f := range rows {
			if !f.heavy {
				wg.Go(func() {
					room <- struct{}{}
					results[i] = f.run(&faultBed{t: t})
					<-room
				})
			}
		}
		wg.Wait()
		for i, f := range rows {
			if f.heavy {
				results[i] = f.run(&faultBed{t: t})
			}
			for n := 1; n < tries && len(results[i].wrong) > 0; n++ {
				results[i] = f.run(&faultBed{t: t})
			}
			if len(results[i].wrong) > 0 {
				t.Errorf("%s: %s", f.name, strings.Join(results[i].wrong, "\n\t"))
			}
		}
	})
	noLeak(t, goroutines)
	var table strings.Builder
	for i, f := range rows {
		mib := fmt.Sprintf("%.0f", results[i].mib)
		if !f.heavy {
			mib = "with others"
		}
		fmt.Fprintf(&table, "| %s | %s | %.2f | %s |\n", f.name, results[i].first.Outcome, results[i].took.Seconds(), mib)
	}
	t.Logf("%d rows\n| fault | outcome | seconds | peak extra MiB |\n| --- | --- | --- | --- |\n%s", len(rows), table.String())
}

// noLeak waits until there are no more goroutines than before.
func noLeak(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * ms)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}

// readRequest reads one HTTP request from a connection that is not TCP.
func readRequest(in *bufio.Reader) (*http.Request, error) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return req, err
}

func silentTCP(c *net.TCPConn) { holdOpen(c) }

func bufioReader(c net.Conn) *bufio.Reader { return bufio.NewReader(c) }
