package deploy

import (
	"time"

	"tokprobe/exporter/catalog"
)

// resourceGroup is about what runs out or spoils measurements at a target.
func (g gen) resourceGroup() Group {
	group := Group{Name: "tokprobe-resources", Rules: []Rule{g.budget(), g.coalesced()}}
	group.Rules = append(group.Rules, g.certificate(ticket, 14*day), g.certificate(page, 2*day))
	return group
}

func (g gen) budget() Rule {
	by := append(byTarget(), catalog.LabelKind)
	expr := catalog.Min(catalog.Sel(catalog.BudgetRemaining), by...) + " / " + catalog.Max(catalog.Sel(catalog.BudgetLimit), by...) + " < 0.1"
	return g.alert(alert{
		name: "TokprobeBudgetNearlySpent", severity: ticket, wait: 5 * time.Minute, expr: g.labelled(expr), board: overview(),
		summary:     "{{ $labels.target }}: {{ $value | humanizePercentage }} of the day's {{ $labels.kind }} tokens are left" + place,
		description: "{{ $value | humanizePercentage }} of the {{ $labels.kind }} budget of this UTC day are left. Over it probes slow to a tenth (with hard: true they stop) and sweeps do not start.",
	})
}

func (g gen) coalesced() Rule {
	expr := g.perWindow(time.Hour, 6, func(w time.Duration, m []catalog.Matcher) string {
		merged := g.increases(w, catalog.Sel(catalog.StreamsCoalesced, m...), byProbe())
		return merged + " / " + g.increases(w, catalog.Sel(catalog.Probes, m...), byProbe()) + " > 0.5\nand\n" + merged + " > 2.5"
	})
	return g.alert(alert{
		name: "TokprobeStreamsCoalesced", severity: ticket, expr: g.labelled(expr), board: targetBoard(),
		summary:     ofProbe + ": something buffers the stream" + place,
		description: "{{ $value | humanizePercentage }} of the streams of the last " + g.o.span(time.Hour) + " arrived in lumps: a proxy buffers, users see text in jumps and TTFT includes the buffer. TPOT of such streams is not counted.",
	})
}

// certificate: two weeks are a ticket, two days a page. These windows are
// never scaled.
func (g gen) certificate(severity string, left time.Duration) Rule {
	expr := catalog.Min(catalog.Sel(catalog.CertExpiry), byTarget()...) + " - time() < " + catalog.Number(left.Seconds())
	return g.alert(alert{
		name: "TokprobeCertificateExpiring", severity: severity, wait: 10 * time.Minute, expr: g.labelled(expr), board: overview(),
		summary:     "{{ $labels.target }}: the certificate expires in {{ $value | humanizeDuration }}" + place,
		description: "The first certificate of the target's chain expires in {{ $value | humanizeDuration }}, under " + catalog.Range(left) + ". After that every connection fails.",
	})
}
