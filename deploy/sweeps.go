package deploy

import (
	"fmt"
	"slices"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/roster"
)

// ladder is one sweep of the configuration, on all its targets and models.
type ladder struct {
	roster.Sweep
	period  time.Duration // average between two runs
	longest time.Duration // between two runs
}

// kneeName is the knee, or the top of the ladder if it was not reached.
const kneeName = "sweep:tokprobe_knee_load:effective"

func byKnee() []string  { return append(bySweep(), catalog.LabelScenario, catalog.LabelMode) }
func byLevel() []string { return append(byKnee(), catalog.LabelLevel) }

// ladders are the sweeps by name. Windows of sweeps follow their own cron and
// are never scaled.
func (g gen) ladders() []ladder {
	var list []ladder
	for _, s := range g.r.Sweeps {
		if slices.ContainsFunc(list, func(l ladder) bool { return l.Name == s.Name }) {
			continue
		}
		l := ladder{Sweep: s, period: roster.Watch{Cron: s.Cron, Zone: s.Zone}.Gap()}
		l.period = l.period.Round(time.Second)
		l.longest = max(l.period, longestGap(s.Cron, s.Zone))
		if l.period > 0 {
			list = append(list, l)
		}
	}
	return list
}

// longestGap is the longest time between two runs within ten weeks: three days
// for a sweep on working days.
func longestGap(cron, zone string) time.Duration {
	s, err := roster.ParseCron(cron, zone)
	if err != nil {
		return 0
	}
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var longest time.Duration
	last := s.Next(start)
	for last.Before(start.Add(10 * week)) {
		next := s.Next(last)
		longest = max(longest, next.Sub(last))
		last = next
	}
	return longest
}

func (g gen) sweepGroups() []Group {
	records := Group{Name: "tokprobe-sweeps"}
	alerts := Group{Name: "tokprobe-sweep-alerts"}
	for _, l := range g.ladders() {
		records.Rules = append(records.Rules, g.sweepRecords(l)...)
		alerts.Rules = append(alerts.Rules, g.kneeDown(l), g.throughputWorse(l))
		for _, m := range levelLatencies() {
			alerts.Rules = append(alerts.Rules, g.latencyWorse(l, m))
		}
		alerts.Rules = append(alerts.Rules, g.sweepStale(l), g.sweepFailing(l))
	}
	return []Group{records, alerts, {Name: "tokprobe-production", Rules: g.aboveRecommended()}}
}

func (l ladder) is() catalog.Matcher { return catalog.Eq(catalog.LabelSweep, l.Name) }

// base is the median of the seven runs before the last two.
func (l ladder) base(series string, by []string) string {
	return catalog.Max(fmt.Sprintf("quantile_over_time(0.5, %s[%s] offset %s)", series, catalog.Range(7*l.period), catalog.Range(2*l.period)), by...)
}

func (g gen) sweepRecords(l ladder) []Rule {
	// A run that did not reach the knee stands for the top of the ladder: from
	// "not within 32" to 8 is a fall.
	reached := catalog.Max(catalog.Sel(catalog.KneeReached, l.is()), byKnee()...)
	knee := catalog.Max(catalog.Sel(catalog.KneeLoad, l.is()), byKnee()...) +
		"\nor\n(" + reached + " == 0) + " + catalog.Number(slices.Max(l.Ladder))
	rules := []Rule{{Record: kneeName, Expr: knee, Labels: map[string]string{catalog.LabelSweep: l.Name}}}
	for _, m := range append(levelLatencies(), levelThroughput()) {
		rules = append(rules, Rule{Record: m.baseName(), Expr: l.base(m.selector(l), byLevel()), Labels: map[string]string{catalog.LabelSweep: l.Name}})
	}
	return rules
}

// twice is true only where two ok runs lie within the last two periods, so
// that one bad run followed by a failed one does not count double.
func (l ladder) twice() string {
	runs := catalog.Sel(catalog.SweepRuns, l.is(), catalog.Eq(catalog.LabelOutcome, "ok"))
	return "on (location, target, model, sweep)\n" + catalog.Sum(catalog.Increase(runs, catalog.Range(2*l.period)), bySweep()...) + " > 1.5"
}

// settle is how long two runs must look bad: their length differs, and for
// minutes "one period ago" may be the run before.
func (l ladder) settle() time.Duration { return min(l.period/8, time.Hour).Round(time.Second) }

