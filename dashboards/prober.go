package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	c "tokprobe/exporter/catalog"
)

// prober answers: can the other boards be believed.
func prober(o Options) *dashboard.DashboardBuilder {
	b := frame(o, ProberUID, "tokprobe / Prober health",
		"Whether tokprobe itself can be believed: probes that run when due, our own lag, canaries, configuration, versions, resources.").
		WithVariable(datasourceVariable())
	for _, v := range append(probeVariables(true), windowVariable(), nativeVariable()) {
		b.WithVariable(v)
	}
	proberNow(b)
	proberRuns(b)
	proberLag(b)
	proberProcess(b)
	return b
}

func proberNow(b *dashboard.DashboardBuilder) {
	stale := "count(" + since(c.Max(many(c.LastRun), byProbe...)) + " > 3 * " + c.Max(many(c.Interval), byProbe...) + ")"
	b.WithRow(dashboard.NewRowBuilder("Now")).
		WithPanel(figure(panel{title: "Daemons", unit: "short", w: 4, h: 4, none: "none: is tokprobe scraped?",
			about:   "Running tokprobe processes that Prometheus sees.",
			queries: []query{{expr: "count(" + c.Sel(c.BuildInfo) + ")"}}})).
		WithPanel(figure(panel{title: "Configuration", unit: "short", w: 4, h: 4, none: "never loaded",
			about:   "Whether the last load of the configuration succeeded everywhere. If not, the old one is still in force.",
			queries: []query{{expr: c.Min(c.Sel(c.ReloadSuccessful))}}}).
			Mappings(words("1", "loaded", "green", "0", "refused", "red"))).
		WithPanel(figure(panel{title: "Loaded", unit: "s", w: 4, h: 4, none: "never",
			about:   "Time since the configuration was last loaded.",
			queries: []query{{expr: since(c.Max(c.Sel(c.ReloadTimestamp)))}}}).Decimals(0)).
		WithPanel(figure(panel{title: "Stale probes", unit: "short", w: 4, h: 4, none: "none",
			about:   "Probes whose last run is more than 3 intervals ago. Skips that are wanted (maintenance, a sweep) make them stale too: see Skipped probes.",
			queries: []query{{expr: orZero(stale)}}}).Thresholds(steps("green", 1.0, "orange"))).
		WithPanel(figure(panel{title: "Canaries", unit: "short", w: 4, h: 4, none: "none configured",
			about:   "Whether we can measure at all: machine probes a simulator within the daemon, network our own way out.",
			queries: []query{{expr: c.Min(c.Sel(c.CanarySuccess), c.LabelCanary), legend: "{{canary}}"}}}).
			Mappings(words("1", "ok", "green", "0", "failed", "red"))).
		WithPanel(figure(panel{title: "Spoiled by our own lag", unit: "percentunit", w: 4, h: 4, none: "no probe finished",
			about:   "Share of finished probes in the window whose result the lag of this process could explain; they are kept out of latencies and SLOs.",
			queries: []query{{expr: share(c.Sum(c.Increase(many(c.ProbesLagSuspect), window)), c.Sum(c.Increase(many(c.Probes), window)))}}}).
			Decimals(1).Thresholds(steps("green", 0.01, "orange", 0.1, "red")))
}

