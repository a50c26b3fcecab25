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
		CoolDownS: probe.Some(5.0), Limits: "connect 10s, first token 1m0s, stall 30s", MaxDurationS: 3600, LevelDeadlineS: 300,
		Abort: "errors above 20%", Params: []string{"temperature=0", "top_k=1"}, Repeats: 3, SLO: "interactive", Started: fixtureStart, Finished: fixtureStart.Add(723 * time.Second)}}
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

// ratePoint is one level of a published ladder of request rates.
type ratePoint struct{ rate, done, tokens, mean, p99 float64 }

// rates is a report without requests, as one made from published figures: an
// open loop from 0.5 requests a second to past the knee.
func rates() capacity.Report {
	r := capacity.Report{Mode: capacity.Rate, Conditions: capacity.Conditions{Model: "qwen2.5-14b", Arrival: "gamma", Burstiness: 0.5,
		Seed: math.MaxUint64, LevelS: 90, Requests: 1000, CoolDownS: probe.Some(0.0), Search: "auto from 0.5 up to 200, tolerance 5%", InputTokens: 8000}}
	for _, p := range []ratePoint{{0.5, 0.4935, 126.7, 131.2, 190.1}, {10, 9.87, 2534.10, 142.30, 210.55}, {20, 19.52, 5012.44, 158.72, 245.10},
		{40, 38.11, 9786.20, 186.42, 412.55}, {60, 52.34, 13440.80, 245.18, 680.30}, {80, 58.90, 15120.55, 380.44, 1120.40},
		{100, 60.12, 15430.20, 620.75, 1850.60}, {150, 58.44, 14980.10, 980.30, 3200.80}, {200, 52.10, 13320.60, 1450.20, 5100.30}} {
		tail := capacity.Summary{N: 1000, Mean: p.mean, Std: p.mean / 4, P50: 0.9 * p.mean, P90: 0.7 * p.p99, P95: 0.8 * p.p99, P99: p.p99}
		l := capacity.Level{Load: p.rate, Mode: capacity.Rate, Trusted: true, RequestRate: capacity.LoadNumber(p.rate), Duration: 1000 / p.done,
			Completed: 1000, Outcomes: map[probe.Outcome]int{probe.OK: 1000}, RequestThroughput: probe.Some(p.done),
			OutputThroughput: probe.Some(p.tokens), AchievedRate: probe.Some(p.rate), ErrorRatio: probe.Some(0.0),
			Stats: map[capacity.Metric]capacity.Summary{capacity.TTFT: tail}}
		l.Steady = capacity.Steady{SteadySeconds: probe.Some(90.0), SteadyRequestThroughput: probe.Some(p.done), SteadyOutputThroughput: probe.Some(p.tokens)}
		r.Conditions.Ladder = append(r.Conditions.Ladder, p.rate)
		r.Levels = append(r.Levels, l)
	}
	r.Assess(capacity.Settings{})
	return r
}

// allFailed is a ladder of one level at which nothing was answered.
func allFailed() capacity.Report {
	var samples []capacity.Sample
	for i := range 50 {
		at := time.Duration(i) * 5 * time.Second
		samples = append(samples, capacity.Sample{Timing: capacity.Timing{Intended: at, Sent: at, Done: at + 5*time.Second}, T0: at,
			Outcome: probe.Connect, Kind: probe.KindService, Err: "connection refused"})
	}
	r := capacity.Report{Mode: capacity.Concurrency, Aborted: "the endpoint answers nothing", Conditions: capacity.Conditions{Target: "vllm-a", Ladder: []float64{1}},
		Levels: []capacity.Level{capacity.NewLevel(capacity.Run{Mode: capacity.Concurrency, Load: 1, Samples: samples})}}
	r.Assess(capacity.Settings{})
	return r
}

// oneLevel is a ladder of one good level.
func oneLevel() capacity.Report {
	r := capacity.Report{Mode: capacity.Concurrency, Levels: []capacity.Level{capacity.NewLevel(closedRun(gatewaySteps[2], 0))}}
	r.Assess(capacity.Settings{})
	return r
}

// nasty is what an endpoint or a forged file may put into any text.
const nasty = "a|b <script>alert(1)</script> \x1b[31mred\x1b]0;own\x07 \u009b2J two\r\nlines \u202egnp.exe `x` [l](javascript:x) **b** $m$ \xff &amp; \"q\" 'p' {{.}}"

// hostile has nasty text wherever a report holds text.
func hostile() capacity.Report {
	r := allFailed()
	c := &r.Conditions
	for _, s := range []*string{&c.Version, &c.GoVersion, &c.Host, &c.Location, &c.Sweep, &c.Target, &c.Endpoint, &c.Protocol, &c.Model, &c.ServedModel,
		&c.ServerInfo, &c.Scenario, &c.Prompt, &c.PromptHash, &c.Language, &c.Cache, &c.Arrival, &c.SLO, &c.Search, &c.Limits, &c.Abort, &r.Aborted} {
		*s = nasty
	}
	c.Params, c.Thresholds = []string{nasty}, []string{nasty}
	r.Warnings = []string{nasty, "=cmd|' /C calc'!A1"}
	r.Limits = []capacity.Wall{{Limit: capacity.WallName(nasty), Evidence: nasty}}
	l := &r.Levels[0]
	l.State, l.Warnings = "=HYPERLINK(\"http://x\")", []string{nasty}
	l.Outcomes = map[probe.Outcome]int{probe.Outcome(nasty): 50}
	l.FinishReasons = map[string]int{nasty: 50}
	l.Throttle = &capacity.Throttle{Count: 50, Messages: []string{nasty}}
	return r
}
