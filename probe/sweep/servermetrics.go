package sweep

import (
	"bufio"
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

const (
	scrapePeriod = time.Second
	scrapeOften  = 100 * time.Millisecond
	scrapeWait   = 2 * time.Second // for the page after the last answer
)

// scrape reads the endpoint's own metrics until the returned function is
// called, which sums them up; nil without any. The pages before the first
// request and after the last answer show an idle server: they count for the
// counters only. Those between come three an answer, at most ten and at least
// one a second: a level of 20 answers of 200 ms over 8 streams lasts half a
// second, which a page a second would miss.
func (s *sweep) scrape(ctx context.Context) func() *capacity.ServerLoad {
	if s.env.ServerMetrics == nil {
		return func() *capacity.ServerLoad { return nil }
	}
	period := min(max(s.answer/3, scrapeOften), scrapePeriod)
	ctx, cancel := context.WithCancel(ctx)
	var pages serverPages
	var failed error // of the latest page
	read := func(ctx context.Context) (serverPage, bool) {
		page, err := s.env.ServerMetrics(ctx)
		if err == nil || ctx.Err() == nil {
			failed = err
		}
		return readServerPage(page, s.plan.Model), err == nil
	}
	if p, ok := read(ctx); ok {
		pages.count(p)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for sleep(ctx, period) {
			if p, ok := read(ctx); ok {
				pages.add(p)
			}
		}
	})
	return func() *capacity.ServerLoad {
		cancel()
		wg.Wait()
		after, done := context.WithTimeout(s.ctx, scrapeWait)
		defer done()
		if p, ok := read(after); ok {
			pages.count(p)
		}
		load := pages.load()
		switch {
		case load == nil && failed != nil:
			s.warnOnce("the server's own metrics could not be read: %v", failed)
		case load == nil:
			s.warnOnce("the server's own metrics say nothing of %s: want vllm:num_requests_waiting and its like", s.plan.Model)
		}
		return load
	}
}

// serverPage is what one page of vLLM's metrics says about a model.
type serverPage struct{ waiting, running, kv, preemptions probe.Opt[float64] }

// serverPages gathers the pages of one level.
type serverPages struct {
	most        serverPage
	first, last probe.Opt[float64] // preemptions
}

// add takes a page of the running level.
func (g *serverPages) add(p serverPage) {
	most := func(a *probe.Opt[float64], b probe.Opt[float64]) {
		if b.OK && (!a.OK || b.V > a.V) {
			*a = b
		}
	}
	most(&g.most.waiting, p.waiting)
	most(&g.most.running, p.running)
	most(&g.most.kv, p.kv)
	g.count(p)
}

// count takes the counters of a page.
func (g *serverPages) count(p serverPage) {
	if !p.preemptions.OK {
		return
	}
	if !g.first.OK || p.preemptions.V < g.last.V { // or the server was restarted
		g.first = p.preemptions
	}
	g.last = p.preemptions
}

func (g *serverPages) load() *capacity.ServerLoad {
	l := capacity.ServerLoad{WaitingMax: g.most.waiting, RunningMax: g.most.running, KVUseMax: g.most.kv}
	if g.first.OK {
		l.Preemptions = probe.Some(g.last.V - g.first.V)
	}
	if l == (capacity.ServerLoad{}) {
		return nil
	}
	return &l
}

// readServerPage reads the Prometheus text format as far as it is needed.
// Engines of one model (data parallel ones have a label each) are added up,
// but for the share of the KV cache, of which the fullest counts. Series of
// other models are left out; those without a model's name are taken.
func readServerPage(page []byte, model string) serverPage {
	var p serverPage
	sum := func(o *probe.Opt[float64], v float64) { *o = probe.Some(o.V + v) }
	lines := bufio.NewScanner(bytes.NewReader(page))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, v, ok := readSeries(lines.Text(), model)
		if !ok {
			continue
		}
		switch name {
		case "vllm:num_requests_waiting":
			sum(&p.waiting, v)
		case "vllm:num_requests_running":
			sum(&p.running, v)
		case "vllm:num_preemptions_total", "vllm:num_preemptions":
			sum(&p.preemptions, v)
		case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc": // the newer and the older spelling; both are shares of 1
			p.kv = probe.Some(max(p.kv.V, v))
		}
	}
	return p
}

// readSeries reads one line: name, perhaps labels, value, perhaps a time.
func readSeries(line, model string) (name string, value float64, ok bool) {
	if !strings.HasPrefix(line, "vllm:") {
		return "", 0, false
	}
	rest := line
	if open := strings.IndexByte(line, '{'); open >= 0 {
		end := strings.LastIndexByte(line, '}')
		if end < open {
			return "", 0, false
		}
		name, rest = line[:open], line[end+1:]
		labels := line[open:end]
		if strings.Contains(labels, `model_name="`) && !strings.Contains(labels, "model_name="+strconv.Quote(model)) {
			return "", 0, false
		}
	} else {
		name, rest, _ = strings.Cut(line, " ")
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return name, value, err == nil && value >= 0
}
