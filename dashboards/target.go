package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	c "tokprobe/exporter/catalog"
)

// target answers: what does one model of one target feel like, and which part
// of a request changed.
func target(o Options) *dashboard.DashboardBuilder {
	b := frame(o, TargetUID, "tokprobe / Target detail",
		"One model of one target: single measurements, exact quantiles with their sample counts, phases, prompt cache, tokens, and the client's view against the server's own.").
		WithVariable(datasourceVariable())
	for _, v := range append(probeVariables(false), windowVariable(), nativeVariable(), warmVariable(), serverVariable()) {
		b.WithVariable(v)
	}
	targetNow(b)
	targetLatency(b)
	targetHistograms(b)
	targetPhases(b)
	targetCache(b)
	targetTokens(b)
	targetServer(b)
	return b
}

func warmVariable() variable {
	return pattern("warm", "Warm probes",
		"Regular expression of the names of probes whose prompt is sent unchanged (cache: warm). The others count as cold.", ".*warm.*")
}

func serverVariable() variable {
	return pattern("server", "vLLM instances",
		"Regular expression of the instance label of the vLLM servers behind the target, as your Prometheus scrapes them.", ".*")
}

func targetNow(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("Now")).
		WithPanel(figure(panel{title: "Last probe", unit: "short", w: 4, h: 4, none: "none finished",
			about:   "Outcome of the last finished probe, each probe by itself.",
			queries: []query{{expr: c.Min(one(c.ProbeSuccess), c.LabelProbe), legend: "{{probe}}"}}}).
			Mappings(words("1", "ok", "green", "0", "failed", "red"))).
		WithPanel(figure(panel{title: "Failures of the last 6", unit: "short", w: 4, h: 4, none: "none finished",
			about:   "Failures of the service's own making among the last 6 finished probes. 4 is hard down.",
			queries: []query{{expr: c.Max(one(c.RecentFailures), c.LabelProbe), legend: "{{probe}}"}}}).
			Thresholds(steps("green", 1.0, "orange", 4.0, "red"))).
		WithPanel(figure(panel{title: "Last ok", unit: "s", w: 4, h: 4, none: "never",
			about:   "Time since the last ok probe started.",
			queries: []query{{expr: since(c.Max(one(c.LastSuccess), c.LabelProbe)), legend: "{{probe}}"}}}).Decimals(0)).
		WithPanel(figure(panel{title: "Interval", unit: "s", w: 4, h: 4, none: "by cron",
			about:   "Time between two due probes. An SLO sees no more than this.",
			queries: []query{{expr: c.Max(one(c.Interval), c.LabelProbe), legend: "{{probe}}"}}})).
		WithPanel(figure(panel{title: "Own health endpoint", unit: "short", w: 4, h: 4, none: "has none",
			about:   "What the target's own health endpoint says. Green beside failing probes is a hung engine.",
			queries: []query{{expr: c.Min(one(c.TargetHealth)), legend: "health"}}}).
			Mappings(words("1", "2xx", "green", "0", "not 2xx", "red"))).
		WithPanel(figure(panel{title: "Certificate left", unit: "s", w: 4, h: 4, none: "no TLS",
			about:   "Time until the first certificate of the target's chain expires.",
			queries: []query{{expr: c.Min(one(c.CertExpiry)) + " - time()", legend: "certificate"}}}).
			Decimals(0).Thresholds(steps("red", 7*86400.0, "orange", 21*86400.0, "green")))
}

func targetPhases(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("Phases: where the time before the first token goes")).
		WithPanel(stacked(panel{title: "Phases of the last probe", unit: "s", w: 12, h: 8, none: "no probe finished",
			about:   "Mean of the chosen probes. dns, connect, tls and auth come before the clock of TTFT starts; send and headers are part of TTFT. A phase that did not happen is absent.",
			queries: []query{{expr: "avg by (phase) (" + one(c.LastPhase) + ")", legend: "{{phase}}"}}})).
		WithPanel(dots(lines(panel{title: "Tail after the last token", unit: "s", w: 6, h: 8, none: "no answer completed",
			about:   "From the last token to the end of the answer. More than a tenth of a second hints at a proxy or at usage counted late.",
			queries: []query{{expr: one(c.LastTail), legend: "{{probe}}"}}}), "A")).
		WithPanel(lines(panel{title: "Chunk gap, P95", unit: "s", w: 6, h: 8, none: "no probe in the window",
			about:   "Time between neighbouring token events, from the histogram over the window. Not a time per token: one chunk may hold many.",
			queries: []query{{expr: quantile(0.95, one, c.ChunkGap, window, c.LabelProbe), legend: "{{probe}}"}}}))
}

