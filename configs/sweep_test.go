package configs

import (
	"testing"
	"time"
)

// oneSweep is a configuration with one sweep at line 2.
func oneSweep(rest string) string {
	return oneTarget + "sweeps: [{name: s, targets: [a], models: [other], cron: '0 3 * * *', " + rest + "}]\n"
}

// refused compares the one problem of a configuration.
func refused(t *testing.T, name, give, want string) {
	t.Helper()
	_, err := Parse([]byte(give), Options{LookupEnv: noEnv})
	if err == nil || err.Error() != want {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

// TestSweepShape: language, arrivals and cool-down as they reach the roster.
func TestSweepShape(t *testing.T) {
	type shape struct {
		scenario, language, arrival string
		burstiness                  float64
		coolDown                    time.Duration
	}
	const rate = "ladder: {rate: [1, 2]}"
	for give, want := range map[string]shape{
		rate:                                       {"T2", "en", "poisson", 0, 0},
		rate + ", scenario: T3, lang: zh":          {"T3", "zh", "poisson", 0, 0},
		rate + ", prompt: chat":                    {"", "", "poisson", 0, 0},
		rate + ", cool_down: 0s":                   {"T2", "en", "poisson", 0, -1},
		rate + ", cool_down: 1m":                   {"T2", "en", "poisson", 0, time.Minute},
		"burstiness: 0.5, arrival: gamma, " + rate: {"T2", "en", "gamma", 0.5, 0},
	} {
		s := parse(t, oneSweep(give)).Roster().Sweeps[0]
		if got := (shape{s.Scenario, s.Language, s.Arrival, s.Burstiness, s.CoolDown}); got != want {
			t.Errorf("%s: %+v, want %+v", give, got, want)
		}
	}
	for _, tt := range []struct{ give, want string }{
		{"arrival: gamma", `sweeps[0].arrival (line 2): "gamma": arrival gamma needs burstiness: below 1 is burstier than Poisson, 1 is Poisson; write burstiness: 0.5`},
		{"burstiness: 2", "sweeps[0].burstiness (line 2): shapes gamma arrivals, and these are poisson; write arrival: gamma or remove it"},
		{"arrival: gamma, burstiness: 0", `sweeps[0].burstiness (line 2): "0": write a number over 0, at least 0.01, such as 0.5`},
		{"lang: de", `sweeps[0].lang (line 2): "de": write en or zh`},
		{"lang: en, prompt: chat", `sweeps[0].lang (line 2): "en": prompt is given, which is in whatever language it is written; remove lang, or write scenario instead of prompt`},
		{"cool_down: -1s", `sweeps[0].cool_down (line 2): "-1s": is negative; write a duration such as 500ms, 30s, 5m, 12h, 30d or 2w`},
	} {
		refused(t, tt.give, oneSweep(rate+", "+tt.give), tt.want)
	}
}

// TestSweepRequests: a stream without a request fails every run, one with only
// one is flagged.
func TestSweepRequests(t *testing.T) {
	refused(t, "8 at 64", oneSweep("requests: 8, ladder: {concurrency: [1, 64]}"),
		"sweeps[0].requests (line 2): 8: is fewer than the 64 streams of the ladder, some of which would have none, so every run would fail; write at least 128, better 256, or end the ladder at 8")
	for give, want := range map[string]string{
		"requests: 15, ladder: {concurrency: [1, 8]}": "sweeps[0].requests (line 2): 15: is under 2 a stream at 8 streams, where ramp and drain weigh heavily (few_requests); write at least 16",
		"requests: 16, ladder: {concurrency: [1, 8]}": "",
		"ladder: {concurrency: [1, 64]}":              "",
	} {
		if got := parse(t, oneSweep(give)).Warnings.Error(); got != want {
			t.Errorf("%s: %q, want %q", give, got, want)
		}
	}
}

// TestSweepWithoutResult: what the file alone shows to be in vain. By the
// forecast an answer of T2 takes 1.48 s, so arrivals must spread over 31.48 s.
func TestSweepWithoutResult(t *testing.T) {
	const (
		rates   = "ladder: {rate: [1, 2]}"
		streams = "ladder: {concurrency: [1, 2, 4]}"
	)
	for _, tt := range []struct{ name, give, want string }{
		{"default", rates, ""},
		// 20 requests at 2 a second spread over 19 gaps of 0.5 s; 63 gaps are the first to reach 31.48 s.
		{"requests", rates + ", requests: 20", "sweeps[0].requests (line 2): 20: level 2 would be too short to judge: its arrivals spread over 9.5s, and after the first answer (some 1.5s by the forecast) they must go on for 30s (thresholds.min_window); write duration: 33s instead, or requests: 64"},
		{"requests mended", rates + ", requests: 64", ""},
		{"duration", rates + ", duration: 20s", "sweeps[0].duration (line 2): 20s: level 2 would be too short to judge: its arrivals spread over 19.5s, and after the first answer (some 1.5s by the forecast) they must go on for 30s (thresholds.min_window); write duration: 33s"},
		{"duration mended", rates + ", duration: 33s", ""},
		{"one arrival", "ladder: {rate: [0.01, 1]}, duration: 1m", "sweeps[0].duration (line 2): 1m: level 0.01 would be too short to judge: its arrivals spread over 0s, and after the first answer (some 1.5s by the forecast) they must go on for 30s (thresholds.min_window); write duration: 3m20s"},
		{"shorter window", rates + ", duration: 20s, thresholds: {min_window: 10s}", ""},
		{"long answers", rates + ", scenario: T4", "sweeps[0].ladder (line 2): level 2 would be too short to judge: its arrivals spread over 44.5s, and after the first answer (some 41.2s by the forecast) they must go on for 30s (thresholds.min_window); write duration: 1m13s"},
		{"long answers mended", rates + ", scenario: T4, duration: 73s", ""},
		{"streams have no window", streams + ", duration: 5s", ""},

		// 3 levels of 2m and 2 cool-downs of 5s.
		{"ladder of 6m10s in 6m10s", streams + ", duration: 2m, max_duration: 6m10s", "sweeps[0].max_duration (line 2): 6m10s: is over before the 3 levels are, which take 6m10s with their cool-downs and some more for the last answers, so every run would be aborted; raise it to 7m, or shorten the ladder or its levels"},
		{"in 6m11s", streams + ", duration: 2m, max_duration: 6m11s", ""},
		{"no cool-down", streams + ", duration: 2m, max_duration: 6m10s, cool_down: 0s", ""},
		{"by default", streams + ", duration: 10m", "sweeps[0].max_duration (line 2): 30m: is over before the 3 levels are, which take 30m10s with their cool-downs and some more for the last answers, so every run would be aborted; raise it to 34m, or shorten the ladder or its levels"},
		{"rate", rates + ", max_duration: 1m", "sweeps[0].max_duration (line 2): 1m: is over before the 2 levels are, which take 1m35s with their cool-downs and some more for the last answers, so every run would be aborted; raise it to 2m, or shorten the ladder or its levels"},
		{"nobody knows", streams + ", requests: 1000, max_duration: 1s", ""},
	} {
		if got := parse(t, oneSweep(tt.give)).Warnings.Error(); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestSweepOverBudget: told once a target, where one run exceeds a day. Three
// levels of 20 requests and 1 + 2 + 4 warm-ups, of 50 + 64 tokens each, are
// 67 · 114 = 7,638.
func TestSweepOverBudget(t *testing.T) {
	for budget, want := range map[string]string{
		"7637": "sweeps[0] (line 2): one run on a is forecast at 7638 tokens, and its budget.sweep_tokens_per_day is 7637, so each is skipped (reason budget); ask fewer requests, shorten the ladder or raise the budget to 7638",
		"7638": "",
	} {
		cfg := parse(t, "targets: [{name: a, provider: vllm, base_url: 'http://h', models: [m, n], budget: {sweep_tokens_per_day: "+budget+"}}]\n"+
			"sweeps: [{name: s, targets: [a], cron: '0 3 * * *', ladder: {concurrency: [1, 2, 4]}}]\n")
		if got := cfg.Warnings.Error(); got != want {
			t.Errorf("budget %s: %q, want %q", budget, got, want)
		}
	}
}
