package exporter

import (
	"testing"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/roster"
)

func TestSweepMetrics(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	id := SweepID{"vllm-a", "qwen", "nightly"}
	at := time.Unix(1_800_000_000, 0)
	wantValue(t, e, 0, catalog.SweepRuns, "outcome", "ok")
	wantAbsent(t, e, catalog.SweepLastSuccess)

	e.SweepStarted(id)
	wantValue(t, e, 1, catalog.SweepInProgress)
	e.SweepRequest(id, okResult(100*ms), true)
	e.SweepRequest(id, okResult(100*ms), false) // warm-up: its tokens count
	e.SweepDone(id, "ok", 90*time.Second, at)
	e.SweepSkipped(id, probe.SkipBudget)
	wantValue(t, e, 0, catalog.SweepInProgress)
	wantValue(t, e, 1, catalog.SweepRuns, "outcome", "ok")
	wantValue(t, e, 1, catalog.SweepRequests, "outcome", "ok")
	wantValue(t, e, 128, catalog.SweepTokens, "type", "output")
	wantValue(t, e, 90, catalog.SweepLastDuration)
	wantValue(t, e, 1.8e9, catalog.SweepLastSuccess)
	wantValue(t, e, 1, catalog.SweepsSkipped, "reason", "budget")

	e.SweepDone(id, "aborted", time.Second, at.Add(time.Hour))
	wantValue(t, e, 1, catalog.SweepRuns, "outcome", "aborted")
	wantValue(t, e, 1.8e9, catalog.SweepLastSuccess) // an aborted run is no success

	first := SweepResult{Scenario: "T2", Mode: "rate", KneeLoad: probe.Some(4.0), Limits: []string{"queue", "nonsense"},
		Levels: []LevelResult{{Load: 0.5, Samples: 20, TTFT: [4]probe.Opt[time.Duration]{dur(100 * ms)}}, {Load: 8, Samples: 16}}}
	e.SetSweepResult(id, first, at)
	wantValue(t, e, 0.1, catalog.LevelTTFT, "level", "0.5", "quantile", "0.5", "scenario", "T2", "mode", "rate")
	wantAbsent(t, e, catalog.LevelTTFT, "quantile", "0.9")
	wantAbsent(t, e, catalog.LevelAttainment)
	wantValue(t, e, 16, catalog.LevelSamples, "level", "8")
	wantValue(t, e, 4, catalog.KneeLoad)
	wantValue(t, e, 1, catalog.KneeReached)
	wantValue(t, e, 1, catalog.LimitInfo, "limit", "queue")
	wantAbsent(t, e, catalog.LimitInfo, "limit", "nonsense")

	e.SetSweepResult(id, SweepResult{Scenario: "T2", Mode: "rate", Levels: []LevelResult{{Load: 1}}}, at)
	wantAbsent(t, e, catalog.LevelSamples, "level", "8")
	wantAbsent(t, e, catalog.KneeLoad)
	wantValue(t, e, 0, catalog.KneeReached)
	wantAbsent(t, e, catalog.LimitInfo)

	e.Apply(roster.Roster{Targets: testRoster().Targets})
	wantAbsent(t, e, catalog.SweepRuns)
	wantAbsent(t, e, catalog.LevelSamples)
}
