package deploy

import (
	"fmt"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/slo"
)

const (
	nowName  = "probe_sli:tokprobe_window_seconds:max"
	pastName = "probe_sli:tokprobe_window_seconds:past"
)

func byQuantile() []string { return append(byProbe(), catalog.LabelSLI, catalog.LabelQuantile) }

// floors are how many seconds a P95 must have grown at least: 20 ms that become
// 31 are half as much again and nobody feels it.
var floors = []struct {
	sli     slo.SLI
	seconds float64
}{
	{slo.TTFT, 0.1}, {slo.TPOT, 0.005}, {slo.E2E, 0.5},
}

// regressionRecords puts the exact quantiles of now beside those of the past:
// the larger of what they were one day and one week ago, each the maximum over
// two hours, so that a daily peak is compared with the daily peak.
func (g gen) regressionRecords() Group {
	r := g.o.Regression
	window := catalog.Sel(catalog.Window)
	past := func(i int) string {
		return fmt.Sprintf(`label_replace(max_over_time(%s[%s] offset %s), "past", "%d", "", "")`, window, g.o.span(r.Over), g.o.span(r.Past[i]), i+1)
	}
	return Group{Name: "tokprobe-latency", Rules: []Rule{
		{Record: nowName, Expr: catalog.Max(window, byQuantile()...)},
		{Record: pastName, Expr: catalog.Max("\n  "+past(0)+"\n  or\n  "+past(1)+"\n", byQuantile()...)},
	}}
}

// regressionAlerts ring when a P95 is well above its past and the P50 is too.
// Of healthy P95s over 60 samples 1.3 % differ by 1.5 times at a log-normal
// sigma of 0.5 and 7.7 % at 0.8, so the ratio alone would cry wolf.
func (g gen) regressionAlerts() Group {
	r, group := g.o.Regression, Group{Name: "tokprobe-latency-alerts"}
	severity := ticket
	if r.Page {
		severity = page
	}
	for _, f := range floors {
		at := func(name, quantile string) string {
			return recorded(name, catalog.Eq(catalog.LabelSLI, string(f.sli)), catalog.Eq(catalog.LabelQuantile, quantile))
		}
		expr := "max without (quantile) (\n" + indent(all(
			at(nowName, "0.95")+" > "+catalog.Number(r.Ratio)+" * "+at(pastName, "0.95"),
			at(nowName, "0.95")+" > "+at(pastName, "0.95")+" + "+catalog.Number(f.seconds))+
			"\nand ignoring (quantile)\n"+at(nowName, "0.5")+" > "+catalog.Number(r.Median)+" * "+at(pastName, "0.5")) + "\n)"
		name := camel(f.sli)
		before := fmt.Sprintf(`{{ with printf "%s{target=%%q,model=%%q,probe=%%q,sli=\"%s\",quantile=\"0.95\"}" $labels.target $labels.model $labels.probe | query }}{{ . | first | value | humanizeDuration }}{{ else }}unknown{{ end }}`, pastName, f.sli)
		if severity == page {
			expr = g.agreed(expr)
		}
		group.Rules = append(group.Rules, g.alert(alert{
			name: "Tokprobe" + name + "Regression", severity: severity, wait: r.For, expr: g.labelled(expr), board: targetBoard(),
			summary: ofProbe + ": " + name + " is worse than it was" + place,
			description: fmt.Sprintf("%s P95 over the last 120 probes is {{ $value | humanizeDuration }}; the larger of %s and %s ago was %s. It is over %s times that and %s s above it, and the P50 is over %s times its own past.",
				name, g.o.span(r.Past[0]), g.o.span(r.Past[1]), before, catalog.Number(r.Ratio), catalog.Number(f.seconds), catalog.Number(r.Median)),
		}))
	}
	return group
}
