package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// modelStats is what /metrics counts of one model.
type modelStats struct {
	mu              sync.Mutex
	prompt, output  int
	preemptions     int
	finished        map[string]int
	ttft, tpot, e2e histogram
	queue           histogram
}

func (m *modelStats) preempted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.preemptions++
}

// ended counts a request that had been admitted. made is when the engine had
// its first token; like vLLM's, TTFT here leaves out the time in the queue.
func (m *modelStats) ended(r *Record, made time.Time) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.finished == nil {
		m.finished = map[string]int{}
	}
	if !made.IsZero() {
		m.prompt += r.PromptTokens
		m.ttft.observe(ttftBounds, made.Sub(r.PrefillStart))
		m.queue.observe(e2eBounds, r.PrefillStart.Sub(r.Arrival))
	}
	m.output += r.Tokens
	if r.FinishReason == "" {
		m.finished["abort"]++
		return
	}
	m.finished[r.FinishReason]++
	m.e2e.observe(e2eBounds, now.Sub(r.Arrival))
	if r.Tokens > 1 && !made.IsZero() {
		m.tpot.observe(tpotBounds, now.Sub(made)/time.Duration(r.Tokens-1))
	}
}

// Bounds are vLLM's, in seconds.
var (
	ttftBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tpotBounds = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	e2eBounds  = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// histogram counts observations per bucket, not cumulated.
type histogram struct {
	buckets []int
	count   int
	sum     float64
}

func (h *histogram) observe(bounds []float64, d time.Duration) {
	if h.buckets == nil {
		h.buckets = make([]int, len(bounds))
	}
	v := d.Seconds()
	h.count++
	h.sum += v
	for i, b := range bounds {
		if v <= b {
			h.buckets[i]++
			return
		}
	}
}

// page builds the text format.
type page struct {
	strings.Builder
	models []*model
}

// family writes one metric; each writes the samples of a model whose label
// is given as model_name="…".
func (p *page) family(name, kind, help string, each func(m *model, label string)) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	for _, m := range p.models {
		each(m, "model_name="+strconv.Quote(m.name))
	}
}

func (p *page) number(name, kind, help string, value func(*model) float64) {
	p.family(name, kind, help, func(m *model, label string) {
		fmt.Fprintf(p, "%s{%s} %s\n", name, label, strconv.FormatFloat(value(m), 'g', -1, 64))
	})
}

// histogram writes only models that have observations, as vLLM does.
func (p *page) histogram(name, help string, bounds []float64, of func(*model) *histogram) {
	p.family(name, "histogram", help, func(m *model, label string) {
		h := of(m)
		if h.count == 0 {
			return
		}
		sum := 0
		for i, b := range bounds {
			sum += h.buckets[i]
			fmt.Fprintf(p, "%s_bucket{%s,le=\"%s\"} %d\n", name, label, strconv.FormatFloat(b, 'g', -1, 64), sum)
		}
		fmt.Fprintf(p, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %g\n%s_count{%s} %d\n", name, label, h.count, name, label, h.sum, name, label, h.count)
	})
}

func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	p := &page{}
	for _, name := range s.cfg.models() {
		m := s.models[name]
		p.models = append(p.models, m)
	}
	p.gauges()
	for _, m := range p.models {
		m.stats.mu.Lock()
		defer m.stats.mu.Unlock()
	}
	p.counters()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write([]byte(p.String())) //nolint:errcheck // gone is gone
}

func (p *page) gauges() {
	p.number("vllm:num_requests_running", "gauge", "Sequences in the batch.", func(m *model) float64 {
		running, _, _ := m.engine.load()
		return float64(running)
	})
	p.number("vllm:num_requests_waiting", "gauge", "Sequences in the queue.", func(m *model) float64 {
		_, waiting, _ := m.engine.load()
		return float64(waiting)
	})
	p.number("vllm:kv_cache_usage_perc", "gauge", "Used part of the KV cache, 1 is all.", func(m *model) float64 {
		_, _, kv := m.engine.load()
		return kv
	})
}

func (p *page) counters() {
	p.number("vllm:num_preemptions_total", "counter", "Sequences that lost their place in the batch.", func(m *model) float64 { return float64(m.stats.preemptions) })
	p.number("vllm:prompt_tokens_total", "counter", "Prompt tokens prefilled or found in the cache.", func(m *model) float64 { return float64(m.stats.prompt) })
	p.number("vllm:generation_tokens_total", "counter", "Tokens generated.", func(m *model) float64 { return float64(m.stats.output) })
	p.family("vllm:request_success_total", "counter", "Requests by finish reason.", func(m *model, label string) {
		for _, reason := range []string{"stop", "length", "abort", "content_filter"} {
			fmt.Fprintf(p, "vllm:request_success_total{%s,finished_reason=%q} %d\n", label, reason, m.stats.finished[reason])
		}
	})
	p.histogram("vllm:time_to_first_token_seconds", "Start of prefill to first token.", ttftBounds, func(m *model) *histogram { return &m.stats.ttft })
	p.histogram("vllm:request_time_per_output_token_seconds", "Mean time per token after the first.", tpotBounds, func(m *model) *histogram { return &m.stats.tpot })
	p.histogram("vllm:e2e_request_latency_seconds", "Arrival to the end of the answer.", e2eBounds, func(m *model) *histogram { return &m.stats.e2e })
	p.histogram("vllm:request_queue_time_seconds", "Arrival to start of prefill.", e2eBounds, func(m *model) *histogram { return &m.stats.queue })
}
