package exporter

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

// SetSweepResult replaces what the page shows of a sweep's last trusted run.
// The caller decides what is trusted: an aborted run never gets here. at is
// when that run ended, also after a restart.
func (e *Exporter) SetSweepResult(id SweepID, r SweepResult, at time.Time) {
	if !known(catalog.SweepModes(), r.Mode) {
		return
	}
	e.sweep(id, func(m *sweepMetrics) {
		m.clearResult(id)
		m.lastSuccess.WithLabelValues(id.values()...).Set(unix(at))
		for _, level := range r.Levels {
			m.setLevel(id.values(r.Scenario, r.Mode, catalog.Number(level.Load)), level)
		}
		base := id.values(r.Scenario, r.Mode)
		m.reached.WithLabelValues(base...).Set(number(r.KneeLoad.OK))
		set(m.knee, r.KneeLoad, base...)
		set(m.recommended, r.RecommendedLoad, base...)
		set(m.peak, r.PeakOutputTokensRate, base...)
		for _, wall := range r.Limits {
			if known(catalog.Walls(), wall) {
				m.wall.WithLabelValues(append(slices.Clone(base), wall)...).Set(1)
			}
		}
	})
}

// clearResult removes every series of the run before: its ladder, scenario or
// walls may have been others.
func (m *sweepMetrics) clearResult(id SweepID) {
	for _, v := range []*prometheus.GaugeVec{m.ttft, m.tpot, m.e2e, m.requestRate, m.outputRate, m.tokensPerMin,
		m.errorRatio, m.attainment, m.samples, m.knee, m.reached, m.recommended, m.peak, m.wall} {
		v.DeletePartialMatch(id.match())
	}
}

func (m *sweepMetrics) setLevel(base []string, level LevelResult) {
	for i, q := range catalog.LevelQuantiles() {
		labels := append(slices.Clone(base), q)
		set(m.ttft, seconds(level.TTFT[i]), labels...)
		set(m.tpot, seconds(level.TPOT[i]), labels...)
		set(m.e2e, seconds(level.E2E[i]), labels...)
	}
	set(m.requestRate, level.RequestsPerSecond, base...)
	set(m.outputRate, level.OutputTokensPerSecond, base...)
	set(m.tokensPerMin, level.TokensPerMinute, base...)
	set(m.errorRatio, level.ErrorRatio, base...)
	set(m.attainment, level.AttainmentRatio, base...)
	m.samples.WithLabelValues(base...).Set(float64(level.Samples))
}

func set(v *prometheus.GaugeVec, value probe.Opt[float64], labels ...string) {
	if value.OK {
		v.WithLabelValues(labels...).Set(value.V)
	}
}

func known(list []string, s string) bool { return slices.Contains(list, s) }
