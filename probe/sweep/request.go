package sweep

import (
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// ask sends one request and books its cost.
func (l *level) ask(k int) probe.Result {
	r := l.s.env.Endpoint.Probe(l.ctx, l.s.spec(k))
	s := l.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cost.Requests++
	s.cost.InputTokens += r.PromptTokens.V
	s.cost.OutputTokens += r.OutputTokens.V
	if !r.Cut {
		s.cost.Outcomes[r.Outcome]++
	}
	if s.served == "" {
		s.served = r.ServedModel
	}
	return r
}

// send sends request k, which was due at intended (now, if negative), and
// keeps its sample.
func (l *level) send(k int, intended time.Duration) capacity.Sample {
	l.flying.Add(1)
	at := capacity.Timing{Intended: intended, Sent: time.Since(l.start)}
	if intended < 0 {
		at.Intended = at.Sent
	}
	r := l.ask(k)
	at.Done = time.Since(l.start)
	l.flying.Add(-1)
	x := capacity.FromResult(r, at)
	l.keep(x)
	l.s.refusedBy(r)
	return x
}

// keep adds a sample and looks at the abort limits.
func (l *level) keep(x capacity.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, x)
	if x.Cut {
		return
	}
	if !x.OK() {
		l.errors++
		if x.Kind == probe.KindService || x.Outcome == probe.RateLimited {
			l.failures++
		}
	}
	l.judge(x)
}

// recentAnswers is how many answers the TTFT limit looks at.
const recentAnswers = 10

// judge aborts the sweep where a level is bad beyond the limits of the plan.
// The caller holds mu.
func (l *level) judge(x capacity.Sample) {
	limit := l.s.plan.Abort
	done := len(l.samples)
	if ratio := float64(l.failures) / float64(done); limit.ErrorRatio > 0 && done >= max(10, int(l.at.load)) && ratio > limit.ErrorRatio {
		l.s.abort("%d of %d requests failed at level %g, more than the limit of %.3g %%", l.failures, done, l.at.load, 100*limit.ErrorRatio)
	}
	ttft, ok := x.TTFT.Get()
	if limit.TTFT <= 0 || !ok || !x.OK() {
		return
	}
	l.ttfts = append(l.ttfts, ttft)
	if len(l.ttfts) > recentAnswers {
		l.ttfts = l.ttfts[1:]
	}
	if len(l.ttfts) < recentAnswers {
		return
	}
	sorted := slices.Sorted(slices.Values(l.ttfts))
	if median := (sorted[recentAnswers/2-1] + sorted[recentAnswers/2]) / 2; median > limit.TTFT {
		l.s.abort("the median TTFT of the last %d answers was %s at level %g, over the limit of %s", recentAnswers, median.Round(time.Millisecond), l.at.load, limit.TTFT)
	}
}
