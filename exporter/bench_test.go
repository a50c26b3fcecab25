package exporter

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// fleet is n probes with a full SLO each, every one with a window's worth of
// results whose latencies spread as real ones do.
func fleet(n, results int) *Exporter {
	e := New(Config{NoRuntime: true})
	r := roster.Roster{}
	objectives := []slo.Objective{{SLI: slo.Success, Ratio: 0.995}}
	for _, sli := range latencySLIs {
		objectives = append(objectives, slo.Objective{SLI: sli, Below: time.Second, Ratio: 0.95})
	}
	for i := range n {
		id := probe.ID{Target: fmt.Sprintf("target-%d", i/20), Model: fmt.Sprintf("org/some-model-%d-instruct", i%20), Probe: "chat"}
		if i%20 == 0 {
			r.Targets = append(r.Targets, roster.Target{Name: id.Target, Price: &roster.Price{Currency: "USD", Input: 3}})
		}
		limits := probe.Limits{Connect: time.Second, FirstToken: time.Second, Stall: time.Second, Total: time.Second}
		r.Watches = append(r.Watches, roster.Watch{ID: id, Every: time.Minute, Spec: probe.Spec{ID: id, Limits: limits},
			SLOs: []slo.SLO{{Name: "interactive", Objectives: objectives}}})
	}
	e.Apply(r)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range results {
		for _, w := range r.Watches {
			e.Record(probe.Tick{ID: w.ID})
			e.Record(probe.Tick{ID: w.ID, Stage: probe.TickDone, Result: randomResult(rnd, w.ID)})
		}
	}
	return e
}

func randomResult(rnd *rand.Rand, id probe.ID) probe.Result {
	lognormal := func(median, sigma float64) time.Duration {
		return time.Duration(median * math.Exp(rnd.NormFloat64()*sigma) * 1e9)
	}
	ttft, tpot := lognormal(0.4, 0.5), lognormal(0.02, 0.2)
	r := probe.Result{ID: id, Outcome: probe.OK, TTFT: dur(ttft), FirstContent: dur(ttft), TPOT: dur(tpot), E2E: dur(ttft + 63*tpot),
		Tail: dur(ms), OutputTokens: probe.Some[int64](64), PromptTokens: probe.Some[int64](25),
		RequestID: fmt.Sprintf("chatcmpl-%032d", rnd.Int64())}
	for range 63 {
		r.Gaps = append(r.Gaps, lognormal(0.02, 0.4))
	}
	return r
}

// BenchmarkScrape renders the page of 1,000 probes as text. ns/series is to
// stay under 7,000 on two cores.
func BenchmarkScrape(b *testing.B) {
	e := fleet(1000, windowSize)
	series := 0
	for b.Loop() {
		families, err := e.Gather()
		if err != nil {
			b.Fatal(err)
		}
		counter := &lineCounter{}
		for _, f := range families {
			if _, err := expfmt.MetricFamilyToText(counter, f); err != nil {
				b.Fatal(err)
			}
			counter.lines -= 2 // HELP and TYPE
		}
		series = counter.lines
	}
	b.ReportMetric(float64(series), "series")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(series), "ns/series")
}

type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	for _, x := range p {
		if x == '\n' {
			c.lines++
		}
	}
	return len(p), nil
}

// BenchmarkScrapeHTTP is the same as Prometheus asks for it.
func BenchmarkScrapeHTTP(b *testing.B) {
	e := fleet(1000, windowSize)
	for name, header := range map[string]http.Header{
		"text":     {},
		"gzip":     {"Accept-Encoding": {"gzip"}},
		"protobuf": {"Accept": {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"}, "Accept-Encoding": {"gzip"}},
	} {
		b.Run(name, func(b *testing.B) {
			h := newMetricsHandler(e, false)
			request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			request.Header = header
			size := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, request)
				n, _ := io.Copy(io.Discard, w.Body)
				size = int(n)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// BenchmarkRecord is one finished probe of 64 tokens.
func BenchmarkRecord(b *testing.B) {
	e := fleet(1000, 1)
	rnd := rand.New(rand.NewPCG(1, 2))
	ids := make([]probe.ID, 0, 1000)
	for _, s := range e.order {
		ids = append(ids, s.watch.ID)
	}
	r := randomResult(rnd, ids[0])
	i := 0
	for b.Loop() {
		e.Record(probe.Tick{ID: ids[i%1000], Stage: probe.TickDone, Result: r})
		i++
	}
}

// TestBytesPerProbe holds what one probe costs in memory with its window and
// histograms full: 1,000 of them must leave room in 350 MiB for all else.
func TestBytesPerProbe(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 200 probes")
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	e := fleet(200, windowSize)
	if _, err := e.Gather(); err != nil {
		t.Fatal(err)
	}
	perProbe := (int64(heap()) - int64(before)) / 200
	runtime.KeepAlive(e)
	t.Logf("%d bytes per probe", perProbe)
	if perProbe > 48_000 {
		t.Errorf("%d bytes per probe, want at most 48,000", perProbe)
	}
}
