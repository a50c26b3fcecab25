package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/roster"
)

// gen is what all groups of one file are made from.
type gen struct {
	r       roster.Roster
	o       Options
	gaps    []gapClass
	labels  []string // names of all labels of all targets, sorted
	targets []string // names of all targets
}

// gapClass is the probes that run at one interval.
type gapClass struct {
	gap    time.Duration // real, not scaled
	probes []string
}

// Every aggregation keeps location: with one place the label is empty and
// vanishes, with several each place has its own series.
func byTarget() []string { return []string{"location", catalog.LabelTarget} }
func byModel() []string  { return append(byTarget(), catalog.LabelModel) }
func byProbe() []string  { return append(byModel(), catalog.LabelProbe) }
func bySweep() []string  { return append(byModel(), catalog.LabelSweep) }

// labelsInfo carries the configured labels of each target.
const labelsInfo = "target:tokprobe_labels:info"

func newGen(r roster.Roster, o Options) (gen, error) {
	g := gen{r: r, o: o}
	gapOf := map[string]time.Duration{}
	for _, w := range r.Watches {
		gap := w.Gap()
		if gap <= 0 {
			return g, fmt.Errorf("probe %q of target %q: its interval is not known; write every or a cron that fires", w.ID.Probe, w.ID.Target)
		}
		gap = o.unscaled(gap)
		if old, ok := gapOf[w.ID.Probe]; ok && old != gap {
			return g, fmt.Errorf("probe %q runs every %s and every %s; give the two different names", w.ID.Probe, old, gap)
		}
		gapOf[w.ID.Probe] = gap
	}
	byGap := map[time.Duration][]string{}
	for name, gap := range gapOf {
		byGap[gap] = append(byGap[gap], name)
	}
	for gap, probes := range byGap {
		slices.Sort(probes)
		g.gaps = append(g.gaps, gapClass{gap, probes})
	}
	slices.SortFunc(g.gaps, func(a, b gapClass) int { return cmp.Compare(a.gap, b.gap) })
	for _, t := range r.Targets {
		g.targets = append(g.targets, t.Name)
		for name := range t.Labels {
			g.labels = append(g.labels, name)
		}
	}
	slices.Sort(g.labels)
	g.labels = slices.Compact(g.labels)
	return g, nil
}

// perWindow joins with `or` one expression per window: each probe is looked at
// over at least least, and over at least n of its intervals. Probes that are
// not in the roster, because they came after the rules were made, belong to the
// shortest window.
func (g gen) perWindow(least time.Duration, n int, expr func(window time.Duration, m []catalog.Matcher) string) string {
	type group struct {
		window time.Duration
		probes []string
	}
	groups := []group{{window: least}}
	for _, c := range g.gaps {
		w := max(least, wholeMinutes(time.Duration(n)*c.gap))
		if last := &groups[len(groups)-1]; last.window == w {
			last.probes = append(last.probes, c.probes...)
			continue
		}
		groups = append(groups, group{w, c.probes})
	}
	if len(groups) > 1 && len(groups[0].probes) == 0 {
		groups = groups[1:]
	}
	var others []string
	for _, x := range groups[1:] {
		others = append(others, x.probes...)
	}
	parts := make([]string, len(groups))
	for i, x := range groups {
		var m []catalog.Matcher
		switch {
		case i > 0:
			m = []catalog.Matcher{oneOf(catalog.LabelProbe, x.probes)}
		case len(others) > 0:
			m = []catalog.Matcher{noneOf(catalog.LabelProbe, others)}
		}
		parts[i] = expr(x.window, m)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	for i, p := range parts {
		parts[i] = "(\n" + indent(p) + "\n)"
	}
	// The outer brackets keep `x unless (a or b)` from being `(x unless a) or b`.
	return "(\n" + indent(strings.Join(parts, "\nor\n")) + "\n)"
}

func oneOf(label string, values []string) catalog.Matcher {
	if len(values) == 1 {
		return catalog.Eq(label, values[0])
	}
	return catalog.In(label, values...)
}

func noneOf(label string, values []string) catalog.Matcher {
	if len(values) == 1 {
		return catalog.Ne(label, values[0])
	}
	return catalog.NotRe(label, catalog.In(label, values...).Value)
}

// labelled adds the configured labels of the target to an expression that has
// a target label. Its value stays as it is: the info series is always 1.
func (g gen) labelled(expr string) string {
	if len(g.labels) == 0 {
		return expr
	}
	return "(\n" + indent(expr) + "\n)\n* on (target) group_left (" + strings.Join(g.labels, ", ") + ") " + labelsInfo
}

// agreed lets an expression through where enough locations have it.
func (g gen) agreed(expr string) string {
	if g.o.Quorum <= 1 {
		return expr
	}
	inner := "(\n" + indent(expr) + "\n)"
	return fmt.Sprintf("max without (location) %s\nand\ncount without (location) %s >= %d", inner, inner, g.o.Quorum)
}

// recorded builds a selector on a recording rule of ours.
func recorded(name string, matchers ...catalog.Matcher) string {
	if len(matchers) == 0 {
		return name
	}
	parts := make([]string, len(matchers))
	for i, m := range matchers {
		parts[i] = m.Label + m.Op + catalog.Quote(m.Value)
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

// increases is the sum of a counter's growth over a scaled window.
func (g gen) increases(window time.Duration, selector string, by []string) string {
	return catalog.Sum(catalog.Increase(selector, g.o.span(window)), by...)
}

// noMaintenance leaves out targets in an open maintenance window.
func noMaintenance(expr string) string {
	return expr + "\nunless on (target)\n" + catalog.Max(catalog.Sel(catalog.MaintenanceActive), catalog.LabelTarget) + " == 1"
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// all joins conditions with `and`, each on its own lines.
func all(conditions ...string) string { return strings.Join(conditions, "\nand\n") }
