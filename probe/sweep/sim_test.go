package sweep

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
	"tokprobe/probe/wire"
)

const ms = time.Millisecond

// plan asks sim-fast for 32 tokens, which is what its answers are bound to.
func plan(mode capacity.Mode, ladder ...float64) Plan {
	return Plan{Target: "sim", Model: "sim-fast", Mode: mode, Ladder: ladder, Seed: 1, Prompts: []probe.Prompt{prompt(32)}}
}

func prompt(tokens int) probe.Prompt {
	return probe.Prompt{Name: "test", MaxTokens: tokens, Messages: []wire.Message{{Role: "user", Content: "Explain continuous batching in three sentences."}}}
}

// world is a simulated endpoint in a synctest bubble.
type world struct {
	*sim.Server
	endpoint *probe.Endpoint
}

// simulate runs f in a bubble with a simulator and an endpoint for it.
func simulate(t *testing.T, cfg sim.Config, f func(t *testing.T, w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := sim.New(cfg)
		defer server.Close()
		e, err := probe.NewEndpoint(probe.EndpointConfig{Target: "sim", BaseURL: "http://sim", DialContext: server.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		f(t, world{server, e})
	})
}

// sweepOf runs a plan in a world of its own.
func sweepOf(t *testing.T, cfg sim.Config, p Plan) (result Result) {
	t.Helper()
	simulate(t, cfg, func(t *testing.T, w world) {
		var err error
		result, err = Run(t.Context(), p, Env{Endpoint: w.endpoint})
		if err != nil {
			t.Error(err)
		}
	})
	return result
}

// slotted is an engine with 4 slots whose steps take 10 ms whatever the batch,
// and whose prefill takes no time: 100 tokens a second a slot.
func slotted() sim.Engine {
	return sim.Engine{Slots: 4, PrefillRate: 1e12, Decode: 10 * ms, DecodeSlope: 1}
}

// fixed is an engine that knows no load: TTFT 200 ms, then 20 ms a token.
func fixed() sim.Config { return sim.Config{Engine: sim.Truth()} }

func near(t *testing.T, what string, got probe.Opt[float64], want, share float64) {
	t.Helper()
	if !got.OK || math.Abs(got.V-want) > share*want {
		t.Errorf("%s is %v, want %g ± %g %%", what, got, want, 100*share)
	}
}

// walls are the names and places of the walls of a report.
func walls(r capacity.Report) map[capacity.WallName]float64 {
	found := map[capacity.WallName]float64{}
	for _, w := range r.Limits {
		found[w.Limit] = w.FromLoad.V
	}
	return found
}
