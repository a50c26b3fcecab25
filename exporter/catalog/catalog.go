// Package catalog is the one list of tokprobe's metrics: names, types, labels,
// help texts and the closed lists of label values. The exporter registers
// from it, dashboards and rules are generated from it, and the table in the
// README is printed by it, so that none of them can drift from another.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Type is a metric's type as Prometheus spells it.
type Type string

const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram" // classic and native together
)

// Scope says what one series of a metric stands for.
type Scope string

const (
	ScopeProbe  Scope = "probe"  // one probe of one model at one target
	ScopeSweep  Scope = "sweep"  // one scheduled sweep of one model at one target
	ScopeTarget Scope = "target" // one target
	ScopeDaemon Scope = "daemon" // this process
)

// Metric is one metric family.
type Metric struct {
	Name  string
	Type  Type
	Scope Scope
	// Labels are all its label names: those of the scope, then its own.
	// tokprobe_target_info has the labels of the configuration on top.
	Labels []string
	// Enum holds, for each label with a closed list, all its values.
	Enum map[string][]string
	// Buckets are the upper bounds of the classic buckets in seconds,
	// without +Inf; histograms only.
	Buckets []float64
	// Help gives unit, formula and when the series is absent.
	Help string
}

// All returns every metric in the order of the documentation. The caller owns
// the slice, not what its elements point to.
func All() []Metric {
	return slices.Concat(probeMetrics(), latencyMetrics(), lastMetrics(), sloMetrics(),
		sweepMetrics(), levelMetrics(), kneeMetrics(), targetMetrics(), daemonMetrics())
}

// Lookup returns the metric of that exact name.
func Lookup(name string) (Metric, bool) {
	for _, m := range All() {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// MustLookup is Lookup for a name of this package's constants. It panics for
// any other.
func MustLookup(name string) Metric {
	m, ok := Lookup(name)
	if !ok {
		panic(fmt.Sprintf("catalog: no metric %q", name))
	}
	return m
}

// HasLabel tells whether the metric carries the label.
func (m Metric) HasLabel(label string) bool { return slices.Contains(m.Labels, label) }

// Markdown returns the table of all metrics as the README shows it.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labelText(m), escapeCell(m.Help))
	}
	return b.String()
}

// labelText lists labels, with their values where the list is closed and no
// longer than eight: outcome has a table of its own.
func labelText(m Metric) string {
	parts := make([]string, 0, len(m.Labels))
	for _, l := range m.Labels {
		text := "`" + l + "`"
		if values := m.Enum[l]; len(values) > 0 && len(values) <= 8 {
			text += " (" + strings.Join(values, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func escapeCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
