package capacity

import (
	"fmt"
	"time"

	"tokprobe/probe"
)

// count fills in the outcomes and what was odd about the answers.
func (l *Level) count(r Run) {
	l.Outcomes = make(map[probe.Outcome]int)
	l.FinishReasons = make(map[string]int)
	for _, s := range r.Samples {
		if s.Cut {
			l.Cut++
			continue
		}
		l.Outcomes[s.Outcome]++
		if s.FinishReason != "" {
			l.FinishReasons[s.FinishReason]++
		}
		if n, ok := s.OutputTokens.Get(); ok && r.WantTokens > 0 && n < int64(r.WantTokens) &&
			(s.OK() || s.Outcome == probe.Short) {
			l.EarlyAnswers++
		}
		l.Coalesced += toInt(s.Coalesced)
		l.CacheSuspect += toInt(s.CacheSuspect)
		l.ServiceFailures += toInt(!s.OK() && s.Kind == probe.KindService)
		if s.OK() {
			l.Completed++
		} else {
			l.Failed++
		}
	}
	l.ErrorRatio = per(float64(l.Failed), float64(l.Completed+l.Failed))
}

// totals fills in what is counted over wall time.
func (l *Level) totals() {
	l.TotalInputTokens = sumTokens(l.Samples, func(s Sample) probe.Opt[int64] { return s.PromptTokens })
	l.TotalOutputTokens = sumTokens(l.Samples, func(s Sample) probe.Opt[int64] { return s.OutputTokens })
	l.RequestThroughput = per(float64(l.Completed), l.Duration)
	if out, ok := l.TotalOutputTokens.Get(); ok {
		l.OutputThroughput = per(float64(out), l.Duration)
		if in, ok := l.TotalInputTokens.Get(); ok {
			l.TotalTokenThroughput = per(float64(in+out), l.Duration)
			l.TokensPerMinute = per(60*float64(in+out), l.Duration)
		}
	}
}

// flag writes the warnings that one level alone can give.
func (l *Level) flag(r Run, th Thresholds) {
	warn := func(format string, args ...any) { l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...)) }
	if n := l.Stats[TTFT].N; n > 0 && n < FewSamples {
		warn("TTFT quantiles rest on %d samples; under %d a P90 is close to the maximum", n, FewSamples)
	}
	if total := l.Completed + l.Failed; r.Mode == Concurrency && float64(total) < 2*r.Load {
		l.FewRequests = true
		warn("%d requests over %g streams: under 2 a stream, ramp and drain weigh heavily", total, r.Load)
	}
	answers := l.Completed + l.Outcomes[probe.Short]
	if float64(l.EarlyAnswers) > th.EarlyAnswers*float64(answers) {
		l.EndedEarly = true
		warn("%d of %d answers ended before the %d tokens asked for: throughput flatters", l.EarlyAnswers, answers, r.WantTokens)
	}
	if l.Cut > 0 {
		warn("%d requests were cut and are left out", l.Cut)
	}
	if l.Coalesced > 0 {
		warn("%d answers arrived in few large pieces (a proxy buffers): left out of TPOT and chunk gaps", l.Coalesced)
	}
	if l.CacheSuspect > 0 {
		warn("%d answers came from a prompt cache: TTFT flatters", l.CacheSuspect)
	}
	if l.InFlightCapped {
		warn("our cap of requests in flight ended the level")
	}
}

func wallTime(r Run) time.Duration {
	if r.Duration > 0 {
		return r.Duration
	}
	var first, last time.Duration
	for i, s := range r.Samples {
		if i == 0 || s.Sent < first {
			first = s.Sent
		}
		last = max(last, s.end())
	}
	if r.Mode == Rate {
		first = 0
	}
	return last - first
}

// sumTokens adds a count over the completed requests; it is unknown if one of
// them, or no request at all, reported it.
func sumTokens(samples []Sample, of func(Sample) probe.Opt[int64]) probe.Opt[int64] {
	var sum probe.Opt[int64]
	for _, s := range samples {
		if !s.OK() {
			continue
		}
		n, ok := of(s).Get()
		if !ok {
			return probe.Opt[int64]{}
		}
		sum = probe.Some(sum.V + n)
	}
	return sum
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
