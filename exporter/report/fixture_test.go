package report

import (
	"math"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/slo"
)

// step is how the fixture's server behaves at one load, after a published
// ladder of a gateway: TTFT and TPOT grow, throughput stops at 8 streams.
type step struct {
	n          int
	ttft, tpot time.Duration
	refuse     int // every such request is refused; 0: none
}

var gatewaySteps = []step{
	{1, 600 * time.Millisecond, 18 * time.Millisecond, 0},
	{4, 700 * time.Millisecond, 20 * time.Millisecond, 0},
	{8, 900 * time.Millisecond, 25 * time.Millisecond, 0},
	{16, 2500 * time.Millisecond, 46 * time.Millisecond, 0},
	{32, 6500 * time.Millisecond, 94 * time.Millisecond, 9},
}

const fixtureTokens = 256

// wobble is a repeatable factor around 1, wider above than below.
func wobble(i int) float64 {
	x := math.Mod(float64(i)*0.6180339887498949, 1)
	return 0.85 + 0.15*x + 0.35*x*x*x
}

// closedRun plays the requests of one closed-loop level.
func closedRun(s step, seed int) capacity.Run {
	free := make([]time.Duration, s.n)
	var samples []capacity.Sample
	for i := range max(50, 4*s.n) {
		k := i % s.n
		ttft := time.Duration(float64(s.ttft) * wobble(i+seed))
		gaps := make([]time.Duration, fixtureTokens-1)
		total := ttft
		for j := range gaps {
			gaps[j] = time.Duration(float64(s.tpot) * wobble(i*7+j+seed))
			total += gaps[j]
		}
		at := capacity.Timing{Intended: free[k], Sent: free[k]}
		if s.refuse > 0 && i%s.refuse == s.refuse-1 {
			at.Done = at.Sent + 40*time.Millisecond
			free[k] = at.Done + time.Second
			samples = append(samples, capacity.Sample{Timing: at, T0: at.Sent, Outcome: probe.RateLimited, Kind: probe.KindOurs,
				Err: "rate limit exceeded: 30 streams", HTTPStatus: 429})
			continue
		}
		at.Done = at.Sent + total
		free[k] = at.Done
		samples = append(samples, capacity.Sample{Timing: at, T0: at.Sent, Outcome: probe.OK, Kind: probe.KindOK, HTTPStatus: 200,
			TTFT: probe.Some(ttft), FirstContent: probe.Some(ttft), TPOT: probe.Some((total - ttft) / (fixtureTokens - 1)), E2E: probe.Some(total),
			Gaps: gaps, Chunks: fixtureTokens, OutputTokens: probe.Some[int64](fixtureTokens), PromptTokens: probe.Some[int64](41),
			FinishReason: "length", Reused: true, ClientLag: 200 * time.Microsecond})
	}
	return capacity.Run{Mode: capacity.Concurrency, Load: float64(s.n), Samples: samples, WantTokens: fixtureTokens, SLO: &fixtureSLO}
}

var fixtureSLO = slo.SLO{Name: "interactive", Objectives: []slo.Objective{
	{SLI: slo.Success, Ratio: 0.995},
	{SLI: slo.TTFT, Ratio: 0.95, Below: 1500 * time.Millisecond},
}}

var fixtureStart = time.Date(2026, 3, 4, 3, 30, 0, 0, time.UTC)

// gateway is a full report of a closed-loop ladder with a knee at 8.
func gateway() capacity.Report {
	r := capacity.Report{Mode: capacity.Concurrency, Conditions: capacity.Conditions{
		Version: "1.0.0", GoVersion: "go1.26.0", Host: "probe-1, linux/amd64, 2 cores", Location: "eu-west", Sweep: "nightly",
		Target: "gateway", Endpoint: "https://llm.example.com/api/v1", Protocol: "openai-chat", Model: "glm-4.6", ServedModel: "glm-4.6-fp8",
		ServerInfo: "vllm 0.11.0", Scenario: "T3", Prompt: "T3", PromptHash: "5d41402abc4b", Language: "en", Cache: "bust",
		MaxTokens: fixtureTokens, ForceLength: true, PromptTokensP50: probe.Some(41.0), Ladder: []float64{1, 4, 8, 16, 32}, Seed: 7,
		CoolDownS: 5, Repeats: 3, SLO: "interactive", Started: fixtureStart, Finished: fixtureStart.Add(723 * time.Second)}}
	for _, s := range gatewaySteps {
		level := capacity.NewLevel(closedRun(s, 0))
		if s.n == 8 {
			slow := s
			slow.tpot += 700 * time.Microsecond
			level = capacity.Repeated([]capacity.Run{closedRun(s, 0), closedRun(s, 3), closedRun(slow, 5)})
		}
		if s.n == 32 {
			level.Server = &capacity.ServerLoad{WaitingMax: probe.Some(14.0), RunningMax: probe.Some(16.0),
				KVUseMax: probe.Some(0.9996), Preemptions: probe.Some(3.0)}
		}
		r.Levels = append(r.Levels, level)
	}
	r.Assess(capacity.Settings{})
	return r
}
