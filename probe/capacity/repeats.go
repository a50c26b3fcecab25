package capacity

import (
	"fmt"
	"slices"

	"tokprobe/probe"
)

// Repeated is the level of several runs at one load. Counts and latencies are
// those of all requests together; steady throughput is the median of the runs,
// and Spread says how far they lie apart: 123, 84 and 122 thousand tokens a
// second have median 122 and spread (123−84)/122 = 0.32. Runs that cannot be
// trusted are left out if another can. Without runs the level is empty.
func Repeated(runs []Run) Level {
	switch len(runs) {
	case 0:
		return Level{}
	case 1:
		return NewLevel(runs[0])
	}
	var used []Run
	var levels []Level
	for _, trustedOnly := range []bool{true, false} {
		used, levels = nil, nil
		for _, r := range runs {
			if l := NewLevel(r); l.Trusted || !trustedOnly {
				used, levels = append(used, r), append(levels, l)
			}
		}
		if len(used) > 0 {
			break
		}
	}
	l := NewLevel(pool(used))
	l.Repeats = len(used)
	l.settle(levels)
	if left := len(runs) - len(used); left > 0 {
		l.warn(fmt.Sprintf("%d of %d runs left out: our own lag could explain them", left, len(runs)))
	}
	return l
}

// pool joins runs of one load into one; its times mean nothing, its sums do.
func pool(runs []Run) Run {
	p := runs[0]
	p.Samples, p.Duration, p.InFlightCapped = nil, 0, false
	for _, r := range runs {
		p.Samples = append(p.Samples, r.Samples...)
		p.Duration += wallTime(r)
		p.InFlightCapped = p.InFlightCapped || r.InFlightCapped
		p.Server = mergeServer(p.Server, r.Server)
	}
	return p
}

// settle puts in what must be taken run by run.
func (l *Level) settle(runs []Level) {
	of := func(get func(Level) probe.Opt[float64]) []float64 {
		var list []float64
		for _, r := range runs {
			list = add(list, get(r))
		}
		slices.Sort(list)
		return list
	}
	l.SteadySeconds = Quantile(of(func(r Level) probe.Opt[float64] { return r.SteadySeconds }), 0)
	l.SteadyOutputThroughput = median(of(func(r Level) probe.Opt[float64] { return r.SteadyOutputThroughput }))
	l.SteadyRequestThroughput = median(of(func(r Level) probe.Opt[float64] { return r.SteadyRequestThroughput }))
	l.SteadyOfferedRate = median(of(func(r Level) probe.Opt[float64] { return r.SteadyOfferedRate }))
	l.AchievedRate = median(of(func(r Level) probe.Opt[float64] { return r.AchievedRate }))
	for _, r := range runs {
		l.Runs = add(l.Runs, r.JudgedThroughput())
	}
	if t := of(Level.JudgedThroughput); len(t) > 1 {
		l.Spread = per(t[len(t)-1]-t[0], median(t).V)
	}
	l.FewRequests, l.Throttle, l.MaxConcurrentRequests = false, nil, 0
	for _, r := range runs {
		l.MaxConcurrentRequests = max(l.MaxConcurrentRequests, r.MaxConcurrentRequests)
		if r.FewRequests {
			l.FewRequests = true
			l.warn("a run has under 2 requests a stream: ramp and drain weigh heavily")
		}
		l.Throttle = mergeThrottle(l.Throttle, r.Throttle)
	}
}

func mergeThrottle(a, b *Throttle) *Throttle {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	m := *a
	m.Count += b.Count
	m.Messages = slices.Clone(a.Messages)
	for _, text := range b.Messages {
		if len(m.Messages) < maxMessages && !slices.Contains(m.Messages, text) {
			m.Messages = append(m.Messages, text)
		}
	}
	m.LimitRequests, m.LimitTokens = least(a.LimitRequests, b.LimitRequests), least(a.LimitTokens, b.LimitTokens)
	m.RemainingRequests = least(a.RemainingRequests, b.RemainingRequests)
	m.RemainingTokens = least(a.RemainingTokens, b.RemainingTokens)
	m.RetryAfterS = larger(a.RetryAfterS, b.RetryAfterS)
	m.InFlightMax = larger(a.InFlightMax, b.InFlightMax)
	if b.InFlightLow.OK && (!m.InFlightLow.OK || b.InFlightLow.V < m.InFlightLow.V) {
		m.InFlightLow = b.InFlightLow
	}
	return &m
}

func mergeServer(a, b *ServerLoad) *ServerLoad {
	if a == nil || b == nil || a == b {
		if a == nil {
			return b
		}
		return a
	}
	return &ServerLoad{WaitingMax: larger(a.WaitingMax, b.WaitingMax), RunningMax: larger(a.RunningMax, b.RunningMax),
		KVUseMax: larger(a.KVUseMax, b.KVUseMax), Preemptions: larger(a.Preemptions, b.Preemptions)}
}

func larger(a, b probe.Opt[float64]) probe.Opt[float64] {
	if !a.OK || (b.OK && b.V > a.V) {
		return b
	}
	return a
}
