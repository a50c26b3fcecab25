package exporter

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

var update = flag.Bool("update", false, "write testdata/page.txt anew")

const ms = time.Millisecond

func dur(d time.Duration) probe.Opt[time.Duration] { return probe.Some(d) }

var chatID = probe.ID{Target: "vllm-a", Model: "qwen", Probe: "chat"}

// testRoster is one target with everything a target can have, one probe and
// one sweep.
func testRoster() roster.Roster {
	cached := 0.3
	return roster.Roster{
		SLOHash: "abc123",
		Targets: []roster.Target{{
			Name: "vllm-a", Provider: "vllm", Protocol: "openai-chat", Models: []string{"qwen"},
			Labels:    map[string]string{"team": "assistants", "target": "clash"},
			Budget:    roster.Budget{ProbeTokensPerDay: 500_000},
			Price:     &roster.Price{Currency: "USD", Input: 3, Output: 15, Cached: &cached},
			HealthURL: "http://10.0.0.5:8000/health",
		}},
		Watches: []roster.Watch{{
			ID: chatID, Every: 30 * time.Second, AllowOverlap: true,
			Spec: probe.Spec{ID: chatID, Limits: probe.Limits{
				Connect: 5 * time.Second, FirstToken: 10 * time.Second, Stall: 8 * time.Second, Total: 24 * time.Second}},
			SLOs: []slo.SLO{{Name: "interactive", Objectives: []slo.Objective{
				{SLI: slo.Success, Ratio: 0.995},
				{SLI: slo.TTFT, Below: 150 * ms, Ratio: 0.95},
				{SLI: slo.TPOT, Below: 20 * ms, Ratio: 0.95},
			}}},
		}},
		Sweeps: []roster.Sweep{{Name: "nightly", Target: "vllm-a", Model: "qwen"}},
	}
}

// okResult is an ok probe of 64 tokens whose TTFT is given:
// E2E = TTFT + 63·20 ms + 10 ms.
func okResult(ttft time.Duration) probe.Result {
	return probe.Result{
		ID: chatID, Outcome: probe.OK, HTTPStatus: 200, Start: time.Now(),
		TTFT: dur(ttft), FirstContent: dur(ttft + 50*ms), TPOT: dur(20 * ms),
		E2E: dur(ttft + 63*20*ms + 10*ms), Tail: dur(10 * ms),
		Gaps: []time.Duration{20 * ms, 20 * ms, 60 * ms}, Chunks: 4,
		OutputTokens: probe.Some[int64](64), PromptTokens: probe.Some[int64](25),
		CachedTokens: probe.Some[int64](5), ReasoningTokens: probe.Some[int64](10),
		RequestID: "chatcmpl-1", Phases: probe.Phases{Connect: dur(2 * ms), Send: dur(1 * ms), Headers: dur(90 * ms)},
		ClientLag: 2 * ms, CertExpiry: time.Unix(2_000_000_000, 0),
	}
}

func started(e probe.Recorder) {
	e.Record(probe.Tick{ID: chatID, Stage: probe.TickDue, Due: time.Now(), Started: time.Now().Add(3 * ms)})
}

func done(e probe.Recorder, r probe.Result) {
	e.Record(probe.Tick{ID: chatID, Stage: probe.TickDone, Due: time.Now(), Started: time.Now(), Result: r})
}

func skipped(e probe.Recorder, reason probe.SkipReason) {
	e.Record(probe.Tick{ID: chatID, Stage: probe.TickDue, Due: time.Now(), Skip: reason})
}

// script is half an hour of one probe: 60 ok with TTFT 101 to 160 ms; a tick
// skipped for a sweep; one stall while two ticks pass it by; a 429; and one
// that still runs.
func script(e *Exporter) {
	for i := range 60 {
		started(e)
		done(e, okResult(time.Duration(101+i)*ms))
		time.Sleep(30 * time.Second)
	}
	skipped(e, probe.SkipSweep)
	started(e)
	skipped(e, probe.SkipOverlap)
	skipped(e, probe.SkipOverlap)
	done(e, probe.Result{ID: chatID, Outcome: probe.Stall, HTTPStatus: 200, TTFT: dur(200 * ms), Start: time.Now(),
		OutputTokens: probe.Some[int64](3), OutputTokensSource: "chunks", StaleConnections: 1, Err: "no token for 8s"})
	started(e)
	done(e, probe.Result{ID: chatID, Outcome: probe.RateLimited, HTTPStatus: 429, Start: time.Now(),
		Phases: probe.Phases{Send: dur(1 * ms), Headers: dur(5 * ms)}})
	started(e)
}

func text(t *testing.T, g prometheus.Gatherer) []byte {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestPage compares every line of the page after script with the golden file.
func TestPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{NoRuntime: true})
		e.Apply(testRoster())
		e.SetReload(true, time.Now())
		e.SetHealth("vllm-a", true)
		e.SetBudgetRemaining("vllm-a", "probe", 494_337)
		e.SetCanary("machine", true)
		script(e)
		got := text(t, e)
		file := filepath.Join("testdata", "page.txt")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compareLines(t, got, want)
	})
}

func compareLines(t *testing.T, got, want []byte) {
	t.Helper()
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(g), len(w)) {
		var a, b []byte
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("line %d\ngot  %s\nwant %s\n(-update writes the file anew; read the difference first)", i+1, a, b)
		}
	}
}
