package exporter

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/roster"
)

// targetInfo is tokprobe_target_info. It is an unchecked collector since each
// target may have other labels.
type targetInfo struct {
	metrics atomic.Pointer[[]prometheus.Metric]
}

// Describe sends nothing: that is what makes a collector unchecked.
func (*targetInfo) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (i *targetInfo) Collect(ch chan<- prometheus.Metric) {
	if list := i.metrics.Load(); list != nil {
		for _, m := range *list {
			ch <- m
		}
	}
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

func (i *targetInfo) apply(targets []roster.Target) {
	family := catalog.MustLookup(catalog.TargetInfo)
	list := make([]prometheus.Metric, 0, len(targets))
	for _, t := range targets {
		names, values := slices.Clone(family.Labels), []string{t.Name, t.Provider, t.Protocol}
		for name, value := range t.Labels {
			if !labelName.MatchString(name) || strings.HasPrefix(name, "__") {
				continue // Prometheus could not take it
			}
			if slices.Contains(family.Labels, name) {
				name = "exported_" + name // as Prometheus renames a clash
			}
			if !slices.Contains(names, name) {
				names, values = append(names, name), append(values, strings.ToValidUTF8(value, "\uFFFD"))
			}
		}
		desc := prometheus.NewDesc(family.Name, family.Help, names, nil)
		list = append(list, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, 1, values...))
	}
	i.metrics.Store(&list)
}
