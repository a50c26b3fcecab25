package sim_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/sim"
	"tokprobe/probe/wire"
)

// measure probes once in virtual time and returns what the prober says and
// what the simulator knows.
func measure(t *testing.T, cfg sim.Config, spec probe.Spec) (result probe.Result, truth sim.Record) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(cfg)
		e, err := probe.NewEndpoint(probe.EndpointConfig{Target: "sim", BaseURL: "http://sim", DialContext: s.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		result = e.Probe(t.Context(), spec)
		e.Close()
		time.Sleep(time.Second) // the simulator notices that its client left
		truth = s.Records()[0]
		s.Close()
	})
	return result, truth
}

func spec(protocol string) probe.Spec {
	return probe.Spec{
		ID: probe.ID{Target: "sim", Model: "sim-fast", Probe: "chat"}, Protocol: protocol, Limits: probe.DefaultLimits(30 * time.Second),
		Prompt: probe.Prompt{MaxTokens: 32, Messages: []wire.Message{{Role: "user", Content: "Explain continuous batching."}}},
	}
}

// TestProberAgrees: with a healthy endpoint the prober and the simulator tell
// the same times to the nanosecond, and the same counts.
func TestProberAgrees(t *testing.T) {
	engine := sim.DefaultEngine("sim-fast")
	engine.PrefixCache, engine.Jitter = true, 0.2
	for _, protocol := range wire.Names() {
		for name, e := range map[string]sim.Engine{"truth": sim.Truth(), "batching": engine} {
			got, truth := measure(t, sim.Config{Engine: e, Answer: sim.Answer{Reasoning: 4}}, spec(protocol))
			ttft, _ := truth.TTFT()
			tpot, _ := truth.TPOT()
			if got.Outcome != probe.OK || got.TTFT != probe.Some(ttft) || got.TPOT != probe.Some(tpot) || got.E2E != probe.Some(truth.End.Sub(truth.Arrival)) {
				t.Errorf("%s, %s: %s, TTFT %v, TPOT %v, E2E %v (%s)\nthe truth is TTFT %v, TPOT %v, %+v",
					protocol, name, got.Outcome, got.TTFT, got.TPOT, got.E2E, got.Err, ttft, tpot, truth)
			}
			if got.OutputTokens != probe.Some(int64(truth.Tokens)) || got.PromptTokens != probe.Some(int64(truth.PromptTokens)) || got.Chunks != truth.StreamedTokens {
				t.Errorf("%s, %s: output %v, prompt %v, %d chunks; the truth is %+v", protocol, name, got.OutputTokens, got.PromptTokens, got.Chunks, truth)
			}
			if got.RequestID != truth.ID {
				t.Errorf("%s: request id %q, want %q", protocol, got.RequestID, truth.ID)
			}
		}
	}
}

// TestProberSeesEveryFault: for each fault the prober's outcome is the one in
// the record.
func TestProberSeesEveryFault(t *testing.T) {
	list := []sim.Faults{
		{Hang: true},
		{StallRate: 1},
		{StallRate: 1, StallAfterTokens: 3},
		{StallRate: 1, Keepalive: time.Second},
		{CutRate: 1, Cut: "truncate"},
		{CutRate: 1, Cut: "truncate", CutAfterTokens: 3},
		{CutRate: 1, Cut: "truncate", CutAfterTokens: 3, Coalesce: true},
		{Coalesce: true},
		{TTFTFactor: 60},
		{TPOTFactor: 450},
	}
	for _, c := range sim.Classes() {
		list = append(list, sim.Faults{ErrorRate: 1, ErrorClass: c.Name, ErrorAfterTokens: 2})
	}
	seen := map[string]bool{}
	for _, protocol := range wire.Names() {
		for _, f := range list {
			got, truth := measure(t, sim.Config{Engine: sim.Truth(), Faults: []sim.Faults{f}}, spec(protocol))
			want := truth.Outcome
			switch {
			case f.TTFTFactor > 0:
				want = "timeout_first_token" // 12 s against the limit of 10 s
			case f.TPOTFactor > 0:
				want = "stall" // 9 s against 8 s
			}
			if string(got.Outcome) != want || want == "cancelled" {
				t.Errorf("%s, %+v: the prober says %s (%s), want %s", protocol, f, got.Outcome, got.Err, want)
			}
			seen[want] = true
		}
	}
	for _, o := range probe.Outcomes() {
		apart := []probe.Outcome{probe.DNS, probe.Connect, probe.TLS, probe.TimeoutTotal, probe.Reset, probe.Short, probe.Assertion, probe.Internal}
		if !seen[string(o)] && !slices.Contains(apart, o) {
			t.Errorf("no fault leads to outcome %s", o)
		}
	}
}
