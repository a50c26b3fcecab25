package catalog

func targetOf(name, help string, more ...string) Metric {
	return Metric{
		Name: name, Type: Gauge, Scope: ScopeTarget, Help: help,
		Labels: append([]string{LabelTarget}, more...),
	}
}

func targetMetrics() []Metric {
	return []Metric{
		targetOf(BudgetLimit, "Tokens that probes or sweeps of the target may use per UTC day. Absent without a budget.", LabelKind).
			enum(LabelKind, BudgetKinds()),
		targetOf(BudgetRemaining, "Tokens of the budget that are left for this UTC day. Absent without a budget.", LabelKind).
			enum(LabelKind, BudgetKinds()),
		targetOf(TargetHealth, "1 if the target's own health endpoint answered 2xx when it was last asked, else 0. Absent without one."),
		targetOf(TargetInfo, "1; carries provider, protocol and the labels configured for the target.", "provider", "protocol"),
		targetOf(CertExpiry, "Unix time in seconds at which the first certificate of the target's chain expires. Absent without TLS."),
		targetOf(MaintenanceActive, "1 while a maintenance window of the target is open, else 0."),
	}
}

func daemonOf(name string, t Type, help string, labels ...string) Metric {
	return Metric{Name: name, Type: t, Scope: ScopeDaemon, Help: help, Labels: labels}
}

func daemonMetrics() []Metric {
	return []Metric{
		daemonOf(SchedulerDelay, Histogram, "Seconds from a probe's due time to its start, all probes.").
			buckets(LagBuckets()),
		daemonOf(ClientLag, Histogram, "Largest lateness in seconds with which this process got to run between t0 and first token of a finished probe, all probes.").
			buckets(LagBuckets()),
		daemonOf(CanarySuccess, Gauge, "1 if we can measure, 0 if what looks like a fault of targets is our own: machine is the probe of the built-in simulator, network our own way out. Absent without that canary.", LabelCanary).
			enum(LabelCanary, Canaries()),
		daemonOf(ReloadSuccessful, Gauge, "1 if the last load of the configuration succeeded, else 0: the old one is still in force."),
		daemonOf(ReloadTimestamp, Gauge, "Unix time in seconds of the last successful load of the configuration."),
		daemonOf(Reloads, Counter, "Attempts to load the configuration, the first included.", LabelResult).
			enum(LabelResult, ReloadResults()),
		daemonOf(StateSaves, Counter, "Attempts to write the state file. While they fail, a restart would refill the budgets.", LabelResult).
			enum(LabelResult, ReloadResults()),
		daemonOf(OTLPPushes, Counter, "Pushes of measurements to the OpenTelemetry receiver of --otlp.endpoint. Stays 0 without one.", LabelResult).
			enum(LabelResult, ReloadResults()),
		daemonOf(ConfigInfo, Gauge, "1; slo_hash identifies what generated rules depend on. Rules with another are out of date.", LabelSLOHash),
		daemonOf(BuildInfo, Gauge, "1; carries version, revision and the toolchain.",
			"branch", "goarch", "goos", "goversion", "revision", "tags", "version"),
	}
}
