package capacity

import (
	"time"

	"tokprobe/probe"
)

// Metric is something measured on every answered request of a level. Its value
// is its name in the keys of a report: mean_ttft_ms, p90_e2el_ms.
type Metric string

// The metrics of a level. ITL is what vllm calls so: the gaps between
// neighbouring token events of all requests, pooled; one event may hold many
// tokens. A report holds the same numbers a second time as chunk_gap.
const (
	TTFT           Metric = "ttft"
	TPOT           Metric = "tpot"
	ITL            Metric = "itl"
	E2E            Metric = "e2el"
	FirstContent   Metric = "first_content"
	SendDelay      Metric = "send_delay"
	GenerationRate Metric = "generation" // output tokens / E2E of one request, tokens per second
)

// Metrics returns the closed list.
func Metrics() []Metric {
	return []Metric{TTFT, TPOT, ITL, E2E, FirstContent, SendDelay, GenerationRate}
}

// suffix is the unit at the end of a key.
func (m Metric) suffix() string {
	if m == GenerationRate {
		return "_tokens_per_second"
	}
	return "_ms"
}

// of returns the values that one sample adds to the metric: none where it was
// not measured, one, or for ITL as many as there are gaps. Samples that are not
// ok add none; coalesced ones none to TPOT and ITL, whose gaps a proxy made up.
func (m Metric) of(s Sample, mode Mode) []float64 {
	if !s.OK() {
		return nil
	}
	switch m {
	case TTFT:
		return one(s.Latency(mode, s.TTFT))
	case FirstContent:
		return one(s.Latency(mode, s.FirstContent))
	case E2E:
		return one(s.Latency(mode, s.E2E))
	case SendDelay:
		return []float64{millis(s.SendDelay())}
	case TPOT:
		if s.Coalesced {
			return nil
		}
		return one(s.TPOT)
	case ITL:
		return gapsMS(s)
	case GenerationRate:
		if s.OutputTokens.OK && s.E2E.OK && s.E2E.V > 0 {
			return []float64{float64(s.OutputTokens.V) / s.E2E.V.Seconds()}
		}
	}
	return nil
}

func one(d probe.Opt[time.Duration]) []float64 {
	if !d.OK {
		return nil
	}
	return []float64{millis(d.V)}
}

func gapsMS(s Sample) []float64 {
	if s.Coalesced {
		return nil
	}
	ms := make([]float64, len(s.Gaps))
	for i, g := range s.Gaps {
		ms[i] = millis(g)
	}
	return ms
}

// collect pools the values of a metric over samples.
func collect(m Metric, samples []Sample, mode Mode) []float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, m.of(s, mode)...)
	}
	return all
}
