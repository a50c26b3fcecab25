package sim

import (
	"math"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, good := range []Config{{}, Demo(), {Engine: Truth()}, {Models: []string{"a"}, Engine: Engine{QueueLimit: -1}}} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	bad := Config{
		Models:     []string{"a", "b", "a", "c", "d", "e", "f", "g"},
		Engine:     Engine{QueueLimit: -2},
		PathPrefix: "api",
		Quota:      Quota{RPM: -1},
		Faults:     []Faults{{}, {Hang: true, StallRate: math.NaN()}},
		Answers:    map[string]Answer{"x": {}, "b": {Spread: 1}},
		Engines: map[string]Engine{
			"b": {PrefillRate: -1}, "c": {Decode: -1}, "d": {FixedTPOT: 1}, "e": {Slots: -1}, "f": {Jitter: math.NaN()}, "g": {},
		},
	}
	want := []string{
		`model "a": give each model a name of its own`,
		`model "x" has settings but is not served: the models are ["a" "b" "a"`,
		"a: queue limit -2",
		"b: prefill rate -1",
		"b: an answer of 256 tokens, spread 1",
		"c: a time is negative: decode -1ns",
		"d: a fixed TPOT of 1ns needs a fixed TTFT",
		"e: -1 slots",
		"f: jitter σ NaN",
		"quota {RPM:-1 TPM:0 Concurrency:0}",
		`path prefix "api"`,
		"fault 2: stall_rate is NaN",
	}
	got := strings.Split(bad.Check().Error(), "\n")
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || strings.HasPrefix(g, w)
		}
		if !found {
			t.Errorf("no error begins with %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want)+1 { // the model "a" is there twice, so is its queue limit
		t.Errorf("%d errors, want %d:\n%s", len(got), len(want)+1, strings.Join(got, "\n"))
	}
}
