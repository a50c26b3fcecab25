package dashboards

import (
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	c "tokprobe/exporter/catalog"
)

// overview answers: is anything wrong, for whom, and since when.
func overview(o Options) *dashboard.DashboardBuilder {
	b := frame(o, OverviewUID, "tokprobe / Overview",
		"What users of the watched LLM endpoints feel, against the SLOs: what is wrong, where, and how much budget is left.").
		WithVariable(datasourceVariable())
	for _, v := range append(probeVariables(true), windowVariable(), periodVariable()) {
		b.WithVariable(v)
	}
	overviewNow(b)
	overviewSLOs(b)
	overviewWorst(b)
	overviewOutcomes(b)
	overviewSpending(b)
	return b
}

func overviewNow(b *dashboard.DashboardBuilder) {
	down := orZero("count(" + c.Max(many(c.RecentFailures), byModel...) + " >= 4)")
	ok := share(c.Sum(c.Increase(many(c.Probes, c.Eq(c.LabelOutcome, "ok")), window)),
		c.Sum(c.Increase(many(c.Probes), window)))
	b.WithRow(dashboard.NewRowBuilder("Now")).
		WithPanel(figure(panel{title: "Models hard down", unit: "short", w: 4, h: 4, none: "none watched",
			about:   "Models of targets of which a probe has at least 4 failures of the service's own making among its last 6.",
			queries: []query{{expr: down}}}).
			Thresholds(steps("green", 1.0, "red")).ColorMode(common.BigValueColorModeBackground)).
		WithPanel(figure(panel{title: "Probes ok", unit: "percentunit", w: 4, h: 4, none: "no probe finished",
			about:   "Share of finished probes in the window that were ok, failures of our own making (wrong key, spent quota) included.",
			queries: []query{{expr: ok}}}).Thresholds(steps("red", 0.95, "orange", 0.99, "green"))).
		WithPanel(figure(panel{title: "Fastest burn, 1 h", unit: "suffix:×", w: 4, h: 4, none: "no SLO configured",
			about:   "The largest burn rate of any SLO over the last hour. At 1 the budget lasts exactly its period; the fast page is at 14.4, the slow one at 6 over 6 h.",
			queries: []query{{expr: c.Max(burn(time.Hour))}}}).Decimals(1).Thresholds(steps("green", 1.0, "orange", 6.0, "red"))).
		WithPanel(figure(panel{title: "Least budget left", unit: "percentunit", w: 4, h: 4, none: "no SLO configured",
			about:   "The smallest part of an error budget that is left in the budget period. Below 0 the promise is broken. Where fewer than half of the expected verdicts are there, half of the expected ones are taken, so a young installation starts near 100 %.",
			queries: []query{{expr: c.Min(budgetLeft())}}}).Decimals(1).Thresholds(steps("red", 0.0, "orange", 0.5, "green"))).
		WithPanel(figure(panel{title: "Targets in maintenance", unit: "short", w: 4, h: 4, none: "no targets",
			about:   "Targets with an open maintenance window: their probes are skipped or do not count.",
			queries: []query{{expr: orZero(c.Sum(many(c.MaintenanceActive)))}}}).Thresholds(steps("text", 1.0, "blue"))).
		WithPanel(figure(panel{title: "Probes watched", unit: "short", w: 4, h: 4, none: "none",
			about:   "Combinations of target, model and probe that are scheduled.",
			queries: []query{{expr: "count(" + c.Max(many(c.ProbesDue), byProbe...) + ")"}}}))
}

