package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// SweepID names one scheduled sweep: the base labels of its metrics.
type SweepID struct {
	Target, Model, Sweep string
}

func (id SweepID) values(more ...string) []string {
	return append([]string{id.Target, id.Model, id.Sweep}, more...)
}

func (id SweepID) match() prometheus.Labels {
	return prometheus.Labels{catalog.LabelTarget: id.Target, catalog.LabelModel: id.Model, catalog.LabelSweep: id.Sweep}
}

// sweepMetrics are all metrics of sweeps.
type sweepMetrics struct {
	runs, skipped, requests, tokens        *prometheus.CounterVec
	inProgress, lastSuccess, lastDuration  *prometheus.GaugeVec
	ttft, tpot, e2e                        *prometheus.GaugeVec
	requestRate, outputRate, tokensPerMin  *prometheus.GaugeVec
	errorRatio, attainment, samples        *prometheus.GaugeVec
	knee, reached, recommended, peak, wall *prometheus.GaugeVec
	all                                    []interface{ DeletePartialMatch(prometheus.Labels) int }
	ids                                    map[SweepID]bool
}

func newSweepMetrics(r *prometheus.Registry) *sweepMetrics {
	m := &sweepMetrics{ids: map[SweepID]bool{}}
	counter := func(name string) *prometheus.CounterVec {
		v := counterVec(name)
		r.MustRegister(v)
		m.all = append(m.all, v)
		return v
	}
	gauge := func(name string) *prometheus.GaugeVec {
		v := gaugeVec(name)
		r.MustRegister(v)
		m.all = append(m.all, v)
		return v
	}
	m.runs, m.skipped = counter(catalog.SweepRuns), counter(catalog.SweepsSkipped)
	m.requests, m.tokens = counter(catalog.SweepRequests), counter(catalog.SweepTokens)
	m.inProgress, m.lastSuccess = gauge(catalog.SweepInProgress), gauge(catalog.SweepLastSuccess)
	m.lastDuration = gauge(catalog.SweepLastDuration)
	m.ttft, m.tpot, m.e2e = gauge(catalog.LevelTTFT), gauge(catalog.LevelTPOT), gauge(catalog.LevelE2E)
	m.requestRate, m.outputRate = gauge(catalog.LevelRequestRate), gauge(catalog.LevelOutputRate)
	m.tokensPerMin, m.errorRatio = gauge(catalog.LevelTokensPerMinute), gauge(catalog.LevelErrorRatio)
	m.attainment, m.samples = gauge(catalog.LevelAttainment), gauge(catalog.LevelSamples)
	m.knee, m.reached = gauge(catalog.KneeLoad), gauge(catalog.KneeReached)
	m.recommended, m.peak = gauge(catalog.RecommendedLoad), gauge(catalog.PeakOutputTokenRate)
	m.wall = gauge(catalog.LimitInfo)
	return m
}

// apply drops the sweeps that are gone and starts the new ones at 0.
func (m *sweepMetrics) apply(sweeps []roster.Sweep) {
	now := map[SweepID]bool{}
	for _, s := range sweeps {
		id := SweepID{s.Target, s.Model, s.Name}
		now[id] = true
		for _, outcome := range catalog.SweepOutcomes() {
			m.runs.WithLabelValues(id.values(outcome)...)
		}
		for _, reason := range catalog.SkipReasons() {
			m.skipped.WithLabelValues(id.values(reason)...)
		}
		for _, outcome := range catalog.Outcomes() {
			m.requests.WithLabelValues(id.values(outcome)...)
		}
		for _, kind := range catalog.TokenTypes() {
			m.tokens.WithLabelValues(id.values(kind)...)
		}
		m.inProgress.WithLabelValues(id.values()...)
	}
	for id := range m.ids {
		if !now[id] {
			for _, v := range m.all {
				v.DeletePartialMatch(id.match())
			}
		}
	}
	m.ids = now
}

// sweep runs change on the metrics of a sweep that is watched.
func (e *Exporter) sweep(id SweepID, change func(*sweepMetrics)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.daemon.sweeps.ids[id] {
		change(e.daemon.sweeps)
	}
}

// SweepStarted records that a run began.
func (e *Exporter) SweepStarted(id SweepID) {
	e.sweep(id, func(m *sweepMetrics) { m.inProgress.WithLabelValues(id.values()...).Set(1) })
}

// SweepSkipped counts a due run that was not started. Reasons outside the
// closed list are not counted.
func (e *Exporter) SweepSkipped(id SweepID, reason probe.SkipReason) {
	e.sweep(id, func(m *sweepMetrics) {
		if known(catalog.SkipReasons(), string(reason)) {
			m.skipped.WithLabelValues(id.values(string(reason))...).Inc()
		}
	})
}

// SweepRequest counts one request of a run: its outcome if it was measured
// (warm-up is not), its tokens in any case.
func (e *Exporter) SweepRequest(id SweepID, r probe.Result, measured bool) {
	e.sweep(id, func(m *sweepMetrics) {
		if measured && known(catalog.Outcomes(), string(r.Outcome)) {
			m.requests.WithLabelValues(id.values(string(r.Outcome))...).Inc()
		}
		for i, o := range []probe.Opt[int64]{r.PromptTokens, r.OutputTokens, r.ReasoningTokens, r.CachedTokens} {
			if n, ok := tokenCount(o); ok {
				m.tokens.WithLabelValues(id.values(catalog.TokenTypes()[i])...).Add(float64(n))
			}
		}
	})
}

// SweepDone records that a run ended; outcome is one of catalog.SweepOutcomes.
func (e *Exporter) SweepDone(id SweepID, outcome string, took time.Duration, at time.Time) {
	e.sweep(id, func(m *sweepMetrics) {
		m.inProgress.WithLabelValues(id.values()...).Set(0)
		if !known(catalog.SweepOutcomes(), outcome) {
			return
		}
		m.runs.WithLabelValues(id.values(outcome)...).Inc()
		m.lastDuration.WithLabelValues(id.values()...).Set(took.Seconds())
		if outcome == "ok" {
			m.lastSuccess.WithLabelValues(id.values()...).Set(unix(at))
		}
	})
}
