package deploy

import (
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/roster"
)

// sweepStale: no ok run for two full periods and the time a run takes, or none
// at all though the sweep has been planned that long.
func (g gen) sweepStale(l ladder) Rule {
	limit := 2*l.longest + l.MaxDuration
	last := catalog.Max(catalog.Sel(catalog.SweepLastSuccess, l.is()), bySweep()...)
	planned := catalog.Max(catalog.Sel(catalog.SweepInProgress, l.is())+" offset "+catalog.Range(limit), bySweep()...)
	now := catalog.Max(catalog.Sel(catalog.SweepInProgress, l.is()), bySweep()...)
	expr := "time() - " + last + " > " + catalog.Number(limit.Seconds()) +
		"\nor\n(" + now + " * 0 + " + catalog.Number(limit.Seconds()) + "\n  and " + planned + "\n  unless " + last + ")"
	return g.alert(alert{
		name: "TokprobeSweepStale", severity: ticket, board: sweepBoard(), wait: 5 * time.Minute, labels: map[string]string{catalog.LabelSweep: l.Name},
		expr:        g.labelled(expr),
		summary:     ofModel + ": no good run of sweep {{ $labels.sweep }} for {{ $value | humanizeDuration }}" + place,
		description: "The last ok run of sweep {{ $labels.sweep }} is {{ $value | humanizeDuration }} old or there was none; two periods are " + catalog.Range(2*l.longest) + ". What is known about this endpoint's capacity is stale.",
	})
}

// sweepFailing: a run was aborted or failed within the last period.
func (g gen) sweepFailing(l ladder) Rule {
	runs := catalog.Sel(catalog.SweepRuns, l.is(), catalog.In(catalog.LabelOutcome, "aborted", "failed"))
	expr := catalog.Sum(catalog.Increase(runs, catalog.Range(l.period+l.period/10)), append(bySweep(), catalog.LabelOutcome)...) + " > 0.5"
	return g.alert(alert{
		name: "TokprobeSweepFailing", severity: ticket, board: sweepBoard(), labels: map[string]string{catalog.LabelSweep: l.Name},
		expr:        g.labelled(expr),
		summary:     ofModel + ": sweep {{ $labels.sweep }} {{ $labels.outcome }}" + place,
		description: "About {{ $value | humanize }} runs of sweep {{ $labels.sweep }} were {{ $labels.outcome }} in the last " + catalog.Range(l.period+l.period/10) + ". aborted: an abort limit, the bystander probe or a person stopped it; failed: it could not run.",
	})
}

// aboveRecommended compares what the target's own metrics say of production
// with the load recommended by the sweeps. Our own sweep is not production.
func (g gen) aboveRecommended() []Rule {
	var rules []Rule
	for _, t := range g.r.Targets {
		if t.ServerMetrics.Selector == "" {
			continue
		}
		for _, mode := range catalog.SweepModes() {
			if g.hasSweep(t.Name, mode) {
				rules = append(rules, g.production(t, mode))
			}
		}
	}
	return rules
}

func (g gen) hasSweep(target, mode string) bool {
	for _, s := range g.r.Sweeps {
		if s.Target == target && s.Mode == mode {
			return true
		}
	}
	return false
}

func (g gen) production(t roster.Target, mode string) Rule {
	span := "[" + g.o.span(10*time.Minute) + "]"
	sel := "{" + t.ServerMetrics.Selector + "}"
	load, unit := "avg_over_time(vllm:num_requests_running"+sel+span+")", "requests in flight"
	if mode == "rate" {
		load, unit = "rate(vllm:request_success_total"+sel+span+")", "requests a second"
	}
	// One recommendation per model, the lowest of all sweeps and places.
	base := []string{catalog.LabelTarget, catalog.LabelModel}
	recommended := catalog.Min(catalog.Sel(catalog.RecommendedLoad, catalog.Eq(catalog.LabelTarget, t.Name), catalog.Eq(catalog.LabelMode, mode)), base...)
	busy := catalog.Max("max_over_time("+catalog.Sel(catalog.SweepInProgress, catalog.Eq(catalog.LabelTarget, t.Name))+span+")", base...) + " == 1"
	expr := "label_replace(\n" +
		`  label_replace(sum by (model_name) (` + load + `), "model", "$1", "model_name", "(.*)"),` + "\n" +
		`  "target", ` + catalog.Quote(t.Name) + `, "", ""` + "\n)\n> on (target, model)\n" + recommended
	expr = catalog.Max("\n"+indent(expr)+"\n", base...) + "\nunless\n" + busy
	return g.alert(alert{
		name: "TokprobeProductionAboveRecommended", severity: ticket, board: sweepBoard(), wait: 15 * time.Minute,
		labels: map[string]string{catalog.LabelTarget: t.Name, catalog.LabelMode: mode}, expr: g.labelled(expr),
		summary:     ofModel + ": production load is above the recommended one",
		description: "The servers behind {{ $labels.target }} have {{ $value | humanize }} " + unit + ", above the load that the sweeps recommend (75 % of the knee, or the most that meets the SLO). There is no reserve for a failed instance.",
	})
}
