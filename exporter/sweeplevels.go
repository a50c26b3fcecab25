package exporter

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// SetSweepReport replaces what the page shows of a sweep's last trusted run.
// The caller decides what is trusted: an aborted run never gets here. at is
// when that run ended, also after a restart.
func (e *Exporter) SetSweepReport(id SweepID, r capacity.Report, at time.Time) {
	if !known(catalog.SweepModes(), string(r.Mode)) {
		return
	}
	e.sweep(id, func(m *sweepMetrics) {
		m.clearResult(id)
		m.lastSuccess.WithLabelValues(id.values()...).Set(unix(at))
		base := id.values(cmp.Or(r.Conditions.Scenario, r.Conditions.Prompt), string(r.Mode))
		for _, level := range r.Levels {
			m.setLevel(append(slices.Clone(base), catalog.Number(level.Load)), level)
		}
		m.reached.WithLabelValues(base...).Set(number(r.Knee.Reached))
		if r.Knee.Reached {
			set(m.knee, r.Knee.Load, base...)
		}
		if r.Recommended != nil {
			m.recommended.WithLabelValues(base...).Set(r.Recommended.Load)
		}
		set(m.peak, r.PeakOutputThroughput, base...)
		for _, wall := range r.Limits {
			if known(catalog.Walls(), string(wall.Limit)) {
				m.wall.WithLabelValues(append(slices.Clone(base), string(wall.Limit))...).Set(1)
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

// setLevel writes one level. Quantiles of a metric that no request had are
// absent.
func (m *sweepMetrics) setLevel(base []string, level capacity.Level) {
	for _, metric := range []struct {
		name   capacity.Metric
		series *prometheus.GaugeVec
	}{{capacity.TTFT, m.ttft}, {capacity.TPOT, m.tpot}, {capacity.E2E, m.e2e}} {
		s := level.Stats[metric.name]
		if s.N == 0 {
			continue
		}
		for i, millis := range []float64{s.P50, s.P90, s.P95, s.P99} {
			labels := append(slices.Clone(base), catalog.LevelQuantiles()[i])
			metric.series.WithLabelValues(labels...).Set(millis / 1000)
		}
	}
	set(m.requestRate, level.RequestThroughput, base...)
	set(m.outputRate, level.OutputThroughput, base...)
	set(m.tokensPerMin, level.TokensPerMinute, base...)
	set(m.errorRatio, level.ErrorRatio, base...)
	set(m.attainment, level.Attainment, base...)
	m.samples.WithLabelValues(base...).Set(float64(level.Completed + level.Failed))
}

func set(v *prometheus.GaugeVec, value probe.Opt[float64], labels ...string) {
	if value.OK {
		v.WithLabelValues(labels...).Set(value.V)
	}
}

func known(list []string, s string) bool { return slices.Contains(list, s) }
