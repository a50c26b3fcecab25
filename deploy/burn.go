package deploy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/slo"
)

// burnRules are the rules of all error budgets.
type burnRules struct {
	groups             []Group
	comments, warnings []string
}

// burn is one alert: one objective over one pair of windows, for all probes
// that have it.
type burn struct {
	slo       slo.SLO
	objective slo.Objective
	pair      slo.Pair
	probes    []string
}

// Recording rules of one window: growth of the bad verdicts, in how many
// scrapes they grew, and their share.
func badName(window string) string     { return "probe_sli:tokprobe_slo_bad:increase" + window }
func changesName(window string) string { return "probe_sli:tokprobe_slo_bad:changes" + window }
func ratioName(window string) string   { return "probe_sli:tokprobe_slo_bad:ratio" + window }

func bySLI() []string { return append(byProbe(), catalog.LabelSLO, catalog.LabelSLI) }

func (g gen) burns() (burnRules, error) {
	var out burnRules
	list, left := g.pairs()
	var lines []string
	for _, l := range left {
		lines = append(lines, fmt.Sprintf("  %s %s, probe %s: %s %s: %s", l.slo.Name, l.objective.SLI, strings.Join(l.probes, ", "), l.pair, l.pair.Severity, l.reason))
	}
	if len(lines) > 0 {
		out.comments = append(out.comments, "Burn-rate windows that cannot work and are left out:\n"+strings.Join(lines, "\n"), "")
	}
	blind := g.undetected(list)
	for _, w := range blind {
		out.warnings = append(out.warnings, w)
		out.comments = append(out.comments, "WARNING: "+w, "")
	}
	if len(list) == 0 {
		return out, nil
	}
	out.groups = append(out.groups, g.burnRecords(list))
	alerts := Group{Name: "tokprobe-slo-alerts"}
	for _, b := range list {
		if b.slo.Alerting != slo.Off {
			alerts.Rules = append(alerts.Rules, g.burnAlert(b))
		}
	}
	out.groups = append(out.groups, alerts)
	return out, nil
}

type leftPair struct {
	burn
	reason string
}

// pairs sorts the probes of every objective by the pairs of windows they can
// use: probes of different intervals may share one.
func (g gen) pairs() (list []burn, left []leftPair) {
	add := func(b burn, probe string) {
		for i := range list {
			if list[i].slo.Name == b.slo.Name && list[i].objective == b.objective && list[i].pair == b.pair {
				list[i].probes = append(list[i].probes, probe)
				return
			}
		}
		b.probes = []string{probe}
		list = append(list, b)
	}
	for _, s := range g.r.SLOs {
		for _, o := range s.Objectives {
			for _, c := range g.gaps {
				for _, probe := range c.probes {
					if !g.held(probe, s.Name) {
						continue
					}
					usable, out := slo.Pairs(o.Ratio, c.gap)
					for _, p := range usable {
						p.Short = wholeMinutes(p.Short)
						add(burn{slo: s, objective: o, pair: p}, probe)
					}
					for _, l := range out {
						l.Short = wholeMinutes(l.Short)
						left = append(left, leftPair{burn{s, o, l.Pair, []string{probe}}, l.Reason})
					}
				}
			}
		}
	}
	return list, left
}

// held tells whether some watch of the probe has the SLO.
func (g gen) held(probe, name string) bool {
	for _, w := range g.r.Watches {
		if w.ID.Probe == probe && slices.ContainsFunc(w.SLOs, func(s slo.SLO) bool { return s.Name == name }) {
			return true
		}
	}
	return false
}

// undetected names every promise that no window watches though it should ring.
func (g gen) undetected(list []burn) []string {
	var out []string
	for _, s := range g.r.SLOs {
		if s.Alerting == slo.Off {
			continue
		}
		for _, o := range s.Objectives {
			for _, c := range g.gaps {
				for _, probe := range c.probes {
					seen := slices.ContainsFunc(list, func(b burn) bool {
						return b.slo.Name == s.Name && b.objective == o && slices.Contains(b.probes, probe)
					})
					if g.held(probe, s.Name) && !seen {
						out = append(out, fmt.Sprintf("no window can see SLO %s, %s %.4g%% with probe %s every %s: probe at least every %s, lower the objective, or write alerting: off",
							s.Name, o.SLI, 100*o.Ratio, probe, g.o.scaled(c.gap), g.o.scaled(72*time.Hour/12)))
					}
					if max := g.limitOf(probe, o.SLI); o.Below > max && max > 0 && g.held(probe, s.Name) {
						out = append(out, fmt.Sprintf("SLO %s, %s: the threshold %s is above the limit %s of probe %s, which cuts such answers first: lower the threshold or raise the limit", s.Name, o.SLI, o.Below, max, probe))
					}
				}
			}
		}
	}
	return out
}

// limitOf is the shortest limit that cuts a probe before the latency is known.
func (g gen) limitOf(probe string, sli slo.SLI) time.Duration {
	var least time.Duration
	for _, w := range g.r.Watches {
		if w.ID.Probe != probe {
			continue
		}
		limit := map[slo.SLI]time.Duration{slo.TTFT: w.Spec.Limits.FirstToken, slo.FirstContent: w.Spec.Limits.Total, slo.TPOT: w.Spec.Limits.Stall, slo.E2E: w.Spec.Limits.Total}[sli]
		if limit > 0 && (least == 0 || limit < least) {
			least = limit
		}
	}
	return least
}

