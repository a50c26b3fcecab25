package roster

import (
	"math"
	"reflect"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/wire"
)

func TestForecast(t *testing.T) {
	limits := probe.Limits{Connect: 5 * time.Second, Total: 25 * time.Second}
	generated := probe.Prompt{InputTokens: 1000, MaxTokens: 50}
	r := Roster{
		Targets: []Target{
			{Name: "t", Price: &Price{Currency: "USD", Input: 3, Output: 15}, Budget: Budget{ProbeTokensPerDay: 3_000_000, SweepTokensPerDay: 20_000}},
			{Name: "idle"},
		},
		Watches: []Watch{
			{ID: probe.ID{Target: "t", Model: "m", Probe: "a"}, Every: time.Minute, Spec: probe.Spec{Prompt: generated, Limits: limits}},
			{ID: probe.ID{Target: "t", Model: "m", Probe: "b"}, Cron: "0 */2 * * *", Spec: probe.Spec{Prompt: generated, Limits: limits}},
		},
		Sweeps: []Sweep{{
			Name: "weekly", Target: "t", Model: "m", Cron: "30 3 * * 1", Scenario: "T2", Mode: "concurrency",
			Ladder: []float64{1, 4, 16}, MaxDuration: 15 * time.Minute,
		}},
	}
	// Levels: 20+1, 20+4, 32+8 requests.
	sweep := Load{Requests: 85, InputTokens: 85 * 50, OutputTokens: 85 * 64, Minutes: 15, Money: (85*50*3 + 85*64*15) / 1e6}
	a := Load{Requests: 1440, InputTokens: 1_440_000, OutputTokens: 72_000, Minutes: 720, Money: 5.4}
	b := Load{Requests: 12, InputTokens: 12_000, OutputTokens: 600, Minutes: 6, Money: 0.045}
	monday := time.Date(2026, 8, 3, 17, 0, 0, 0, time.FixedZone("", 3600))
	f := ForecastDay(r, monday)
	want := Forecast{
		Day:    time.Date(2026, 8, 3, 0, 0, 0, 0, time.UTC),
		Probes: []ProbeForecast{{r.Watches[0].ID, a}, {r.Watches[1].ID, b}},
		Sweeps: []SweepForecast{{Key: SweepKey{"t", "m", "weekly"}, Runs: 1, TokensEach: 85 * 114, Load: sweep}},
		Targets: []TargetForecast{
			{Target: "t", Currency: "USD", Probes: sum(a, b), Sweeps: sweep, Budget: r.Targets[0].Budget},
			{Target: "idle"},
		},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("forecast = %+v\nwant       %+v", f, want)
	}
	if f.Targets[0].ProbesOver() || f.Targets[0].SweepsOver() {
		t.Error("1,524,600 and 8,840 tokens are called over budget")
	}
	tuesday := ForecastDay(r, monday.Add(24*time.Hour))
	if s := tuesday.Sweeps[0]; s.Runs != 0 || s.Tokens() != 0 || s.TokensEach != 85*114 {
		t.Errorf("on Tuesday the sweep of Mondays = %+v", s)
	}
	r.Targets[0].Budget = Budget{ProbeTokensPerDay: 1_524_599, SweepTokensPerDay: 8_839}
	f = ForecastDay(r, monday)
	if !f.Targets[0].ProbesOver() || !f.Targets[0].SweepsOver() {
		t.Error("one token over both budgets goes unseen")
	}
}

func sum(a, b Load) Load { a.add(b); return a }

func TestOneRun(t *testing.T) {
	tests := []struct {
		name string
		give Sweep
		want float64
	}{
		{"by rule", Sweep{Mode: "concurrency", Ladder: []float64{1, 32}}, 20 + 1 + 64 + 8},
		{"requests", Sweep{Mode: "concurrency", Ladder: []float64{4, 8}, Requests: 100}, 200 + 4 + 8},
		// An answer of T2 lasts 0.2 + 64·0.02 = 1.48 s.
		{"duration", Sweep{Mode: "concurrency", Scenario: "T2", Ladder: []float64{1}, Duration: 148 * time.Second}, 100 + 1},
		// The target bounds its answers to 10 tokens: 0.4 s.
		{"bounded", Sweep{Mode: "concurrency", Scenario: "T4", Params: map[string]any{"max_tokens": 10}, Ladder: []float64{1}, Duration: 40 * time.Second}, 100 + 1},
		{"rate", Sweep{Mode: "rate", Ladder: []float64{0.5}, Duration: 40 * time.Second}, 20 + 1},
	}
	for _, tt := range tests {
		if got := tt.give.OneRun().Requests; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v requests, want %v", tt.name, got, tt.want)
		}
	}
}

func TestEstimates(t *testing.T) {
	text := func(s string) probe.Prompt {
		return probe.Prompt{Messages: []wire.Message{{Role: "user", Content: s}}}
	}
	warm := text("12345678")
	warm.Cache = probe.CacheWarm
	tests := []struct {
		name    string
		give    probe.Prompt
		in, out int
	}{
		{"ASCII", text("12345678"), 8 + 8 + 4 + 2, 64},
		{"warm", warm, 8 + 4 + 2, 64},
		{"Chinese", text("解释连续批处理"), 8 + 8 + 4 + 7, 64},
		{"generated", probe.Prompt{InputTokens: 8000, MaxTokens: 5}, 8000, 5},
		{"bound in params", probe.Prompt{InputTokens: 1, MaxTokens: 5, Params: map[string]any{"max_completion_tokens": int64(99)}}, 1, 99},
	}
	for _, tt := range tests {
		if in, out := EstimateInput(tt.give), EstimateOutput(tt.give); in != tt.in || out != tt.out {
			t.Errorf("%s: %d and %d tokens, want %d and %d", tt.name, in, out, tt.in, tt.out)
		}
	}
}

func TestExpected(t *testing.T) {
	tests := []struct {
		give Watch
		want float64
	}{
		{Watch{Every: 30 * time.Second}, 86400},
		{Watch{Cron: "0 */6 * * *"}, 120},
		{Watch{Cron: "nonsense"}, 0},
	}
	for _, tt := range tests {
		if got := Expected(tt.give, 30*24*time.Hour); got != tt.want {
			t.Errorf("%v %q: %v samples, want %v", tt.give.Every, tt.give.Cron, got, tt.want)
		}
	}
}

// TestHash: a hash follows the content and nothing else.
func TestHash(t *testing.T) {
	w := Watch{ID: probe.ID{Target: "t", Model: "m", Probe: "p"}, Every: time.Minute}
	w.Spec.Prompt.Params = map[string]any{"a": 1, "b": map[string]any{"c": 2, "d": 3}}
	same := w
	same.Hash = "set already"
	if Hash(w) != Hash(same) {
		t.Error("the hash field itself is hashed")
	}
	other := w
	other.Spec.Prompt.Params = map[string]any{"a": 1, "b": map[string]any{"c": 2, "d": 4}}
	slower := w
	slower.Every = 2 * time.Minute
	if Hash(other) == Hash(w) || Hash(slower) == Hash(w) {
		t.Error("a changed parameter or interval keeps the hash")
	}
}
