package deploy

import (
	"fmt"
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

func byInstance() []string { return []string{"location", "instance"} }

// proberGroup watches tokprobe itself. Whatever may silence the pages of
// targets (absent, blind, canary) pages itself.
func (g gen) proberGroup() Group {
	return Group{Name: "tokprobe-prober", Rules: []Rule{
		g.watchdog(), g.absent(), g.down(), g.blind(), g.canary(), g.noVerdict(), g.stale(),
		g.reloadFailed(), g.rulesOutdated(), g.skips(), g.schedulerLag(), g.clientLag(),
	}}
}

func (g gen) watchdog() Rule {
	return g.alert(alert{
		name: "TokprobeWatchdog", severity: none, expr: "vector(1)", board: proberBoard(),
		summary:     "Alerting works",
		description: "This alert always fires. Send it to a service that rings when it stops: then Prometheus, Alertmanager or the way to you is down.",
	})
}

// up selects the scrapes of tokprobe.
func (g gen) up() string { return "up{" + "job=" + catalog.Quote(g.o.Job) + "}" }

func (g gen) absent() Rule {
	expr := catalog.Max(g.up(), "location") + " == 0\nor\n" + catalog.Max("absent("+g.up()+")", "location")
	return g.alert(alert{
		name: "TokprobeAbsent", severity: page, wait: 2 * time.Minute, expr: expr, board: proberBoard(),
		summary:     "No tokprobe can be scraped" + place,
		description: "No instance of job " + g.o.Job + " answered its scrape for " + g.o.span(2*time.Minute) + ": nothing watches the endpoints. Alerts about targets of this place are held back meanwhile.",
	})
}

func (g gen) down() Rule {
	expr := g.up() + " == 0\nunless on (location)\n" + catalog.Max(g.up(), "location") + " == 0"
	return g.alert(alert{
		name: "TokprobeDown", severity: page, wait: 5 * time.Minute, expr: catalog.Max("\n"+indent(expr)+"\n", byInstance()...), board: proberBoard(),
		summary:     "tokprobe {{ $labels.instance }} cannot be scraped" + place,
		description: "This instance did not answer its scrape for " + g.o.span(5*time.Minute) + " while others do. If it is a shard, nobody watches its probes.",
	})
}

// blind: under half of the due probes came to a result that is not our
// machine's fault. Refusals (key, quota, model) have alerts of their own and do
// not count, nor do skips that somebody wanted: this one holds back every other
// alert of the place.
func (g gen) blind() Rule {
	w := max(30*time.Minute, 12*g.fastest())
	by := []string{"location"}
	inc := func(name string, m ...catalog.Matcher) string {
		return g.increases(w, catalog.Sel(name, m...), by)
	}
	seen := "(\n  " + inc(catalog.Probes, catalog.Ne(catalog.LabelOutcome, string(probe.Internal))) + "\n  - " + inc(catalog.ProbesLagSuspect) + "\n)"
	wanted := catalog.NotRe(catalog.LabelReason, string(probe.SkipOverlap)+"|"+string(probe.SkipCanary))
	due := "(\n  " + inc(catalog.ProbesDue) + "\n  - " + inc(catalog.ProbesSkipped, wanted) + "\n)"
	return g.alert(alert{
		name: "TokprobeBlind", severity: page, wait: 5 * time.Minute, board: proberBoard(),
		expr:        seen + " / " + due + " < 0.5\nand\n" + due + " > 5.5",
		summary:     "tokprobe is blind: {{ $value | humanizePercentage }} of its due probes came to a result" + place,
		description: "In the last " + g.o.span(w) + " only {{ $value | humanizePercentage }} of the due probes came to a result that our own machine did not spoil. Alerts about targets of this place are held back meanwhile.",
	})
}

func (g gen) fastest() time.Duration {
	if len(g.gaps) == 0 {
		return 0
	}
	return g.gaps[0].gap
}

func (g gen) canary() Rule {
	return g.alert(alert{
		name: "TokprobeCanaryFailed", severity: page, wait: 2 * time.Minute, board: proberBoard(),
		expr:        catalog.Max(catalog.Sel(catalog.CanarySuccess), "location", catalog.LabelCanary) + " == 0",
		summary:     "tokprobe's own {{ $labels.canary }} canary fails" + place,
		description: "The {{ $labels.canary }} canary has been failing for " + g.o.span(2*time.Minute) + ". machine: tokprobe cannot even measure its built-in simulator; network: its own way out is down. What looks like a fault of targets is ours, and their alerts are held back meanwhile.",
	})
}

// noVerdict: under half of the due probes of one probe gave a verdict.
func (g gen) noVerdict() Rule {
	var ours []string
	for _, o := range probe.Outcomes() {
		if o.Kind() == probe.KindOurs {
			ours = append(ours, string(o))
		}
	}
	expr := g.perWindow(30*time.Minute, 12, func(w time.Duration, m []catalog.Matcher) string {
		inc := func(name string, more ...catalog.Matcher) string {
			return g.increases(w, catalog.Sel(name, append(append([]catalog.Matcher{}, m...), more...)...), byProbe())
		}
		seen := "(\n  " + inc(catalog.Probes, noneOf(catalog.LabelOutcome, ours)) + "\n  - " + inc(catalog.ProbesLagSuspect) + "\n)"
		due := "(\n  " + inc(catalog.ProbesDue) + "\n  - " + inc(catalog.ProbesSkipped, catalog.In(catalog.LabelReason, string(probe.SkipMaintenance), string(probe.SkipSweep), string(probe.SkipDisabled))) + "\n)"
		return seen + " / " + due + " < 0.5\nand\n" + due + " > 5.5"
	})
	return g.alert(alert{
		name: "TokprobeNoVerdict", severity: ticket, expr: g.labelled(expr), board: targetBoard(),
		summary:     ofProbe + ": most probes say nothing about the service" + place,
		description: "Only {{ $value | humanizePercentage }} of the due probes of the last " + g.o.span(30*time.Minute) + " (slower probes: 12 intervals) gave a verdict. The others were refused (key, quota, model, request), skipped, or spoiled by our own lag: an outage would go unnoticed.",
	})
}

// stale: for three intervals neither a run nor a counted skip, or no run ever
// though the configuration has been loaded that long.
func (g gen) stale() Rule {
	last := catalog.Max(catalog.Sel(catalog.LastRun), byProbe()...)
	interval := catalog.Max(catalog.Sel(catalog.Interval), byProbe()...)
	skipped := g.perWindow(5*time.Minute, 3, func(w time.Duration, m []catalog.Matcher) string {
		return g.increases(w, catalog.Sel(catalog.ProbesSkipped, m...), byProbe()) + " > 0"
	})
	never := "((3 * " + interval + " < on (location) group_left () (time() - " + catalog.Max(catalog.Sel(catalog.ReloadTimestamp), "location") + "))\n    unless " + last + ")"
	// The age at the time of the scrape: a missed scrape makes no probe stale.
	age := catalog.Min("timestamp("+catalog.Sel(catalog.LastRun)+") - "+catalog.Sel(catalog.LastRun), byProbe()...)
	expr := "(\n  " + age + " > 3 * " + interval + "\n  or\n  " + never + "\n)\nunless\n" + skipped
	return g.alert(alert{
		name: "TokprobeStale", severity: ticket, wait: 2 * time.Minute, expr: g.labelled(expr), board: proberBoard(),
		summary:     ofProbe + ": not probed for {{ $value | humanizeDuration }}" + place,
		description: "For {{ $value | humanizeDuration }}, three intervals at least, this probe neither ran nor was skipped for a known reason: the scheduler hangs.",
	})
}

func (g gen) reloadFailed() Rule {
	// max_over_time: a missed scrape must not hide it.
	expr := catalog.Max("max_over_time("+catalog.Sel(catalog.ReloadSuccessful)+"["+g.o.span(5*time.Minute)+"])", byInstance()...) + " == 0"
	return g.alert(alert{
		name: "TokprobeReloadFailed", severity: ticket, wait: 10 * time.Minute, expr: expr, board: proberBoard(),
		summary:     "tokprobe {{ $labels.instance }} runs an old configuration" + place,
		description: "The last reload failed; the configuration before it is still in force. POST /-/reload answers with the reasons, and the log has them.",
	})
}

func (g gen) rulesOutdated() Rule {
	expr := catalog.Max(catalog.Sel(catalog.ConfigInfo, catalog.Eq("job", g.o.Job), catalog.Ne(catalog.LabelSLOHash, g.hash())), append(byInstance(), catalog.LabelSLOHash)...) + " == 1"
	return g.alert(alert{
		name: "TokprobeRulesOutdated", severity: ticket, wait: 15 * time.Minute, expr: expr, board: proberBoard(),
		summary:     "These rules do not fit the configuration of {{ $labels.instance }}" + place,
		description: "tokprobe runs with slo_hash {{ $labels.slo_hash }}; these rules were made for " + g.hash() + ". New targets, probes or SLOs may have no alerts: generate the rules again.",
	})
}

func (g gen) skips() Rule {
	reasons := catalog.In(catalog.LabelReason, string(probe.SkipOverlap), string(probe.SkipBudget), string(probe.SkipDisabled))
	by := append(byProbe(), catalog.LabelReason)
	expr := g.perWindow(time.Hour, 12, func(w time.Duration, m []catalog.Matcher) string {
		skipped := g.increases(w, catalog.Sel(catalog.ProbesSkipped, append(append([]catalog.Matcher{}, m...), reasons)...), by)
		due := g.increases(w, catalog.Sel(catalog.ProbesDue, m...), byProbe())
		return skipped + "\n/ on (location, target, model, probe) group_left ()\n" + due + " > 0.25\nand\n" + skipped + " > 2.5"
	})
	return g.alert(alert{
		name: "TokprobeProbesSkipped", severity: ticket, expr: g.labelled(expr), board: proberBoard(),
		summary:     ofProbe + ": {{ $value | humanizePercentage }} of its probes are skipped ({{ $labels.reason }})" + place,
		description: "In the last " + g.o.span(time.Hour) + " (slower probes: 12 intervals) {{ $value | humanizePercentage }} of the due probes were skipped, reason {{ $labels.reason }}. overlap: the probe takes longer than its interval; budget: the day's tokens are spent; disabled: the kill switch is on.",
	})
}

func (g gen) schedulerLag() Rule {
	by := byInstance()
	count := g.increases(15*time.Minute, catalog.Sel(catalog.SchedulerDelay+"_count"), by)
	soon := g.increases(15*time.Minute, catalog.Sel(catalog.SchedulerDelay+"_bucket", catalog.Eq(catalog.LabelLe, catalog.Bound(0.5))), by)
	return g.alert(alert{
		name: "TokprobeSchedulerLag", severity: ticket, wait: 10 * time.Minute, board: proberBoard(),
		expr:        "1 - " + soon + " / " + count + " > 0.05\nand\n" + count + " > 9.5",
		summary:     "tokprobe {{ $labels.instance }} starts probes late" + place,
		description: "In the last " + g.o.span(15*time.Minute) + " {{ $value | humanizePercentage }} of the probes started over half a second after they were due: this machine is overloaded.",
	})
}

func (g gen) clientLag() Rule {
	by := byInstance()
	lag := g.increases(30*time.Minute, catalog.Sel(catalog.ProbesLagSuspect), by)
	done := g.increases(30*time.Minute, catalog.Sel(catalog.Probes), by)
	return g.alert(alert{
		name: "TokprobeClientLag", severity: ticket, board: proberBoard(),
		expr:        lag + " / " + done + " > 0.1\nand\n" + lag + " > 2.5",
		summary:     "tokprobe {{ $labels.instance }} is too slow to measure" + place,
		description: fmt.Sprintf("In the last %s {{ $value | humanizePercentage }} of the finished probes could be explained by the scheduling lag of this process. They are left out of SLOs and latencies.", g.o.span(30*time.Minute)),
	})
}
