package capacity

import (
	"math/rand/v2"
	"slices"
	"time"

	"tokprobe/probe"
)

// server is an inference server without a network: Slots requests are decoded
// at a time (0: any number), others wait in line; every request takes TTFT and
// then Tokens−1 times TPOT.
type server struct {
	TTFT, TPOT time.Duration
	Tokens     int
	Slots      int
	free       []time.Duration // when each slot is free
}

// serve answers a request sent at a time. Requests must come in order.
func (v *server) serve(intended, sent time.Duration) Sample {
	begin := sent
	if v.Slots > 0 {
		if v.free == nil {
			v.free = make([]time.Duration, v.Slots)
		}
		i := slices.Index(v.free, slices.Min(v.free))
		begin = max(sent, v.free[i])
		v.free[i] = begin + v.TTFT + time.Duration(v.Tokens-1)*v.TPOT
	}
	ttft := begin - sent + v.TTFT
	gaps := make([]time.Duration, v.Tokens-1)
	for i := range gaps {
		gaps[i] = v.TPOT
	}
	e2e := ttft + time.Duration(v.Tokens-1)*v.TPOT
	return Sample{
		Timing: Timing{Intended: intended, Sent: sent, Done: sent + e2e}, T0: sent,
		Outcome: probe.OK, Kind: probe.KindOK, FinishReason: "length",
		TTFT: probe.Some(ttft), FirstContent: probe.Some(ttft), TPOT: probe.Some(v.TPOT), E2E: probe.Some(e2e),
		Gaps: gaps, Chunks: v.Tokens,
		OutputTokens: probe.Some(int64(v.Tokens)), PromptTokens: probe.Some(int64(20)),
	}
}

// closedLoop sends requests over n streams whose first ones are spread evenly
// over the ramp.
func closedLoop(v server, n, requests int, ramp time.Duration) []Sample {
	next := make([]time.Duration, n) // when each stream may send
	for i := range next {
		next[i] = ramp * time.Duration(i) / time.Duration(n)
	}
	var samples []Sample
	for range requests {
		i := slices.Index(next, slices.Min(next))
		s := v.serve(next[i], next[i])
		next[i] = s.Done
		samples = append(samples, s)
	}
	return samples
}

// openLoop sends a request at every arrival.
func openLoop(v server, arrivals []time.Duration) []Sample {
	var samples []Sample
	for _, at := range arrivals {
		samples = append(samples, v.serve(at, at))
	}
	return samples
}

func closedReport(v server, ladder []int, requests func(n int) int, ramp time.Duration) Report {
	r := Report{Mode: Concurrency}
	for _, n := range ladder {
		r.Levels = append(r.Levels, NewLevel(Run{Mode: Concurrency, Load: float64(n),
			Samples: closedLoop(v, n, requests(n), ramp)}))
	}
	r.Assess(Settings{})
	return r
}

func states(r Report) []State {
	var out []State
	for _, l := range r.Levels {
		out = append(out, l.State)
	}
	return out
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
