package slo

import (
	"testing"
	"time"

	"tokprobe/probe"
)

func ms(n int) probe.Opt[time.Duration] { return probe.Some(time.Duration(n) * time.Millisecond) }

func answer(o probe.Outcome) probe.Result {
	return probe.Result{Outcome: o, TTFT: ms(200), FirstContent: ms(300), TPOT: ms(20), E2E: ms(1500)}
}

func with(r probe.Result, change func(*probe.Result)) probe.Result {
	change(&r)
	return r
}

// limits are met exactly by answer(): at the limit is good.
var limits = map[SLI]time.Duration{
	TTFT: 200 * time.Millisecond, FirstContent: 300 * time.Millisecond,
	TPOT: 20 * time.Millisecond, E2E: 1500 * time.Millisecond,
}

func TestVerdict(t *testing.T) {
	const g, b, x = Good, Bad, Excluded
	moved := SLO{Kinds: map[probe.Outcome]probe.Kind{
		probe.RateLimited: probe.KindService, probe.ServerError: probe.KindOurs,
		probe.ContentFilter: probe.KindOK, probe.Empty: probe.KindAnswer,
	}}
	tests := []struct {
		name string
		slo  SLO
		give probe.Result
		want [5]Verdict // success, ttft, first_content, tpot, e2e
	}{
		{"ok at every limit", SLO{}, answer(probe.OK), [5]Verdict{g, g, g, g, g}},
		{"ok one nanosecond over in ttft", SLO{},
			with(answer(probe.OK), func(r *probe.Result) { r.TTFT.V++ }), [5]Verdict{g, b, g, g, g}},
		{"ok without visible text", SLO{},
			with(answer(probe.OK), func(r *probe.Result) { r.FirstContent.OK = false }), [5]Verdict{g, g, x, g, g}},
		{"ok with one token", SLO{},
			with(answer(probe.OK), func(r *probe.Result) { r.TPOT.OK = false }), [5]Verdict{g, g, g, x, g}},
		{"ok but coalesced", SLO{},
			with(answer(probe.OK), func(r *probe.Result) { r.Coalesced = true }), [5]Verdict{g, g, g, x, g}},
		{"ok but our lag could explain it", SLO{},
			with(answer(probe.OK), func(r *probe.Result) { r.LagSuspect = true }), [5]Verdict{x, x, x, x, x}},
		{"service", SLO{}, probe.Result{Outcome: probe.TimeoutFirstToken}, [5]Verdict{b, b, b, b, b}},
		{"service after a fast first token", SLO{}, answer(probe.Stall), [5]Verdict{b, b, b, b, b}},
		{"service but our lag could explain it", SLO{},
			probe.Result{Outcome: probe.TimeoutFirstToken, LagSuspect: true}, [5]Verdict{x, x, x, x, x}},
		{"answer", SLO{}, answer(probe.Short), [5]Verdict{b, x, x, x, x}},
		{"ours", SLO{}, probe.Result{Outcome: probe.Auth}, [5]Verdict{x, x, x, x, x}},
		{"empty", SLO{}, probe.Result{Outcome: probe.Empty, FinishReason: "stop"}, [5]Verdict{b, b, b, b, b}},
		{"empty by hidden thinking", SLO{},
			probe.Result{Outcome: probe.Empty, FinishReason: "length"}, [5]Verdict{x, x, x, x, x}},
		{"unknown outcome", SLO{}, probe.Result{Outcome: "nonsense"}, [5]Verdict{x, x, x, x, x}},
		{"moved to service", moved, probe.Result{Outcome: probe.RateLimited}, [5]Verdict{b, b, b, b, b}},
		{"moved to ours", moved, probe.Result{Outcome: probe.ServerError}, [5]Verdict{x, x, x, x, x}},
		{"moved to ok", moved, answer(probe.ContentFilter), [5]Verdict{g, g, g, g, g}},
		{"moved to answer", moved, probe.Result{Outcome: probe.Empty}, [5]Verdict{b, x, x, x, x}},
		{"moved, but hidden thinking stays ours", moved,
			probe.Result{Outcome: probe.Empty, FinishReason: "length"}, [5]Verdict{x, x, x, x, x}},
		{"moved, but our lag stays ours", moved,
			probe.Result{Outcome: probe.RateLimited, LagSuspect: true}, [5]Verdict{x, x, x, x, x}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, sli := range SLIs() {
				if got := tt.slo.Verdict(Objective{SLI: sli, Below: limits[sli]}, tt.give); got != tt.want[i] {
					t.Errorf("%s: %s, want %s", sli, got, tt.want[i])
				}
			}
		})
	}
}

// TestEveryOutcome holds the table of kinds: no outcome escapes it.
func TestEveryOutcome(t *testing.T) {
	success := Objective{SLI: Success}
	count := map[Verdict]int{}
	for _, o := range probe.Outcomes() {
		count[SLO{}.Verdict(success, probe.Result{Outcome: o})]++
	}
	want := map[Verdict]int{Good: 1, Bad: 16, Excluded: 6}
	for _, v := range Verdicts() {
		if count[v] != want[v] {
			t.Errorf("%d outcomes are %s, want %d", count[v], v, want[v])
		}
	}
}

func TestVerdictOfTick(t *testing.T) {
	tests := []struct {
		name string
		give probe.Tick
		want [2]Verdict // success, ttft
	}{
		{"plain", probe.Tick{Result: answer(probe.OK)}, [2]Verdict{Good, Good}},
		{"beside a sweep", probe.Tick{Result: answer(probe.OK), Bystander: true}, [2]Verdict{Good, Excluded}},
		{"failed beside a sweep", probe.Tick{Result: answer(probe.Reset), Bystander: true}, [2]Verdict{Bad, Excluded}},
		{"in maintenance", probe.Tick{Result: answer(probe.Reset), Maintenance: true}, [2]Verdict{Excluded, Excluded}},
	}
	for _, tt := range tests {
		for i, sli := range []SLI{Success, TTFT} {
			if got := (SLO{}).VerdictOfTick(Objective{SLI: sli, Below: limits[sli]}, tt.give); got != tt.want[i] {
				t.Errorf("%s: %s: %s, want %s", tt.name, sli, got, tt.want[i])
			}
		}
	}
}