func (g gen) kneeDown(l ladder) Rule {
	series := recorded(kneeName, l.is())
	limit := " < 0.8 * " + l.base(series, byKnee())
	before := catalog.Max(series+" offset "+catalog.Range(l.period), byKnee()...)
	r := g.alert(alert{
		name: "TokprobeKneeDown", severity: ticket, board: sweepBoard(), labels: map[string]string{catalog.LabelSweep: l.Name},
		expr:        g.labelled(all(series+limit, before+limit) + "\nand " + l.twice()),
		summary:     ofModel + ": capacity fell, knee now at {{ $value }} ({{ $labels.mode }})" + place,
		description: "Two runs of sweep {{ $labels.sweep }} in a row found the knee under 80 % of the median of the seven before: now {{ $value }} ({{ $labels.mode }}, {{ $labels.scenario }}). The endpoint takes less load than it did.",
	})
	r.For = catalog.Range(l.settle())
	return r
}

// levelMetric is one number of a level that two runs are compared by.
type levelMetric struct {
	metric, sli, word string
	floor             float64
}

func levelLatencies() []levelMetric {
	return []levelMetric{
		{catalog.LevelTTFT, "ttft", "TTFT", 0.05}, {catalog.LevelTPOT, "tpot", "TPOT", 0.003}, {catalog.LevelE2E, "e2e", "E2E", 0.25},
	}
}

func levelThroughput() levelMetric {
	return levelMetric{metric: catalog.LevelOutputRate, word: "output tokens a second"}
}

// selector takes the P50: a level has as few as 20 requests, whose tail is
// chance.
func (m levelMetric) selector(l ladder) string {
	if m.sli == "" {
		return catalog.Sel(m.metric, l.is())
	}
	return catalog.Sel(m.metric, l.is(), catalog.Eq(catalog.LabelQuantile, "0.5"))
}

func (m levelMetric) baseName() string {
	return "level:" + m.metric + ":base"
}

func (g gen) latencyWorse(l ladder, m levelMetric) Rule {
	base := recorded(m.baseName(), l.is())
	now := catalog.Max(m.selector(l), byLevel()...)
	before := catalog.Max(m.selector(l)+" offset "+catalog.Range(l.period), byLevel()...)
	expr := catalog.Max("\n"+indent(all(
		now+" / "+base,
		now+" > 1.3 * "+base,
		now+" > "+base+" + "+catalog.Number(m.floor),
		before+" > 1.3 * "+base))+"\n", byKnee()...) + "\nand " + l.twice()
	r := g.alert(alert{
		name: "TokprobeSweepLatencyWorse", severity: ticket, board: sweepBoard(),
		labels: map[string]string{catalog.LabelSweep: l.Name, catalog.LabelSLI: m.sli}, expr: g.labelled(expr),
		summary:     ofModel + ": " + m.word + " under the same load is worse" + place,
		description: "In two runs of sweep {{ $labels.sweep }} in a row " + m.word + " P50 was over 1.3 times the median of the seven before at the same level; at the worst level it is now {{ $value | humanize }} times ({{ $labels.mode }}, {{ $labels.scenario }}).",
	})
	r.For = catalog.Range(l.settle())
	return r
}

func (g gen) throughputWorse(l ladder) Rule {
	m := levelThroughput()
	base := recorded(m.baseName(), l.is())
	now := catalog.Max(m.selector(l), byLevel()...)
	before := catalog.Max(m.selector(l)+" offset "+catalog.Range(l.period), byLevel()...)
	expr := catalog.Min("\n"+indent(all(now+" / "+base, now+" < 0.8 * "+base, before+" < 0.8 * "+base))+"\n", byKnee()...) + "\nand " + l.twice()
	r := g.alert(alert{
		name: "TokprobeSweepThroughputWorse", severity: ticket, board: sweepBoard(), labels: map[string]string{catalog.LabelSweep: l.Name}, expr: g.labelled(expr),
		summary:     ofModel + ": throughput under the same load is worse" + place,
		description: "In two runs of sweep {{ $labels.sweep }} in a row the output tokens a second were under 80 % of the median of the seven before at the same level; at the worst level they are now {{ $value | humanizePercentage }} of it ({{ $labels.mode }}, {{ $labels.scenario }}).",
	})
	r.For = catalog.Range(l.settle())
	return r
}