func overviewSLOs(b *dashboard.DashboardBuilder) {
	judged := c.Sum(c.Increase(many(c.SLOEvents, c.In(c.LabelVerdict, "good", "bad")), window), bySLO...)
	good := c.Sum(c.Increase(many(c.SLOEvents, c.Eq(c.LabelVerdict, "good")), window), bySLO...)
	hot := stepList("green", 1.0, "orange", 6.0, "red")
	columns := []column{
		{title: "Objective", unit: "percentunit", expr: c.Min(many(c.SLOObjective), bySLO...)},
		{title: "Threshold", unit: "s", expr: c.Min(many(c.SLOThreshold), bySLO...)},
		{title: "Good", unit: "percentunit", expr: share(good, judged)},
		{title: "Verdicts", unit: "short", count: true, expr: judged},
		{title: "Budget left", unit: "percentunit", expr: budgetLeft(), colour: stepList("red", 0.0, "orange", 0.5, "green")},
		{title: "Burn 1 h", unit: "suffix:×", expr: burn(time.Hour), colour: hot},
		{title: "Burn 6 h", unit: "suffix:×", expr: burn(6 * time.Hour), colour: hot},
		{title: "Burn 3 d", unit: "suffix:×", expr: burn(72 * time.Hour), colour: stepList("green", 1.0, "orange", 3.0, "red")},
	}
	b.WithRow(dashboard.NewRowBuilder("Service level objectives")).
		WithPanel(drill(grid(panel{title: "SLO status", w: 24, h: 9, none: "–",
			about: "One line for each objective. Good and Verdicts are of the window; Budget left is of the budget period. Burn and budget count bad verdicts against all, but at least half of those expected, as the alerts do: a gap does not inflate them. success has no threshold."},
			bySLO, columns, "Budget left", false).Decimals(2), byProbe...)).
		WithPanel(burnLines(lines(panel{title: "Burn rate, 1 h", unit: "suffix:×", w: 24, h: 8, none: "no SLO configured",
			about:   "The ten fastest: how many times faster than allowed an objective spent its budget over the last hour. Lines: 1 lasts exactly the period, 6 is the slow page (there over 6 h), 14.4 the fast one.",
			queries: []query{{expr: "topk(10, " + burn(time.Hour) + ")", legend: "{{location}} {{target}} {{model}} {{probe}}: {{slo}} {{sli}}"}}})))
}

func overviewWorst(b *dashboard.DashboardBuilder) {
	success := share(c.Sum(c.Increase(many(c.Probes, c.Eq(c.LabelOutcome, "ok")), window), byProbe...),
		c.Sum(c.Increase(many(c.Probes), window), byProbe...))
	p95 := func(sli string) string {
		return c.Max(many(c.Window, c.Eq(c.LabelSLI, sli), c.Eq(c.LabelQuantile, "0.95")), byProbe...)
	}
	overLimit := p95("ttft") + " / " + c.Min(many(c.SLOThreshold, c.Eq(c.LabelSLI, "ttft")), byProbe...)
	b.WithRow(dashboard.NewRowBuilder("Worst targets")).
		WithPanel(drill(grid(panel{title: "Probes, worst first", w: 24, h: 9, none: "–",
			about: "One line for each probe, the one with the lowest share of ok first. The quantiles are exact, over the last 120 ok probes of at most 2 h, and absent under 59 of them. TTFT P95 / SLO is above 100 % where the threshold is missed."},
			byProbe, []column{
				{title: "Ok in window", unit: "percentunit", expr: success, colour: stepList("red", 0.95, "orange", 0.99, "green")},
				{title: "Failures of last 6", unit: "short", expr: c.Max(many(c.RecentFailures), byProbe...), colour: stepList("green", 1.0, "orange", 4.0, "red")},
				{title: "Last ok", unit: "s", expr: since(c.Max(many(c.LastSuccess), byProbe...))},
				{title: "TTFT P95", unit: "s", none: few, expr: p95("ttft")},
				{title: "TTFT P95 / SLO", unit: "percentunit", expr: overLimit, colour: stepList("green", 0.8, "orange", 1.0, "red")},
				{title: "TPOT P95", unit: "s", none: few, expr: p95("tpot")},
				{title: "E2E P95", unit: "s", none: few, expr: p95("e2e")},
				{title: "Samples", unit: "short", count: true, expr: c.Max(many(c.WindowSamples, c.Eq(c.LabelSLI, "ttft")), byProbe...)},
			}, "Ok in window", false), byProbe...)).
		WithPanel(states(panel{title: "Last probe ok", unit: "short", w: 24, h: 7, none: "no probe finished",
			about:   "Green while the last finished probe was ok, red after one that was not. A probe that stopped running keeps its colour: see Prober health for stale ones.",
			queries: []query{{expr: c.Min(many(c.ProbeSuccess), byProbe...), legend: "{{target}} {{model}} {{probe}}"}}}).
			Mappings(words("1", "ok", "green", "0", "failed", "red")).Thresholds(steps("red", 1.0, "green")))
}

