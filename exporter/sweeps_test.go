package exporter

import (
	"testing"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
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

	first := capacity.Report{
		Mode: capacity.Rate, Conditions: capacity.Conditions{Scenario: "T2"},
		Knee:        capacity.Knee{Reached: true, Load: probe.Some(4.0)},
		Recommended: &capacity.Recommended{Load: 3}, Limits: []capacity.Wall{{Limit: capacity.Queue}, {Limit: "nonsense"}},
		Levels: []capacity.Level{
			{Load: 0.5, Completed: 18, Failed: 2, ErrorRatio: probe.Some(0.1),
				Stats: map[capacity.Metric]capacity.Summary{capacity.TTFT: {N: 18, P50: 100, P90: 200, P95: 300, P99: 400}}},
			{Load: 8, Completed: 16}},
	}
	e.SetSweepReport(id, first, at)
	for q, want := range map[string]float64{"0.5": 0.1, "0.9": 0.2, "0.95": 0.3, "0.99": 0.4} {
		wantValue(t, e, want, catalog.LevelTTFT, "level", "0.5", "quantile", q, "scenario", "T2", "mode", "rate")
	}
	wantAbsent(t, e, catalog.LevelTPOT)
	wantAbsent(t, e, catalog.LevelTTFT, "level", "8")
	wantAbsent(t, e, catalog.LevelAttainment)
	wantValue(t, e, 20, catalog.LevelSamples, "level", "0.5")
	wantValue(t, e, 0.1, catalog.LevelErrorRatio, "level", "0.5")
	wantValue(t, e, 16, catalog.LevelSamples, "level", "8")
	wantValue(t, e, 4, catalog.KneeLoad)
	wantValue(t, e, 1, catalog.KneeReached)
	wantValue(t, e, 3, catalog.RecommendedLoad)
	wantValue(t, e, 1, catalog.LimitInfo, "limit", "queue")
	wantAbsent(t, e, catalog.LimitInfo, "limit", "nonsense")

	e.SetSweepReport(id, capacity.Report{Mode: capacity.Rate, Levels: []capacity.Level{{Load: 1}},
		Knee: capacity.Knee{AtLeast: probe.Some(1.0)}}, at)
	wantAbsent(t, e, catalog.LevelSamples, "level", "8")
	wantAbsent(t, e, catalog.KneeLoad)
	wantAbsent(t, e, catalog.RecommendedLoad)
	wantValue(t, e, 0, catalog.KneeReached)
	wantAbsent(t, e, catalog.LimitInfo)

	e.Apply(roster.Roster{Targets: testRoster().Targets})
	wantAbsent(t, e, catalog.SweepRuns)
	wantAbsent(t, e, catalog.LevelSamples)
}
