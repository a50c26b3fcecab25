package sim

import (
	"net/http"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	names "github.com/prometheus/common/model"
)

func scrape(t *testing.T, rt http.RoundTripper) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(names.UTF8Validation)
	families, err := parser.TextToMetricFamilies(get(t, rt, "/metrics").Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// TestMetrics: six requests meet two slots. While the first two run, four
// wait; at the end the histogram of the time to first token knows nothing
// of their waiting.
func TestMetrics(t *testing.T) {
	e := Engine{PrefillRate: 1e9, Decode: 10 * ms, Slots: 2, KVTokens: 1000}
	bubble(t, Config{Models: []string{"m", "idle"}, Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() { ask(t, rt, chatPath, chat("m", 20)) })
		}
		time.Sleep(105 * ms) // ten steps: 2 × (10 prompt + 10 tokens) in the cache
		during := scrape(t, rt)
		for name, want := range map[string]float64{"vllm:num_requests_running": 2, "vllm:num_requests_waiting": 4, "vllm:kv_cache_usage_perc": 0.04} {
			if m := during[name].Metric; len(m) != 2 || m[0].GetGauge().GetValue() != want || m[1].GetGauge().GetValue() != 0 {
				t.Errorf("during: %s %v, want %v and an idle 0", name, m, want)
			}
		}
		if m := during["vllm:e2e_request_latency_seconds"]; m != nil {
			t.Errorf("a histogram before the first answer: %v", m)
		}
		wg.Wait()

		after := scrape(t, rt)
		for name, want := range map[string]float64{"vllm:prompt_tokens_total": 60, "vllm:generation_tokens_total": 120, "vllm:num_preemptions_total": 0} {
			if m := after[name].Metric[0]; m.GetCounter().GetValue() != want || m.Label[0].GetName() != "model_name" || m.Label[0].GetValue() != "m" {
				t.Errorf("after: %s %v, want %v", name, m, want)
			}
		}
		for _, m := range after["vllm:request_success_total"].Metric[:4] {
			want := map[string]float64{"length": 6}[m.Label[1].GetValue()]
			if m.GetCounter().GetValue() != want {
				t.Errorf("after: %v, want %v", m, want)
			}
		}
		h := func(name string) *dto.Histogram { return after[name].Metric[0].GetHistogram() }
		if ttft := h("vllm:time_to_first_token_seconds"); ttft.GetSampleCount() != 6 || ttft.GetSampleSum() < 0.06 || ttft.GetSampleSum() > 0.0601 {
			t.Errorf("time to first token %v, want 6 of 10 ms", ttft)
		}
		if tpot := h("vllm:request_time_per_output_token_seconds"); tpot.GetSampleCount() != 6 || tpot.GetSampleSum() < 0.0599 || tpot.GetSampleSum() > 0.0601 {
			t.Errorf("time per output token %v, want 6 of 10 ms", tpot)
		}
		// the three pairs end after 200, 400 and 600 ms
		if e2e := h("vllm:e2e_request_latency_seconds"); e2e.GetSampleCount() != 6 || e2e.GetSampleSum() < 2.399 || e2e.GetSampleSum() > 2.401 || e2e.Bucket[0].GetCumulativeCount() != 2 {
			t.Errorf("latency %v, want 2.4 s in sum and two below 300 ms", e2e)
		}
	})
}
