package exporter

import (
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// page collects the families of one scrape.
type page struct {
	arenas
	now      time.Time
	families [numFamilies][]*dto.Metric
	buf      []float64
}

// reset makes a page ready for the next scrape. What the one before returned
// must not be used any more.
func (p *page) reset() {
	p.arenas.reset()
	for f := range p.families {
		p.families[f] = p.families[f][:0]
	}
}

func (p *page) metric(f family, labels labelSet) *dto.Metric {
	m := p.metrics.take()
	m.Label, m.Counter, m.Gauge, m.Histogram = labels, nil, nil, nil
	p.families[f] = append(p.families[f], m)
	return m
}

func (p *page) gauge(f family, labels labelSet, v float64) {
	g := p.gauges.take()
	put(&g.Value, v)
	p.metric(f, labels).Gauge = g
}

func (p *page) counter(f family, labels labelSet, v float64, created *timestamppb.Timestamp) {
	c := p.counters.take()
	put(&c.Value, v)
	c.CreatedTimestamp = created
	p.metric(f, labels).Counter = c
}

// optional writes a gauge only if its value is known.
func (p *page) optional(f family, labels labelSet, v probe.Opt[float64]) {
	if v.OK {
		p.gauge(f, labels, v.V)
	}
}

// add writes everything about one probe, as of one moment.
func (p *page) add(s *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.addCounters(s)
	p.addSettings(s)
	p.addSLOs(s)
	p.addLatencies(s)
	p.addLast(s)
}

func (p *page) addCounters(s *state) {
	one := func(f family, v uint64) { p.counter(f, s.labels[f][0], float64(v), s.created) }
	each := func(f family, values []uint64) {
		for i, v := range values {
			p.counter(f, s.labels[f][i], float64(v), s.created)
		}
	}
	one(famDue, s.due)
	one(famStarted, s.started)
	each(famProbes, s.outcomes)
	each(famSkipped, s.skips)
	one(famLagSuspect, s.lagSuspect)
	each(famTokens, s.tokens[:])
	one(famCoalesced, s.coalesced)
	one(famStale, s.stale)
	one(famCacheSuspect, s.cacheSuspect)
	one(famPromptChanged, s.promptChanged)
	for _, labels := range s.labels[famCost] {
		p.counter(famCost, labels, s.cost, s.created)
	}
}

func (p *page) addSettings(s *state) {
	if every, ok := s.every.Get(); ok {
		p.gauge(famInterval, s.labels[famInterval][0], every.Seconds())
	}
	l := s.watch.Spec.Limits
	for i, d := range []time.Duration{l.Connect, l.FirstToken, l.Stall, l.Total} {
		if d > 0 {
			p.gauge(famTimeout, s.labels[famTimeout][i], d.Seconds())
		}
	}
}

func (p *page) addSLOs(s *state) {
	for i := range s.slos {
		o := &s.slos[i]
		for v, n := range o.counts {
			p.counter(famSLOEvents, o.events[v], float64(n), s.created)
		}
		p.gauge(famSLOObjective, o.labels, o.objective.Ratio)
		if o.objective.SLI != slo.Success {
			p.gauge(famSLOThreshold, o.labels, o.objective.Below.Seconds())
		}
	}
}

func (p *page) addLatencies(s *state) {
	for _, h := range []struct {
		f family
		h *histogram
	}{{famTTFT, s.ttft}, {famFirstContent, s.firstContent}, {famE2E, s.e2e}, {famTPOT, s.tpot}, {famChunkGap, s.gap}} {
		p.metric(h.f, s.labels[h.f][0]).Histogram = h.h.write(&p.arenas)
	}
	for i := range latencySLIs {
		p.buf = s.window.values(i, p.now, p.buf[:0])
		p.gauge(famWindowSamples, s.labels[famWindowSamples][i], float64(len(p.buf)))
		if len(p.buf) < windowMin {
			continue
		}
		for q, at := range [...]float64{0.5, 0.95} {
			p.gauge(famWindow, s.labels[famWindow][2*i+q], quantile(p.buf, at))
		}
	}
}

func (p *page) addLast(s *state) {
	p.gauge(famRecentFailures, s.labels[famRecentFailures][0], float64(s.recentFailures()))
	if !s.lastSuccess.IsZero() {
		p.gauge(famLastSuccess, s.labels[famLastSuccess][0], unix(s.lastSuccess))
	}
	if s.last == nil {
		return
	}
	r := *s.last
	success := 0.0
	if r.Outcome == probe.OK {
		success = 1
	}
	p.gauge(famSuccess, s.labels[famSuccess][0], success)
	p.gauge(famLastRun, s.labels[famLastRun][0], unix(s.lastRun))
	if n, ok := tokenCount(r.PromptTokens); ok {
		p.gauge(famLastPromptTokens, s.labels[famLastPromptTokens][0], float64(n))
	}
	if !r.LagSuspect {
		p.addDots(s, r)
	}
}

// addDots writes the last latencies: what was not measured is absent, and so
// is all of them where our own lag could have made them.
func (p *page) addDots(s *state, r probe.Result) {
	one := func(f family, v probe.Opt[float64]) { p.optional(f, s.labels[f][0], v) }
	one(famLastTTFT, seconds(r.TTFT))
	one(famLastTPOT, seconds(r.TPOT))
	one(famLastE2E, seconds(r.E2E))
	one(famLastTail, seconds(r.Tail))
	one(famLastOutputRate, outputRate(r))
	ph := r.Phases
	for i, d := range []probe.Opt[time.Duration]{ph.DNS, ph.Connect, ph.TLS, ph.Auth, ph.Send, ph.Headers} {
		p.optional(famLastPhase, s.labels[famLastPhase][i], seconds(d))
	}
}

func seconds(d probe.Opt[time.Duration]) probe.Opt[float64] {
	return probe.Opt[float64]{V: d.V.Seconds(), OK: d.OK}
}

// outputRate is output tokens over E2E of an ok probe: 512 tokens in 12.84 s
// are 39.9 a second.
func outputRate(r probe.Result) probe.Opt[float64] {
	n, known := tokenCount(r.OutputTokens)
	e2e, timed := r.E2E.Get()
	if r.Outcome != probe.OK || !known || !timed || e2e <= 0 {
		return probe.Opt[float64]{}
	}
	return probe.Some(float64(n) / e2e.Seconds())
}

// unix returns Unix seconds with milliseconds.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// finish returns the families that have any series.
func (p *page) finish(l *labeller) []*dto.MetricFamily {
	var out []*dto.MetricFamily
	for f, metrics := range p.families {
		if len(metrics) == 0 {
			continue
		}
		m := l.families[f]
		out = append(out, &dto.MetricFamily{Name: new(m.Name), Help: new(m.Help), Type: typeOf(m.Type), Metric: metrics})
	}
	return out
}

func typeOf(t catalog.Type) *dto.MetricType {
	switch t {
	case catalog.Counter:
		return dto.MetricType_COUNTER.Enum()
	case catalog.Histogram:
		return dto.MetricType_HISTOGRAM.Enum()
	}
	return dto.MetricType_GAUGE.Enum()
}
