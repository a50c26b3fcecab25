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
