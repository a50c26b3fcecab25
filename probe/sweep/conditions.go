package sweep

import (
	"fmt"
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// Described returns the conditions of the plan, as far as they are known before
// it runs.
func (p Plan) Described() capacity.Conditions {
	c := p.Conditions
	if len(p.Prompts) > 0 {
		first := p.Prompts[0]
		c.Prompt = or(c.Prompt, first.Name)
		c.PromptHash = promptsHash(p.Prompts)
		c.Cache = or(string(first.Cache), string(probe.CacheBust))
		c.InputTokens, c.MaxTokens, c.ForceLength = first.InputTokens, p.wantTokens(), first.ForceLength
	}
	c.Target, c.Model, c.Protocol = or(c.Target, p.Target), or(c.Model, p.Model), or(or(c.Protocol, p.Protocol), "openai-chat")
	c.Ladder, c.Seed = p.Ladder, p.Seed
	if p.Mode == capacity.Rate {
		c.Arrival, c.Burstiness = or(string(p.Arrival), string(capacity.Poisson)), p.Burstiness
	}
	c.Requests, c.LevelS, c.Repeats = p.Requests, p.Duration.Seconds(), p.Repeats
	p.bounds(&c)
	c.Thresholds = p.Thresholds.Changed()
	if p.SLO != nil {
		c.SLO = p.SLO.Name
	}
	return c
}

// conditions fills in what only the run knows.
func (s *sweep) conditions(r capacity.Report) capacity.Conditions {
	c := s.plan.Described()
	c.ServedModel = or(c.ServedModel, s.served)
	c.PromptTokensP50 = promptTokens(r.Levels, 0.5)
	if s.plan.Auto != nil {
		c.Ladder = s.loads()
	}
	c.Started, c.Finished = s.started, time.Now()
	return c
}

// assumed holds the sweep against what its SLO assumes: a promise for prompts
// of up to 8,000 tokens is not proven with 40, and one for 2 requests a second
// not kept if it holds up to 1.
func (s *sweep) assumed(r capacity.Report) []string {
	if s.plan.SLO == nil {
		return nil
	}
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	want := s.plan.SLO.Conditions
	in, out := promptTokens(r.Levels, 0.95), outputTokens(r.Levels, 0.95)
	for _, c := range []struct {
		what string
		want int
		got  probe.Opt[float64]
	}{{"input", want.InputTokensP95, in}, {"output", want.OutputTokensP95, out}} {
		switch {
		case c.want == 0 || !c.got.OK:
		case c.got.V > float64(c.want):
			warn("SLO %s assumes %s of at most %d tokens (P95), and this sweep had %.0f: it is held to less than was asked here", s.plan.SLO.Name, c.what, c.want, c.got.V)
		case c.got.V < float64(c.want)/2:
			warn("SLO %s allows %s of %d tokens (P95), and this sweep had only %.0f: that it was met here does not show that it holds there", s.plan.SLO.Name, c.what, c.want, c.got.V)
		}
	}
	if want.Rate > 0 {
		if got := rateUnderSLO(r); got < want.Rate {
			warn("SLO %s assumes %g requests a second, and it was seen to hold up to %.3g", s.plan.SLO.Name, want.Rate, got)
		}
	}
	return warnings
}

// rateUnderSLO is the most requests a second at a level that met the SLO.
func rateUnderSLO(r capacity.Report) float64 {
	most := 0.0
	for _, l := range r.Levels {
		if !l.State.Valid() || !l.MeetsSLO() {
			continue
		}
		most = max(most, l.SteadyRequestThroughput.V)
		if l.Mode == capacity.Rate {
			most = max(most, l.Load)
		}
	}
	return most
}

// promptTokens is a quantile of what the endpoint reported.
func promptTokens(levels []capacity.Level, q float64) probe.Opt[float64] {
	return tokensOf(levels, q, func(x capacity.Sample) probe.Opt[int64] { return x.PromptTokens })
}

func outputTokens(levels []capacity.Level, q float64) probe.Opt[float64] {
	return tokensOf(levels, q, func(x capacity.Sample) probe.Opt[int64] { return x.OutputTokens })
}

func tokensOf(levels []capacity.Level, q float64, of func(capacity.Sample) probe.Opt[int64]) probe.Opt[float64] {
	var sizes []float64
	for _, l := range levels {
		for _, x := range l.Samples {
			if n, ok := of(x).Get(); ok && x.OK() {
				sizes = append(sizes, float64(n))
			}
		}
	}
	slices.Sort(sizes)
	return capacity.Quantile(sizes, q)
}