func overviewOutcomes(b *dashboard.DashboardBuilder) {
	rate := func(m c.Matcher) string { return "60 * " + c.Sum(c.Rate(many(c.Probes, m), "5m"), c.LabelOutcome) }
	excluded := share(c.Sum(c.Increase(many(c.SLOEvents, c.Eq(c.LabelVerdict, "excluded")), window), byModel...),
		c.Sum(c.Increase(many(c.SLOEvents), window), byModel...))
	b.WithRow(dashboard.NewRowBuilder("Outcomes")).
		WithPanel(stacked(panel{title: "Failed probes a minute by outcome", unit: "short", w: 12, h: 8, none: "no probe yet",
			about: "Failures over 5 minutes, per minute; classes that did not happen are left out. What each class means and who has to act is in the README and the runbook.",
			queries: []query{
				{expr: "(60 * " + c.Sum(c.Rate(many(c.Probes, c.Ne(c.LabelOutcome, "ok")), "5m"), c.LabelOutcome) + ") > 0", legend: "{{outcome}}"},
				{expr: "60 * " + c.Sum(c.Rate(many(c.Probes, c.Ne(c.LabelOutcome, "ok")), "5m")), legend: "all failures"},
			}}).OverrideByName("all failures", []dashboard.DynamicConfigValue{
			{Id: "custom.stacking", Value: map[string]any{"mode": "none"}}, {Id: "custom.fillOpacity", Value: 0},
			{Id: "custom.lineWidth", Value: 1}, {Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": "text"}},
		})).
		WithPanel(lines(panel{title: "Ok probes a minute", unit: "short", w: 6, h: 8, none: "no probe yet",
			about:   "Ok probes over 5 minutes, per minute. A fall without failures beside it means that probes do not run: see Prober health.",
			queries: []query{{expr: rate(c.Eq(c.LabelOutcome, "ok")), legend: "{{outcome}}"}}})).
		WithPanel(lines(panel{title: "Verdicts left out", unit: "percentunit", w: 6, h: 8, none: "no SLO configured",
			about:   "Share of SLO verdicts in the window that were neither good nor bad: failures of our own making, results our own lag could explain, answers without a TPOT. High values mean that the SLO sees little.",
			queries: []query{{expr: excluded, legend: "{{target}} {{model}}"}}}).Max(1))
}

func overviewSpending(b *dashboard.DashboardBuilder) {
	left := many(c.BudgetRemaining) + " / " + many(c.BudgetLimit)
	b.WithRow(dashboard.NewRowBuilder("What the probing costs")).
		WithPanel(lines(panel{title: "Token budget left today", unit: "percentunit", w: 8, h: 7, none: "no budget configured",
			about:   "Part of the daily token budget that is left, by target, probes and sweeps apart. It refills at midnight UTC.",
			queries: []query{{expr: c.Min(left, c.LabelTarget, c.LabelKind), legend: "{{target}} {{kind}}"}}}).Max(1)).
		WithPanel(lines(panel{title: "Tokens a minute", unit: "short", w: 8, h: 7, none: "no probe yet",
			about:   "Input and output tokens of probes as billed, per minute over the window. cached is part of input and reasoning part of output, so neither is added here.",
			queries: []query{{expr: "60 * " + c.Sum(c.Rate(many(c.Tokens, c.In(c.LabelType, "input", "output")), window), c.LabelType), legend: "{{type}}"}}})).
		WithPanel(figure(panel{title: "Cost of the last 24 h", unit: "short", w: 8, h: 7, none: "no price configured",
			about:   "Money that probes spent in the last 24 hours by the configured price, by currency. Without a price there is nothing to show.",
			queries: []query{{expr: c.Sum(c.Increase(many(c.Cost), "1d"), c.LabelCurrency), legend: "{{currency}}"}}}).Decimals(2))
}
