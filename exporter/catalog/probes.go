package catalog

// of builds a metric of one probe; more are the labels beyond target, model
// and probe.
func of(name string, t Type, help string, more ...string) Metric {
	return Metric{
		Name: name, Type: t, Scope: ScopeProbe, Help: help,
		Labels: append([]string{LabelTarget, LabelModel, LabelProbe}, more...),
	}
}

// enum returns the metric with the closed list of one of its labels.
func (m Metric) enum(label string, values []string) Metric {
	list := map[string][]string{label: values}
	for l, v := range m.Enum {
		list[l] = v
	}
	m.Enum = list
	return m
}

func (m Metric) buckets(bounds []float64) Metric {
	m.Buckets = bounds
	return m
}

func probeMetrics() []Metric {
	return []Metric{
		of(ProbesDue, Counter, "Ticks of the schedule that came due. Equals started plus skipped over all reasons."),
		of(ProbesStarted, Counter, "Due probes that were started. Those our own shutdown cut are started but have no outcome."),
		of(Probes, Counter, "Finished probes by outcome: ok or exactly one class of failure.", LabelOutcome).
			enum(LabelOutcome, Outcomes()),
		of(ProbesSkipped, Counter, "Due probes that were not started, by reason.", LabelReason).
			enum(LabelReason, SkipReasons()),
		of(ProbesLagSuspect, Counter, "Finished probes whose result the scheduling lag of this process could explain (largest lateness between t0 and first token over max(50 ms, 10 % of TTFT)). Counted in tokprobe_probes_total, kept out of latencies, windows and SLOs."),
		of(ProbeSuccess, Gauge, "1 if the last finished probe was ok, else 0. Absent before the first."),
		of(LastRun, Gauge, "Unix time in seconds at which the last finished probe started. Absent before the first."),
		of(LastSuccess, Gauge, "Unix time in seconds at which the last ok probe started. Absent before the first."),
		of(Interval, Gauge, "Seconds between two due ticks; with a cron schedule the longest time between two. Absent if a cron schedule's is not known."),
		of(Timeout, Gauge, "Limits of one probe in seconds: connect covers DNS, TCP and TLS, the others count from t0. Absent for a limit that is not set.", LabelLimit).
			enum(LabelLimit, Limits()),
		of(RecentFailures, Gauge, "Failures of the service's own making (kind service) among the last 6 finished probes."),
	}
}

func latencyMetrics() []Metric {
	return []Metric{
		of(TTFT, Histogram, "Seconds from t0 (the connection is ready to take the request) to the first token event, ok probes only.").
			buckets(LatencyBuckets()),
		of(FirstContent, Histogram, "Seconds from t0 to the first visible answer text, ok probes that had any.").
			buckets(LatencyBuckets()),
		of(E2E, Histogram, "Seconds from t0 to the end of the answer, ok probes only.").
			buckets(E2EBuckets()),
		of(TPOT, Histogram, "Seconds per output token after the first: (last - first token event) / (output tokens - 1), ok probes with at least two tokens, coalesced streams kept out.").
			buckets(TPOTBuckets()),
		of(ChunkGap, Histogram, "Seconds between neighbouring token events of ok probes. Not an inter-token latency: one chunk may hold many tokens.").
			buckets(GapBuckets()),
		of(Window, Gauge, "Exact quantile in seconds over the last 120 ok probes of at most 2 h, linear between closest ranks. Absent under 59 samples.", LabelSLI, LabelQuantile).
			enum(LabelSLI, LatencySLIs()).enum(LabelQuantile, WindowQuantiles()),
		of(WindowSamples, Gauge, "Samples that tokprobe_window_seconds is computed from.", LabelSLI).
			enum(LabelSLI, LatencySLIs()),
	}
}

func lastMetrics() []Metric {
	return []Metric{
		of(LastTTFT, Gauge, "TTFT of the last finished probe in seconds. A dot for plots; absent if it was not measured."),
		of(LastTPOT, Gauge, "TPOT of the last finished probe in seconds. A dot for plots; absent if it was not measured."),
		of(LastE2E, Gauge, "E2E of the last finished probe in seconds. A dot for plots; absent if the answer did not complete."),
		of(LastTail, Gauge, "Seconds from the last token event to the end of the last finished probe's answer. A dot for plots; absent if the answer did not complete."),
		of(LastOutputRate, Gauge, "Output tokens divided by E2E of the last finished probe. A dot for plots; absent unless it was ok."),
		of(LastPromptTokens, Gauge, "Prompt tokens of the last finished probe as the endpoint counts them. Absent if it did not say."),
		of(LastPhase, Gauge, "Seconds of each phase of the last finished probe: dns, connect, tls and auth come before t0; send is t0 to the request being written, headers from there to the response headers. Absent for a phase that did not happen.", LabelPhase).
			enum(LabelPhase, Phases()),
		of(Tokens, Counter, "Tokens of all finished probes, as billed. cached is part of input and reasoning part of output: do not sum over type.", LabelType).
			enum(LabelType, TokenTypes()),
		of(Cost, Counter, "Money spent by finished probes in units of currency, by the configured price. Absent without a price.", LabelCurrency),
		of(StreamsCoalesced, Counter, "Probes with a token event in which a proxy buffered the stream: some read carried at least two token events and more than a tenth of all."),
		of(StaleConnections, Counter, "Kept-alive connections that were found dead and replaced by a fresh one. No outage."),
		of(CacheSuspect, Counter, "Probes with a busted prompt of which more than a tenth was still served from the endpoint's cache."),
		of(PromptTokenChange, Counter, "Times the endpoint's count of prompt tokens differed from the one before for the same prompt: the model, its tokenizer or template changed."),
	}
}

func sloMetrics() []Metric {
	return []Metric{
		of(SLOEvents, Counter, "Verdicts of finished probes for each configured objective. excluded is neither good nor bad.", LabelSLO, LabelSLI, LabelVerdict).
			enum(LabelSLI, SLIs()).enum(LabelVerdict, Verdicts()),
		of(SLOObjective, Gauge, "Share of probes that must be good, 0.995 for 99.5 %.", LabelSLO, LabelSLI).
			enum(LabelSLI, SLIs()),
		of(SLOThreshold, Gauge, "Latency in seconds at or under which a probe is good. Absent for success.", LabelSLO, LabelSLI).
			enum(LabelSLI, LatencySLIs()),
	}
}
