package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
	"tokprobe/probe/wire"
)

const ms = time.Millisecond

// plan asks for 32 tokens of sim-fast.
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

// slotted is an engine with 4 slots whose steps take 10 ms whatever the batch.
func slotted() sim.Engine {
	return sim.Engine{Slots: 4, PrefillRate: 1e9, Decode: 10 * ms, DecodeSlope: 1}
}

var _ = context.Background
