package configs

import (
	"reflect"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
	"tokprobe/probe/wire"
)

// noEnv is an environment without any variable.
func noEnv(string) (string, bool) { return "", false }

func TestExampleRoster(t *testing.T) {
	cfg, err := Load("example.yaml", Options{LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	r := cfg.Roster()
	want := slo.SLO{
		Name: "interactive", Window: 30 * day, Alerting: slo.Page,
		Objectives: []slo.Objective{
			{SLI: slo.Success, Ratio: 0.995},
			{SLI: slo.TTFT, Below: 1500 * time.Millisecond, Ratio: 0.95},
			{SLI: slo.TPOT, Below: 30 * time.Millisecond, Ratio: 0.95},
			{SLI: slo.E2E, Below: 20 * time.Second, Ratio: 0.95},
		},
		Conditions: slo.Conditions{InputTokensP95: 8000, OutputTokensP95: 500, Rate: 2},
	}
	if len(r.SLOs) != 1 || !reflect.DeepEqual(r.SLOs[0], want) {
		t.Errorf("SLOs = %+v, want %+v", r.SLOs, want)
	}
	var ids []string
	for _, w := range r.Watches {
		ids = append(ids, w.ID.String()+" "+w.Every.String()+" "+w.Spec.Protocol)
	}
	wantIDs := []string{
		"taotoken/claude-sonnet-4-5/chat 30s openai-chat",
		"taotoken/gpt-4o/chat 30s openai-chat",
		"vllm-a/Qwen2.5-14B-Instruct/chat 30s openai-chat",
		"vllm-a/Qwen2.5-14B-Instruct/rag 5m0s openai-chat",
	}
	if !reflect.DeepEqual(ids, wantIDs) {
		t.Errorf("watches = %q, want %q", ids, wantIDs)
	}
	chat := r.Watches[0]
	if want := (probe.Limits{Connect: 5 * time.Second, FirstToken: 10 * time.Second, Stall: 8 * time.Second, Total: 24 * time.Second}); chat.Spec.Limits != want {
		t.Errorf("limits = %+v, want %+v", chat.Spec.Limits, want)
	}
	if want := []wire.Message{{Role: "user", Content: "Explain continuous batching in three sentences."}}; !reflect.DeepEqual(chat.Spec.Prompt.Messages, want) {
		t.Errorf("messages = %+v, want %+v", chat.Spec.Prompt.Messages, want)
	}
	vllm := r.Targets[1]
	vllm.Hash = ""
	wantTarget := roster.Target{
		Name: "vllm-a", Provider: "vllm", Protocol: "openai-chat", BaseURL: "http://10.0.0.5:8000",
		Models: []string{"Qwen2.5-14B-Instruct"}, HealthURL: "http://10.0.0.5:8000/health",
		ServerMetrics: roster.ServerMetrics{URL: "http://10.0.0.5:8000/metrics", Selector: `job="vllm"`},
	}
	if !reflect.DeepEqual(vllm, wantTarget) {
		t.Errorf("target = %+v, want %+v", vllm, wantTarget)
	}
	if len(r.Sweeps) != 1 || !reflect.DeepEqual(r.Sweeps[0].Ladder, []float64{1, 4, 8, 16, 32}) || r.Sweeps[0].Mode != "concurrency" || r.Sweeps[0].Scenario != "T2" || r.Sweeps[0].MaxDuration != 15*time.Minute {
		t.Errorf("sweeps = %+v", r.Sweeps)
	}
}

// TestExampleWarnings pins the doubts of a good file.
func TestExampleWarnings(t *testing.T) {
	cfg, err := Load("example.yaml", Options{LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	want := "sweeps[0] (line 23): sweeps of vllm-a use the key of its probes, so they share a quota with production if that does; write api_key_env: NAME for a key of their own"
	if got := cfg.Warnings.Error(); got != want {
		t.Errorf("warnings = %q, want %q", got, want)
	}
}
