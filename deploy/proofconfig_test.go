package deploy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"tokprobe/configs"
	"tokprobe/deploy"
)

// writeConfigs writes what the four programs read: the daemon's configuration,
// rules made from it by the generator, the shipped Alertmanager configuration
// with other receivers and shorter waits, and a scrape configuration.
func (s *stack) writeConfigs(t *testing.T, targets []string, alertmanager string) {
	t.Helper()
	s.write(t, "tokprobe.yaml", s.watched(targets))
	cfg, err := configs.Load(s.file("tokprobe.yaml"), configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := deploy.Rules(cfg.Roster(), deploy.Options{
		Scale: proofScale, EvalInterval: proofEvery, RunbookURL: "https://runbook.example/tokprobe",
		// Nobody waits a day here: the past is 90 s to 120 s ago.
		Regression: deploy.Regression{Past: [2]time.Duration{90 * time.Minute, 100 * time.Minute}, Over: 30 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := rules.YAML()
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "rules.yaml", string(data))
	s.write(t, "alertmanager.yml", s.routes(t))
	s.write(t, "prometheus.yml", fmt.Sprintf(`global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [rules.yaml]
alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}
scrape_configs: [{job_name: tokprobe, static_configs: [{targets: [%q]}]}]
`, alertmanager, s.daemonAt))
}

func (s *stack) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.file(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// watched is the daemon's configuration. A hung endpoint is given up after
// 440 ms, before the next probe is due.
func (s *stack) watched(targets []string) string {
	var b strings.Builder
	b.WriteString("targets:\n")
	for _, name := range targets {
		fmt.Fprintf(&b, "  - {name: %s, provider: vllm, base_url: %q, models: [m], labels: {team: assistants}}\n", name, s.sims[name])
	}
	fmt.Fprintf(&b, `prompts:
  - {name: chat, text: "Explain continuous batching in three sentences.", max_tokens: 6}
probes:
  - name: chat
    prompt: chat
    every: %s
    timeouts: {connect: 300ms, first_token: 440ms, stall: 300ms, total: 490ms}
    allow_overlap: true
    slo: interactive
slos:
  - {name: interactive, success: 99%%, ttft: {below: 200ms, objective: 99%%}}
`, proofEvery)
	return b.String()
}

// routes is the shipped configuration: only receivers and waits differ.
func (s *stack) routes(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("alertmanager/alertmanager.yml")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "global") // addresses and secrets of the placeholders
	delete(doc, "templates")
	receivers := doc["receivers"].([]any)
	for i, r := range receivers {
		name := r.(map[string]any)["name"]
		receivers[i] = map[string]any{"name": name, "webhook_configs": []any{map[string]any{"url": s.hook.URL, "send_resolved": true}}}
	}
	quicken(t, doc["route"].(map[string]any))
	out, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// quicken scales the waits of a route and of those below it.
func quicken(t *testing.T, route map[string]any) {
	t.Helper()
	for _, key := range []string{"group_wait", "group_interval"} {
		if text, ok := route[key].(string); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			route[key] = max(time.Duration(float64(d)*proofScale), time.Millisecond).Round(time.Millisecond).String()
		}
	}
	below, _ := route["routes"].([]any)
	for _, r := range below {
		quicken(t, r.(map[string]any))
	}
}