func targetCache(b *dashboard.DashboardBuilder) {
	cold, warm := c.NotRe(c.LabelProbe, "$warm"), c.Re(c.LabelProbe, "$warm")
	p50 := func(m c.Matcher) string {
		return one(c.Window, c.Eq(c.LabelSLI, "ttft"), c.Eq(c.LabelQuantile, "0.5"), m)
	}
	cached := share(c.Sum(c.Rate(one(c.Tokens, c.Eq(c.LabelType, "cached")), window), c.LabelProbe),
		c.Sum(c.Rate(one(c.Tokens, c.Eq(c.LabelType, "input")), window), c.LabelProbe))
	panel1 := lines(panel{title: "TTFT with a cold and a warm prompt", unit: "s", w: 12, h: 8, none: "no probe finished",
		about: "Dots: TTFT of probes with a new prompt each time (cold) and with an unchanged one (warm, by the variable Warm probes). Lines: their exact P50, from 59 samples on. The distance is what the prefix cache is worth.",
		queries: []query{
			{expr: one(c.LastTTFT, cold), legend: "cold {{probe}}"}, {expr: one(c.LastTTFT, warm), legend: "warm {{probe}}"},
			{expr: p50(cold), legend: "cold {{probe}} P50"}, {expr: p50(warm), legend: "warm {{probe}} P50"},
		}})
	b.WithRow(dashboard.NewRowBuilder("Prompt cache: cold against warm")).
		WithPanel(dots(dots(panel1, "A"), "B")).
		WithPanel(lines(panel{title: "Prompt tokens served from the cache", unit: "percentunit", w: 6, h: 8, none: "no usage reported",
			about:   "Cached part of the input tokens over the window. A cold probe above a tenth measures the cache, not the model.",
			queries: []query{{expr: cached, legend: "{{probe}}"}}}).Max(1)).
		WithPanel(lines(panel{title: "Suspects", unit: "short", w: 6, h: 8, none: "no probe finished",
			about: "In the window: cold probes that were served from the cache, changes of the endpoint's token count of one and the same prompt, streams that a proxy buffered.",
			queries: []query{
				{expr: c.Sum(c.Increase(one(c.CacheSuspect), window)), legend: "cold but cached"},
				{expr: c.Sum(c.Increase(one(c.PromptTokenChange), window)), legend: "prompt tokens changed"},
				{expr: c.Sum(c.Increase(one(c.StreamsCoalesced), window)), legend: "buffered by a proxy"},
			}}))
}

func targetTokens(b *dashboard.DashboardBuilder) {
	perMinute := "60 * " + c.Sum(c.Rate(one(c.Tokens), window), c.LabelType)
	b.WithRow(dashboard.NewRowBuilder("Tokens and cost")).
		WithPanel(dots(lines(panel{title: "Generation rate", unit: "suffix: tok/s", w: 6, h: 8, none: "no ok probe yet",
			about:   "Output tokens / E2E of the last probe, one dot each.",
			queries: []query{{expr: one(c.LastOutputRate), legend: "{{probe}}"}}}), "A")).
		WithPanel(lines(panel{title: "Tokens a minute", unit: "short", w: 6, h: 8, none: "no probe yet",
			about:   "Tokens as billed, over the window. cached is part of input and reasoning part of output: do not add them.",
			queries: []query{{expr: perMinute, legend: "{{type}}"}}})).
		WithPanel(lines(panel{title: "Prompt tokens", unit: "short", w: 6, h: 8, none: "not reported",
			about:   "Prompt tokens of the last probe as the endpoint counts them. A step means another tokenizer or chat template.",
			queries: []query{{expr: one(c.LastPromptTokens), legend: "{{probe}}"}}})).
		WithPanel(figure(panel{title: "Cost of the last 24 h", unit: "short", w: 6, h: 8, none: "no price configured",
			about:   "Money these probes spent in the last 24 hours by the configured price.",
			queries: []query{{expr: c.Sum(c.Increase(one(c.Cost), "1d"), c.LabelCurrency), legend: "{{currency}}"}}}).Decimals(4))
}

func targetServer(b *dashboard.DashboardBuilder) {
	tpot := serverMean(vllmTPOT) + " or " + serverMean(vllmTPOTOld) + " or " + serverMean(vllmITL)
	b.WithRow(dashboard.NewRowBuilder("Client against server (vLLM)")).
		WithPanel(lines(panel{title: "TTFT: client minus server", unit: "s", w: 9, h: 8, none: "no vLLM metrics of this model",
			about: "Means over the window: what the probes measured, what vLLM measured for all its traffic, and the difference: network, gateway and, where the server's clock starts later, its queue. Alike only while the server's traffic resembles the probes.",
			queries: []query{
				{expr: mean(one, c.TTFT, window), legend: "client (probes)"}, {expr: serverMean(vllmTTFT), legend: "server (all traffic)"},
				{expr: "(" + mean(one, c.TTFT, window) + ") - " + serverMean(vllmTTFT), legend: "client minus server"},
			}}).FillOpacity(5)).
		WithPanel(lines(panel{title: "TPOT: client and server", unit: "s", w: 8, h: 8, none: "no vLLM metrics of this model",
			about: "Means over the window. vLLM's metric is read under its new and its old name.",
			queries: []query{
				{expr: mean(one, c.TPOT, window), legend: "client (probes)"}, {expr: tpot, legend: "server (all traffic)"},
			}})).
		WithPanel(lines(panel{title: "Server load", unit: "short", w: 7, h: 8, none: "no vLLM metrics of this model",
			about: "Sequences in vLLM's batch and queue, and the used part of its KV cache (right axis), under its new and its old name.",
			queries: []query{
				{expr: c.Sum(server(vllmRunning)), legend: "running"}, {expr: c.Sum(server(vllmWaiting)), legend: "waiting"},
				{expr: c.Max(server(vllmCache)) + " or " + c.Max(server(vllmCacheOld)), legend: "KV cache used"},
			}}).OverrideByQuery("C", []dashboard.DynamicConfigValue{
			{Id: "unit", Value: "percentunit"}, {Id: "max", Value: 1}, {Id: "custom.axisPlacement", Value: string(common.AxisPlacementRight)},
		}))
}
