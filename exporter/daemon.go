package exporter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// daemonMetrics describe targets and the daemon itself.
type daemonMetrics struct {
	delay, lag       prometheus.Histogram
	budgetLimit      *prometheus.GaugeVec
	budgetRemaining  *prometheus.GaugeVec
	health           *prometheus.GaugeVec
	certExpiry       *prometheus.GaugeVec
	maintenance      *prometheus.GaugeVec
	canary           *prometheus.GaugeVec
	reloadSuccessful prometheus.Gauge
	reloadTime       *prometheus.GaugeVec
	reloads          *prometheus.CounterVec
	stateSaves       *prometheus.CounterVec
	otlpPushes       *prometheus.CounterVec
	configInfo       *prometheus.GaugeVec
	info             *targetInfo
	sweeps           *sweepMetrics
	targets          map[string]bool
}

func newDaemonMetrics(r *prometheus.Registry) *daemonMetrics {
	d := &daemonMetrics{
		delay: lagHistogram(catalog.SchedulerDelay), lag: lagHistogram(catalog.ClientLag),
		budgetLimit: gaugeVec(catalog.BudgetLimit), budgetRemaining: gaugeVec(catalog.BudgetRemaining),
		health: gaugeVec(catalog.TargetHealth), certExpiry: gaugeVec(catalog.CertExpiry),
		maintenance: gaugeVec(catalog.MaintenanceActive), canary: gaugeVec(catalog.CanarySuccess),
		reloadTime: gaugeVec(catalog.ReloadTimestamp), reloads: counterVec(catalog.Reloads),
		stateSaves: counterVec(catalog.StateSaves), otlpPushes: counterVec(catalog.OTLPPushes),
		configInfo: gaugeVec(catalog.ConfigInfo), info: &targetInfo{},
		reloadSuccessful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: catalog.ReloadSuccessful, Help: catalog.MustLookup(catalog.ReloadSuccessful).Help}),
		targets: map[string]bool{},
	}
	d.sweeps = newSweepMetrics(r)
	for _, result := range catalog.ReloadResults() {
		d.reloads.WithLabelValues(result)
		d.stateSaves.WithLabelValues(result)
		d.otlpPushes.WithLabelValues(result)
	}
	r.MustRegister(d.delay, d.lag, d.budgetLimit, d.budgetRemaining, d.health, d.certExpiry, d.maintenance,
		d.canary, d.reloadSuccessful, d.reloadTime, d.reloads, d.stateSaves, d.otlpPushes, d.configInfo, d.info)
	return d
}

func gaugeVec(name string) *prometheus.GaugeVec {
	m := catalog.MustLookup(name)
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func counterVec(name string) *prometheus.CounterVec {
	m := catalog.MustLookup(name)
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
}

func lagHistogram(name string) prometheus.Histogram {
	m := catalog.MustLookup(name)
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: m.Name, Help: m.Help, Buckets: m.Buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: maxNative,
		NativeHistogramMinResetDuration: resetAfter,
	})
}

// apply follows the roster: what is gone disappears, what is enumerable
// exists from the start.
func (d *daemonMetrics) apply(r roster.Roster) {
	now := map[string]bool{}
	d.budgetLimit.Reset()
	for _, t := range r.Targets {
		now[t.Name] = true
		d.maintenance.WithLabelValues(t.Name)
		for kind, limit := range map[string]int64{"probe": t.Budget.ProbeTokensPerDay, "sweep": t.Budget.SweepTokensPerDay} {
			if limit > 0 {
				d.budgetLimit.WithLabelValues(t.Name, kind).Set(float64(limit))
			} else {
				d.budgetRemaining.DeleteLabelValues(t.Name, kind)
			}
		}
		if t.HealthURL == "" {
			d.health.DeleteLabelValues(t.Name)
		}
	}
	for name := range d.targets {
		if !now[name] {
			for _, v := range []*prometheus.GaugeVec{d.budgetRemaining, d.health, d.certExpiry, d.maintenance} {
				v.DeletePartialMatch(prometheus.Labels{catalog.LabelTarget: name})
			}
		}
	}
	d.targets = now
	d.configInfo.Reset()
	d.configInfo.WithLabelValues(r.SLOHash).Set(1)
	d.info.apply(r.Targets)
	d.sweeps.apply(r.Sweeps)
}

func (d *daemonMetrics) observeDelay(t probe.Tick) {
	if !t.Due.IsZero() && !t.Started.IsZero() {
		d.delay.Observe(max(t.Started.Sub(t.Due), 0).Seconds())
	}
}

func (d *daemonMetrics) observeResult(t probe.Tick) {
	r := t.Result
	if r.Phases.Send.OK || r.TTFT.OK { // t0 was reached: there was something to be late for
		d.lag.Observe(r.ClientLag.Seconds())
	}
}

// SetHealth records what the target's own health endpoint last said.
func (e *Exporter) SetHealth(target string, healthy bool) {
	e.setTarget(e.daemon.health, number(healthy), target)
}

// ClearHealth takes the health of a target off the page: its endpoint gave no
// answer that says anything, or is no longer asked.
func (e *Exporter) ClearHealth(target string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.daemon.health.DeleteLabelValues(target)
}

// SetMaintenance records whether a maintenance window of the target is open.
func (e *Exporter) SetMaintenance(target string, active bool) {
	e.setTarget(e.daemon.maintenance, number(active), target)
}

// SetBudgetRemaining records what is left of today's tokens; kind is "probe"
// or "sweep". Overspending reads 0.
func (e *Exporter) SetBudgetRemaining(target, kind string, tokens int64) {
	if kind == "probe" || kind == "sweep" {
		e.setTarget(e.daemon.budgetRemaining, float64(max(tokens, 0)), target, kind)
	}
}

// setTarget drops what belongs to a target that is not watched: it would come
// back to life after a reload removed it.
func (e *Exporter) setTarget(v *prometheus.GaugeVec, value float64, labels ...string) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.daemon.targets[labels[0]] {
		v.WithLabelValues(labels...).Set(value)
	}
}

// SetCanary records whether a canary, "machine" or "network", is well.
func (e *Exporter) SetCanary(canary string, ok bool) {
	if canary == "machine" || canary == "network" {
		e.daemon.canary.WithLabelValues(canary).Set(number(ok))
	}
}

// ClearCanary takes the gauge of a canary off the page: it is no longer asked.
func (e *Exporter) ClearCanary(canary string) { e.daemon.canary.DeleteLabelValues(canary) }

// StateSaved counts an attempt to write the state file.
func (e *Exporter) StateSaved(ok bool) {
	result := "success"
	if !ok {
		result = "failure"
	}
	e.daemon.stateSaves.WithLabelValues(result).Inc()
}

// OTLPPushed counts a push of measurements to an OpenTelemetry receiver.
func (e *Exporter) OTLPPushed(ok bool) {
	result := "success"
	if !ok {
		result = "failure"
	}
	e.daemon.otlpPushes.WithLabelValues(result).Inc()
}

// SetReload records an attempt to load the configuration at the given time.
func (e *Exporter) SetReload(ok bool, at time.Time) {
	e.daemon.reloadSuccessful.Set(number(ok))
	e.reloadFailed.Store(!ok)
	if !ok {
		e.daemon.reloads.WithLabelValues("failure").Inc()
		return
	}
	e.daemon.reloads.WithLabelValues("success").Inc()
	e.daemon.reloadTime.WithLabelValues().Set(unix(at))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