func proberRuns(b *dashboard.DashboardBuilder) {
	verdicts := c.Sum(c.Increase(many(c.SLOEvents, c.Eq(c.LabelSLI, "success"), c.In(c.LabelVerdict, "good", "bad")), window), byModel...)
	due := c.Sum("increase("+many(c.ProbesDue)+"["+window+"]) and on (target, model, probe) "+many(c.SLOObjective, c.Eq(c.LabelSLI, "success")), byModel...)
	b.WithRow(dashboard.NewRowBuilder("Probes that run when due")).
		WithPanel(lines(panel{title: "Due, started and finished a minute", unit: "short", w: 8, h: 8, none: "no probe due yet",
			about: "Ticks of the schedule, probes that started and probes that finished, per minute over 5 minutes. due = started + skipped.",
			queries: []query{
				{expr: "60 * " + c.Sum(c.Rate(many(c.ProbesDue), "5m")), legend: "due"},
				{expr: "60 * " + c.Sum(c.Rate(many(c.ProbesStarted), "5m")), legend: "started"},
				{expr: "60 * " + c.Sum(c.Rate(many(c.Probes), "5m")), legend: "finished"},
			}})).
		WithPanel(stacked(panel{title: "Skipped probes a minute by reason", unit: "short", w: 8, h: 8, none: "no probe due yet",
			about:   "Due probes that were not started, per minute over 5 minutes. overlap: the one before still ran; its verdict is taken where overlap is allowed.",
			queries: []query{{expr: "60 * " + c.Sum(c.Rate(many(c.ProbesSkipped), "5m"), c.LabelReason), legend: "{{reason}}"}}})).
		WithPanel(lines(panel{title: "Due probes that gave a verdict", unit: "percentunit", w: 8, h: 8, none: "no SLO configured",
			about:   "Verdicts of the success SLI over due probes that have one, over the window. Under a half we are blind: silence of the SLO alerts then means nothing.",
			queries: []query{{expr: share(verdicts, due), legend: "{{target}} {{model}}"}}})).
		WithPanel(grid(panel{title: "Longest without a run", w: 12, h: 8, none: "–",
			about: "Age of each probe's last run against its interval; above 3 it is stale."},
			byProbe, []column{
				{title: "Last run", unit: "s", expr: since(c.Max(many(c.LastRun), byProbe...))},
				{title: "Interval", unit: "s", expr: c.Max(many(c.Interval), byProbe...)},
				{title: "In intervals", unit: "short", expr: "(" + since(c.Max(many(c.LastRun), byProbe...)) + ") / " + c.Max(many(c.Interval), byProbe...),
					colour: stepList("green", 2.0, "orange", 3.0, "red")},
			}, "In intervals", true).Decimals(1)).
		WithPanel(lines(panel{title: "Connections and proxies", unit: "short", w: 12, h: 8, none: "no probe finished",
			about: "In the window: kept connections that were found dead and replaced (no outage), and streams that a proxy buffered (no TPOT).",
			queries: []query{
				{expr: c.Sum(c.Increase(many(c.StaleConnections), window), c.LabelTarget), legend: "{{target}} stale connections"},
				{expr: c.Sum(c.Increase(many(c.StreamsCoalesced), window), c.LabelTarget), legend: "{{target}} buffered streams"},
			}}))
}

func proberLag(b *dashboard.DashboardBuilder) {
	daemon := func(name string, more ...c.Matcher) string { return c.Sel(name, more...) }
	quantiles := func(name string) []query {
		return []query{
			{expr: quantile(0.5, daemon, name, window), legend: "P50"}, {expr: quantile(0.99, daemon, name, window), legend: "P99"},
			{expr: samples(daemon, name, window), legend: "samples"},
		}
	}
	b.WithRow(dashboard.NewRowBuilder("Our own lag")).
		WithPanel(counts(lines(panel{title: "Scheduler delay", unit: "s", w: 12, h: 8, none: "no probe started",
			about:   "From a probe's due time to its start, all probes, from the histogram over the window.",
			queries: quantiles(c.SchedulerDelay)}), "C")).
		WithPanel(counts(lines(panel{title: "Client lag", unit: "s", w: 12, h: 8, none: "no probe finished",
			about:   "Largest lateness with which this process got to run during a probe, all probes, from the histogram over the window. Over max(50 ms, 10 % of TTFT) the result is left out. A machine with too little CPU shows here first.",
			queries: quantiles(c.ClientLag)}), "C"))
}

func proberProcess(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("Process")).
		WithPanel(grid(panel{title: "Versions and rules", w: 12, h: 8, none: "–",
			about: "Version of each daemon and the hash of what its generated rules depend on: rules that carry another hash are out of date."},
			[]string{"job", "instance", "version", "revision", "goversion", c.LabelSLOHash}, []column{
				{title: "Up", unit: "short", count: true, expr: "max by (job, instance, version, revision, goversion, slo_hash) (" +
					c.Sel(c.BuildInfo) + " * on (job, instance) group_left (slo_hash) " + c.Sel(c.ConfigInfo) + ")"},
			}, "instance", false)).
		WithPanel(lines(panel{title: "Configuration loads", unit: "short", w: 12, h: 8, none: "never loaded",
			about:   "Loads of the configuration since start, the first included, by result.",
			queries: []query{{expr: c.Sum(c.Sel(c.Reloads), "instance", c.LabelResult), legend: "{{instance}} {{result}}"}}})).
		WithPanel(lines(panel{title: "CPU", unit: "percentunit", w: 8, h: 7, none: "not exported",
			about:   "CPU seconds a second of each daemon: 100 % is one core.",
			queries: []query{{expr: ours(c.Rate(processCPU, "5m")), legend: "{{instance}}"}}})).
		WithPanel(lines(panel{title: "Memory", unit: "bytes", w: 8, h: 7, none: "not exported",
			about:   "Resident memory of each daemon.",
			queries: []query{{expr: ours(processMemory), legend: "{{instance}}"}}})).
		WithPanel(lines(panel{title: "Goroutines and open files", unit: "short", w: 8, h: 7, none: "not exported",
			about: "What leaks show in first.",
			queries: []query{
				{expr: ours(processThreads), legend: "{{instance}} goroutines"}, {expr: ours(processFiles), legend: "{{instance}} open files"},
			}}))
}