// burnRecords makes the series that the alerts and the dashboards read.
func (g gen) burnRecords(list []burn) Group {
	windows, guarded := map[time.Duration]bool{}, map[time.Duration]bool{}
	for _, b := range list {
		windows[b.pair.Long], windows[b.pair.Short] = true, true
		if b.pair.Severity == slo.Page {
			guarded[b.pair.Long] = true
		}
	}
	group := Group{Name: "tokprobe-slo"}
	for _, w := range sortedDurations(windows) {
		span := g.o.span(w)
		group.Rules = append(group.Rules,
			Rule{Record: badName(span), Expr: g.increases(w, catalog.Sel(catalog.SLOEvents, catalog.Eq(catalog.LabelVerdict, string(slo.Bad))), bySLI())},
			Rule{Record: ratioName(span), Expr: g.ratio(w)})
		if guarded[w] {
			// A reset to 0 is a change too, and no bad probe.
			bad := catalog.Sel(catalog.SLOEvents, catalog.Eq(catalog.LabelVerdict, string(slo.Bad))) + "[" + span + "]"
			group.Rules = append(group.Rules, Rule{Record: changesName(span), Expr: catalog.Sum("changes("+bad+") - resets("+bad+")", bySLI()...)})
		}
	}
	return group
}

// ratio is bad / max(good + bad, half of the expected probes), multiplied
// through by the interval so that clamp_min can take the larger of the two: in
// 1 h at 30 s, 4 bad of 10 verdicts are 120 / max(300, 1800) = 6.7 %, not 40 %.
func (g gen) ratio(w time.Duration) string {
	span := g.o.span(w)
	interval := catalog.Max("last_over_time("+catalog.Sel(catalog.Interval)+"["+span+"])", byProbe()...)
	times := " * on (" + strings.Join(byProbe(), ", ") + ") group_left ()\n  " + interval
	total := g.increases(w, catalog.Sel(catalog.SLOEvents, catalog.Ne(catalog.LabelVerdict, string(slo.Excluded))), bySLI())
	return "(\n  " + badName(span) + times + "\n)\n/\nclamp_min(\n  " + total + times + ",\n  " + g.o.seconds(w/2) + "\n)"
}

func (g gen) burnAlert(b burn) Rule {
	long, short := g.o.span(b.pair.Long), g.o.span(b.pair.Short)
	m := []catalog.Matcher{catalog.Eq(catalog.LabelSLO, b.slo.Name), catalog.Eq(catalog.LabelSLI, string(b.objective.SLI)), oneOf(catalog.LabelProbe, sortedCopy(b.probes))}
	limit := catalog.Number(rounded(b.pair.Factor * (1 - b.objective.Ratio)))
	conditions := []string{
		recorded(ratioName(long), m...) + " > " + limit,
		recorded(ratioName(short), m...) + " > " + limit,
	}
	severity := ticket
	if b.pair.Severity == slo.Page {
		// 3 bad probes, seen at 2 different scrapes at least: increase reads up
		// to a tenth more than it counted, so the limit stands between 2 and 3.
		conditions = append(conditions, recorded(badName(long), m...)+" > 2.5", recorded(changesName(long), m...)+" >= 2")
	}
	expr := all(conditions...)
	if b.pair.Severity == slo.Page && b.slo.Alerting != slo.Ticket {
		severity = page
		expr = g.agreed(expr)
	}
	sli := sliText(b.objective)
	return g.alert(alert{
		name: burnName(b.objective.SLI), severity: severity, expr: g.labelled(expr), board: targetBoard(),
		labels:  map[string]string{catalog.LabelSLO: b.slo.Name, catalog.LabelSLI: string(b.objective.SLI), "long": long, "short": short},
		summary: fmt.Sprintf("%s: %s burns its error budget%s", ofProbe, sli.short, place),
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the probes of the last %s were bad for SLO %s: %s. It allows %s; this alert stands at %s (%s times that) over %s and over %s.",
			long, b.slo.Name, sli.promise, percent(1-b.objective.Ratio), percent(b.pair.Factor*(1-b.objective.Ratio)), catalog.Number(b.pair.Factor), long, short),
	})
}

// burnName names the alert of an SLI.
func burnName(sli slo.SLI) string { return "Tokprobe" + camel(sli) + "BudgetBurn" }

func camel(sli slo.SLI) string {
	switch sli {
	case slo.TTFT, slo.TPOT:
		return strings.ToUpper(string(sli))
	case slo.FirstContent:
		return "FirstContent"
	case slo.E2E:
		return "E2E"
	}
	return "Success"
}

type sliWords struct{ short, promise string }

func sliText(o slo.Objective) sliWords {
	if o.SLI == slo.Success {
		return sliWords{"success", percent(o.Ratio) + " of probes succeed"}
	}
	name := map[slo.SLI]string{slo.TTFT: "TTFT", slo.FirstContent: "time to the first visible text", slo.TPOT: "TPOT", slo.E2E: "E2E"}[o.SLI]
	return sliWords{name, fmt.Sprintf("%s of probes have %s of at most %s", percent(o.Ratio), name, o.Below)}
}

func percent(v float64) string { return catalog.Number(rounded(100*v)) + " %" }

// rounded drops the noise of binary fractions: 14.4 × (1 − 0.995) is
// 0.07200000000000006.
func rounded(v float64) float64 { return math.Round(v*1e9) / 1e9 }

func sortedDurations(set map[time.Duration]bool) []time.Duration {
	var list []time.Duration
	for d := range set {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	return list
}

func sortedCopy(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
