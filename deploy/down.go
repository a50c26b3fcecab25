package deploy

import (
	"fmt"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

// failuresName is the most failures among the last 6 probes of any probe of a
// model.
const failuresName = "model:tokprobe_recent_failures:max"

// downGroup rings when a service is down, whatever its SLOs say.
func (g gen) downGroup() Group {
	group := Group{Name: "tokprobe-down", Rules: []Rule{
		{Record: failuresName, Expr: noMaintenance(catalog.Max(catalog.Sel(catalog.RecentFailures), byModel()...))},
	}}
	hard := noMaintenance(catalog.Max(catalog.Sel(catalog.RecentFailures), byProbe()...) + " >= 4")
	down := alert{
		name: "TokprobeHardDown", severity: page, expr: g.labelled(g.agreed(hard)), board: targetBoard(),
		summary:     ofProbe + ": down" + place,
		description: "{{ $value }} of the last 6 probes failed by the service's fault.",
	}
	group.Rules = append(group.Rules, g.alert(down))
	if g.o.Quorum > 1 {
		// Seen from too few places to page: the way there may be at fault.
		down.severity, down.expr = ticket, g.labelled(hard)
		group.Rules = append(group.Rules, g.alert(down))
	}
	group.Rules = append(group.Rules, g.targetDown(), g.hungButHealthy())
	return group
}

func (g gen) targetDown() Rule {
	down := catalog.Sum(failuresName+" >= bool 4", byTarget()...)
	models := "count by (location, target) (" + failuresName + ")"
	expr := all(down+" >= 2", down+" >= 0.5 * "+models)
	return g.alert(alert{
		name: "TokprobeTargetDown", severity: page, expr: g.labelled(g.agreed(expr)), board: overview(),
		summary:     "{{ $labels.target }}: {{ $value }} models are down" + place,
		description: "{{ $value }} models of {{ $labels.target }}, at least half of them, each have 4 or more failures among their last 6 probes: the fault is not one model's.",
	})
}

// hungButHealthy: the target's own health page says 200 while answers time
// out. 3 timeouts over 6 intervals, at two different scrapes, or it would ring
// for a single slow answer.
func (g gen) hungButHealthy() Rule {
	timeouts := []string{string(probe.TimeoutFirstToken), string(probe.Stall), string(probe.TimeoutTotal)}
	expr := g.perWindow(5*time.Minute, 6, func(w time.Duration, m []catalog.Matcher) string {
		sel := catalog.Sel(catalog.Probes, append(m, catalog.In(catalog.LabelOutcome, timeouts...))...)
		span := "[" + g.o.span(w) + "]"
		return all(
			catalog.Sum("increase("+sel+span+")", byProbe()...)+" > 2.5",
			catalog.Sum("changes("+sel+span+") - resets("+sel+span+")", byProbe()...)+" >= 2")
	})
	// A timeout that our own lag explains is counted with the outcomes, but is no
	// failure of the service: without this a starved prober would page.
	failing := "on (location, target, model, probe)\n" + catalog.Max(catalog.Sel(catalog.RecentFailures), byProbe()...) + " >= 3"
	healthy := "on (location, target)\n" + catalog.Min(catalog.Sel(catalog.TargetHealth), byTarget()...) + " == 1"
	return g.alert(alert{
		name: "TokprobeHungButHealthy", severity: page, board: targetBoard(),
		expr:        g.labelled(g.agreed(noMaintenance("(\n" + indent(expr) + "\n)\nand " + failing + "\nand " + healthy))),
		summary:     ofProbe + ": answers time out while its health page says it is well" + place,
		description: fmt.Sprintf("{{ $value | humanize }} probes timed out over the last 6 intervals (%s at least), and the target's own health endpoint answers 2xx: the engine hangs and no load balancer will notice.", g.o.span(5*time.Minute)),
	})
}
