package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
	"tokprobe/probe/wire"
)

const oneTarget = "targets: [{name: a, provider: vllm, base_url: 'http://h', models: [Qwen/small, Qwen/large, other]}]\n"

func parse(t *testing.T, text string) *Config {
	t.Helper()
	cfg, err := Parse([]byte(text), Options{LookupEnv: noEnv, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestFiveLines: without prompts and probes the built-in probe runs.
func TestFiveLines(t *testing.T) {
	cfg := parse(t, oneTarget)
	w := cfg.Roster().Watches
	want := probe.Spec{
		ID: probe.ID{Target: "a", Model: "Qwen/small", Probe: "chat"}, Protocol: "openai-chat",
		Prompt: DefaultPrompt(), Limits: probe.DefaultLimits(time.Minute),
	}
	if len(w) != 3 || w[0].Every != time.Minute || !reflect.DeepEqual(w[0].Spec, want) {
		t.Errorf("watches = %+v", w)
	}
	if len(cfg.Warnings) != 0 {
		t.Errorf("warnings: %v", cfg.Warnings)
	}
}

func TestGlobsAndOverrides(t *testing.T) {
	cfg := parse(t, oneTarget+`
prompts: [{name: p, messages: [{role: system, content: s}, {role: user, content: u}], max_tokens: 7, cache: warm, params: {temperature: 0.5, n: 2}, force_length: true, expect: {regex: x}}]
probes:
  - {name: q, prompt: p, cron: "*/5 * * * *", timezone: Asia/Shanghai, models: ["Qwen/*"], protocol: openai-completions, connection: reuse, timeouts: {total: 60s}}
`)
	var ids []string
	for _, w := range cfg.Roster().Watches {
		ids = append(ids, w.ID.String())
	}
	if want := []string{"a/Qwen/small/q", "a/Qwen/large/q"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("ids = %q, want %q", ids, want)
	}
	w := cfg.Roster().Watches[0]
	want := probe.Spec{
		ID: w.ID, Protocol: "openai-completions", Reuse: true, KeepText: true,
		Limits: probe.Limits{Connect: 5 * time.Second, FirstToken: 10 * time.Second, Stall: 8 * time.Second, Total: time.Minute},
		Prompt: probe.Prompt{
			Name: "p", Messages: []wire.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}}, MaxTokens: 7, Cache: probe.CacheWarm,
			ForceLength: true, Params: map[string]any{"temperature": 0.5, "n": int64(2)}, Expect: probe.Expect{Regex: "x"},
		},
	}
	if !reflect.DeepEqual(w.Spec, want) || w.Every != 0 || w.Cron != "*/5 * * * *" || w.Zone != "Asia/Shanghai" {
		t.Errorf("watch = %+v\nwant spec %+v", w, want)
	}
}

// TestParamsMerge: a prompt's parameters win over its target's.
func TestParamsMerge(t *testing.T) {
	cfg := parse(t, `
targets: [{name: a, provider: vllm, base_url: 'http://h', models: [m], params: {x: 1, y: {z: [true, null, s]}}}]
prompts: [{name: p, text: t, params: {x: 2}}]
probes: [{name: q, prompt: p, every: 1m}, {name: r, every: 1m}]
`)
	want := map[string]any{"x": int64(2), "y": map[string]any{"z": []any{true, nil, "s"}}}
	if got := cfg.Roster().Watches[0].Spec.Prompt.Params; !reflect.DeepEqual(got, want) {
		t.Errorf("params = %#v, want %#v", got, want)
	}
	want["x"] = int64(1)
	if got := cfg.Roster().Watches[1].Spec.Prompt.Params; !reflect.DeepEqual(got, want) {
		t.Errorf("params of the other prompt = %#v, want the target's own", got)
	}
}

func TestPromptFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "What is\na KV cache?\n")
	write("b.json", `[{"role":"system","content":"s"},{"role":"user","content":"u"}]`)
	text := oneTarget + "prompts: [{name: a, file: a.txt}, {name: b, file: b.json}]\nprobes: [{name: a, prompt: a, every: 1m}, {name: b, prompt: b, every: 1m}]\n"
	cfg, err := Parse([]byte(text), Options{Dir: dir, LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	w := cfg.Roster().Watches
	if got := w[0].Spec.Prompt.Messages; !reflect.DeepEqual(got, []wire.Message{{Role: "user", Content: "What is\na KV cache?"}}) {
		t.Errorf("text file: %+v", got)
	}
	if got := w[3].Spec.Prompt.Messages; !reflect.DeepEqual(got, []wire.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}}) {
		t.Errorf("JSON file: %+v", got)
	}
	write("a.txt", "another")
	again, err := Parse([]byte(text), Options{Dir: dir, LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash() == cfg.Hash() || again.Roster().Watches[0].Hash == w[0].Hash {
		t.Error("a changed prompt file keeps the hash")
	}
	if again.Roster().Watches[3].Hash != w[3].Hash {
		t.Error("a changed prompt file changes another probe's hash")
	}
	if p, ok := cfg.Prompt("b"); !ok || len(p.Messages) != 2 {
		t.Errorf("Prompt(b) = %+v, %v", p, ok)
	}
	if _, ok := cfg.Prompt("what is this?"); ok {
		t.Error("a text passes for a prompt's name")
	}
	for name, want := range map[string]string{"c.json": "holds no messages", "d.txt": "is empty"} {
		write(name, map[string]string{"c.json": "{}", "d.txt": " \n"}[name])
		_, err := Parse([]byte(oneTarget+"prompts: [{name: a, file: "+name+"}]\n"), Options{Dir: dir, LookupEnv: noEnv})
		if err == nil || !strings.HasPrefix(err.Error(), `prompts[0].file (line 2): "`+name+`": `+want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWarnings: doubts that do not keep the daemon from running.
func TestWarnings(t *testing.T) {
	tests := []struct{ name, give, want string }{
		{"threshold above the limit", "probes: [{name: p, every: 3s, slo: s}]\nslos: [{name: s, ttft: {below: 2s, objective: 95%}}]",
			"slos[0].ttft.below (line 3): 2s: is above the limit first_token: 1s of probe p, which cuts such answers and counts them bad; lower the threshold or raise the limit"},
		{"no window sees it", "probes: [{name: p, cron: '0 0 * * *', slo: s}]\nslos: [{name: s, success: 99.9%}]",
			"slos[0] (line 3): no burn-rate window can see success of 99.9% with one probe every 1d (p); probe more often or write alerting: off"},
		{"unused prompt", "prompts: [{name: p, text: t}]",
			`prompts[0] (line 2): "p": no probe and no sweep asks this; write prompt: p there or remove it`},
		{"unused SLO", "slos: [{name: s, success: 99%}]",
			`slos[0] (line 2): "s": no probe and no sweep is held to this; write slo: s there or remove it`},
		{"beyond the conditions", "probes: [{name: p, every: 1m, slo: s}]\nslos: [{name: s, success: 99%, conditions: {output_tokens_p95: 32}}]",
			"slos[0] (line 3): assumes at most 32 output tokens, but probe p asks for up to 64; raise conditions.output_tokens_p95 or lower max_tokens"},
		{"arrival of streams", "sweeps: [{name: s, targets: [a], cron: '0 3 * * *', arrival: constant, ladder: {concurrency: [1, 2]}}]",
			`sweeps[0].arrival (line 2): "constant": shapes the requests of a rate; streams send their next request when their last one ended; remove it, or write ladder: {rate: […]}`},
		{"sweep longer than its cron", "sweeps: [{name: s, targets: [a], cron: '*/10 * * * *', ladder: {concurrency: [1, 2]}}]",
			`sweeps[0].cron (line 2): "*/10 * * * *": comes every 10m, but a sweep may take 30m (max_duration); run it less often`},
	}
	for _, tt := range tests {
		if got := parse(t, oneTarget+tt.give+"\n").Warnings.Error(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	cfg := parse(t, "targets: [{name: a, provider: taotoken, base_url: 'https://h', models: [m]}]")
	if want := "targets[0] (line 1): sends no key: TAOTOKEN_API_KEY goes to https://taotoken.net/api only; write api_key_env: TAOTOKEN_API_KEY if this host is to have it"; cfg.Warnings.Error() != want {
		t.Errorf("other host: %q, want %q", cfg.Warnings.Error(), want)
	}
}

// TestAliases: anchors and merge keys work, JSON reads like YAML.
func TestAliases(t *testing.T) {
	cfg := parse(t, `
targets:
  - &base {name: a, provider: vllm, base_url: 'http://h', models: [m]}
  - {<<: *base, name: b}
`)
	r := cfg.Roster()
	if len(r.Targets) != 2 || r.Targets[1].Name != "b" || r.Targets[1].BaseURL != "http://h" {
		t.Errorf("targets = %+v", r.Targets)
	}
	cfg = parse(t, "{\"targets\": [{\"name\": \"a\",\n\t\"provider\": \"vllm\", \"base_url\": \"http:\\/\\/h\", \"models\": [\"m\"]}],\n\"prompts\": [{\"name\": \"chat\", \"text\": \"\\ud83d\\ude00\"}]}")
	if got := cfg.Roster().Watches[0].Spec.Prompt.Messages[0].Content; got != "😀" {
		t.Errorf("JSON text %q", got)
	}
}

// TestSLOsAndHashes: what a reload compares.
func TestSLOsAndHashes(t *testing.T) {
	base := "probes: [{name: p, every: 1m, slo: [s, u]}]\nslos: [{name: s, success: 99%, kinds: {short: ours}}, {name: u, window: 7d, alerting: ticket, first_content: {below: 2s, objective: 90%}}]\n"
	r := parse(t, oneTarget+base).Roster()
	want := []slo.SLO{
		{Name: "s", Window: 30 * day, Alerting: slo.Page, Objectives: []slo.Objective{{SLI: slo.Success, Ratio: 0.99}}, Kinds: map[probe.Outcome]probe.Kind{probe.Short: probe.KindOurs}},
		{Name: "u", Window: 7 * day, Alerting: slo.Ticket, Objectives: []slo.Objective{{SLI: slo.FirstContent, Below: 2 * time.Second, Ratio: 0.9}}},
	}
	if !reflect.DeepEqual(r.SLOs, want) || !reflect.DeepEqual(r.Watches[0].SLOs, want) {
		t.Errorf("SLOs = %+v\nwant %+v", r.SLOs, want)
	}
	tests := []struct {
		name                 string
		give                 string
		target, watch, rules bool // which hashes must change
	}{
		{"nothing", oneTarget + base + "state_file: x\n", false, false, false},
		{"base URL", strings.Replace(oneTarget+base, "http://h", "http://i", 1), true, false, false},
		{"inline secret", strings.Replace(oneTarget+base, "models:", "authorization: {credentials: x}, models:", 1), true, false, false},
		{"header", strings.Replace(oneTarget+base, "models:", "http_headers: {X-A: {values: [b]}}, models:", 1), true, false, false},
		{"label", strings.Replace(oneTarget+base, "models:", "labels: {team: x}, models:", 1), false, false, true},
		{"price", strings.Replace(oneTarget+base, "models:", "price: {currency: USD, input: 1, output: 1}, models:", 1), false, false, false},
		{"interval", strings.Replace(oneTarget+base, "1m", "2m", 1), false, true, true},
		{"threshold", strings.Replace(oneTarget+base, "below: 2s", "below: 3s", 1), false, true, true},
		{"prompt", oneTarget + base + "prompts: [{name: chat, text: other}]\n", false, true, false},
	}
	for _, tt := range tests {
		n := parse(t, tt.give).Roster()
		target, watch, rules := n.Targets[0].Hash != r.Targets[0].Hash, n.Watches[0].Hash != r.Watches[0].Hash, n.SLOHash != r.SLOHash
		if target != tt.target || watch != tt.watch || rules != tt.rules {
			t.Errorf("%s: target, watch, rules changed: %v %v %v, want %v %v %v", tt.name, target, watch, rules, tt.target, tt.watch, tt.rules)
		}
	}
}

// TestBounds: what multiplies ends in one clear message.
func TestBounds(t *testing.T) {
	var models, probes strings.Builder
	for i := range 150 {
		fmt.Fprintf(&models, "m%d, ", i)
		fmt.Fprintf(&probes, "  - {name: p%d, every: 1m}\n", i)
	}
	_, err := Parse([]byte("targets: [{name: a, provider: vllm, base_url: 'http://h', models: ["+models.String()+"]}]\nprobes:\n"+probes.String()), Options{LookupEnv: noEnv})
	// Probe 134 (from 1) is the first beyond 20,000.
	if want := "probes[133] (line 136): makes more than 20000 probes in all (a daemon holds about 1,000); narrow targets and models, or split the file"; err == nil || err.Error() != want {
		t.Errorf("22,500 probes: %v", err)
	}
	_, err = Parse([]byte(strings.Repeat("x: 1\n", 600)), Options{LookupEnv: noEnv})
	if problems, ok := err.(Problems); !ok || len(problems) != 501 || problems[500].Error() != "config: and 101 more problems" {
		t.Errorf("600 unknown keys without targets: %d problems", len(problems))
	}
}

// FuzzParse: no panic, and either a configuration or problems with a message;
// what is shown of a valid one is valid again as YAML.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/bad-*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, name := range append(files, "example.yaml", "reference.yaml") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(secretive))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Parse(data, Options{LookupEnv: noEnv, Dir: "testdata"})
		if (cfg == nil) == (err == nil) {
			t.Fatalf("%v, %v", cfg, err)
		}
		if err != nil {
			problems, ok := err.(Problems)
			if !ok || len(problems) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			for _, p := range problems {
				if p.Message == "" {
					t.Fatalf("%+v has no message", p)
				}
			}
			return
		}
		if _, problem := readDocument(cfg.Redacted()); problem != nil {
			t.Fatalf("redacted: %v\n%s", problem, cfg.Redacted())
		}
		if _, err := cfg.Endpoints(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSweepThresholds: the reference shows every default, and a mistake is
// named with its place and what is possible.
func TestSweepThresholds(t *testing.T) {
	cfg, err := Load("reference.yaml", Options{LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	var want capacity.Thresholds
	changed := cfg.Roster().Sweeps[0].Thresholds.Changed()
	for _, s := range changed {
		name, _, _ := strings.Cut(s, "=")
		if got := s; !strings.HasSuffix(s, "="+want.Get(name)) {
			t.Errorf("reference.yaml has %s, the default is %s", got, want.Get(name))
		}
	}
	if len(changed) != len(capacity.ThresholdNames()) {
		t.Errorf("reference.yaml shows %d of %d thresholds", len(changed), len(capacity.ThresholdNames()))
	}
	_, err = Parse([]byte(oneTarget+"sweeps: [{name: s, targets: [a], cron: '0 3 * * *', thresholds: {saturated_gain: 5, near_eficiency: 1}, ladder: {concurrency: [1, 2]}}]\n"), Options{LookupEnv: noEnv})
	for _, want := range []string{`sweeps[0].thresholds.saturated_gain (line 2): "5" is not a share from 0% to 100%, such as 5%`, "near_efficiency"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSweepAbort: the limits of a scheduled sweep. The bystander's holds even
// where the others are off.
func TestSweepAbort(t *testing.T) {
	usual := roster.Abort{ErrorRatio: 0.2, TTFT: 10 * time.Second, BystanderTTFT: 5}
	for give, want := range map[string]roster.Abort{
		"":                              usual,
		"abort: off, ":                  {},
		"abort: {ttft: 3s}, ":           {ErrorRatio: 0.2, TTFT: 3 * time.Second, BystanderTTFT: 5},
		"abort: {bystander_ttft: 20}, ": {ErrorRatio: 0.2, TTFT: 10 * time.Second, BystanderTTFT: 20},
	} {
		cfg := parse(t, oneTarget+"sweeps: [{name: s, targets: [a], cron: '0 3 * * *', "+give+"ladder: {concurrency: [1, 2]}}]\n")
		if got := cfg.Roster().Sweeps[0].Abort; got != want {
			t.Errorf("%q: %+v, want %+v", give, got, want)
		}
	}
	_, err := Parse([]byte(oneTarget+"sweeps: [{name: s, targets: [a], cron: '0 3 * * *', abort: {bystander_ttft: 0.5}, ladder: {concurrency: [1, 2]}}]\n"), Options{LookupEnv: noEnv})
	if want := `sweeps[0].abort.bystander_ttft (line 2): "0.5": write how many times its median the bystander's TTFT may be, 1 or more`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
