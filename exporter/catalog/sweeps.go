package catalog

// sweepOf builds a metric of one sweep; more are the labels beyond target,
// model and sweep.
func sweepOf(name string, t Type, help string, more ...string) Metric {
	m := of(name, t, help)
	m.Scope = ScopeSweep
	m.Labels = append([]string{LabelTarget, LabelModel, LabelSweep}, more...)
	return m
}

func sweepMetrics() []Metric {
	return []Metric{
		sweepOf(SweepRuns, Counter, "Finished sweeps by outcome: ok; untrusted, finished but its judgement is spoiled; aborted by a limit, a guard or a person; failed to run.", LabelOutcome).
			enum(LabelOutcome, SweepOutcomes()),
		sweepOf(SweepsSkipped, Counter, "Due sweeps that were not started, by reason.", LabelReason).
			enum(LabelReason, SkipReasons()),
		sweepOf(SweepRequests, Counter, "Measured requests of sweeps by outcome, warm-up not counted.", LabelOutcome).
			enum(LabelOutcome, Outcomes()),
		sweepOf(SweepTokens, Counter, "Tokens of all requests of sweeps, warm-up included, as billed. cached is part of input and reasoning part of output: do not sum over type.", LabelType).
			enum(LabelType, TokenTypes()),
		sweepOf(SweepInProgress, Gauge, "1 while the sweep runs, else 0."),
		sweepOf(SweepLastSuccess, Gauge, "Unix time in seconds at which the last ok run ended; survives a restart. Absent before the first."),
		sweepOf(SweepLastDuration, Gauge, "Seconds the last finished run took. Absent before the first."),
	}
}

// levelOf builds a gauge of one level of the last trusted run. level is the
// load as the shortest decimal: 8, 0.5.
func levelOf(name, help string, more ...string) Metric {
	labels := append([]string{LabelScenario, LabelMode, LabelLevel}, more...)
	return sweepOf(name, Gauge, help, labels...).enum(LabelMode, SweepModes())
}

func levelMetrics() []Metric {
	quantiles := LevelQuantiles()
	return []Metric{
		levelOf(LevelTTFT, "Quantile of TTFT in seconds at this load, linear between closest ranks, last trusted run. Absent before it.", LabelQuantile).
			enum(LabelQuantile, quantiles),
		levelOf(LevelTPOT, "Quantile of TPOT in seconds at this load, linear between closest ranks, last trusted run. Absent before it.", LabelQuantile).
			enum(LabelQuantile, quantiles),
		levelOf(LevelE2E, "Quantile of E2E in seconds at this load, linear between closest ranks, last trusted run. Absent before it.", LabelQuantile).
			enum(LabelQuantile, quantiles),
		levelOf(LevelRequestRate, "Successful requests a second at this load over wall time, last trusted run. Absent before it."),
		levelOf(LevelOutputRate, "Output tokens of successful requests a second at this load over wall time, last trusted run. Absent before it."),
		levelOf(LevelTokensPerMinute, "Input plus output tokens of successful requests a minute at this load over wall time, last trusted run. Absent before it."),
		levelOf(LevelErrorRatio, "Share of measured requests at this load that were not ok, last trusted run. Absent before it."),
		levelOf(LevelAttainment, "Share of measured requests at this load that met every objective of the sweep's SLO, last trusted run. Absent without an SLO."),
		levelOf(LevelSamples, "Measured requests at this load, last trusted run. Absent before it."),
	}
}

func kneeOf(name, help string, more ...string) Metric {
	labels := append([]string{LabelScenario, LabelMode}, more...)
	return sweepOf(name, Gauge, help, labels...).enum(LabelMode, SweepModes())
}

func kneeMetrics() []Metric {
	return []Metric{
		kneeOf(KneeLoad, "Load (streams in flight or requests a second, by mode) beyond which throughput no longer grows, last trusted run. Absent if the knee was not reached."),
		kneeOf(KneeReached, "1 if the last trusted run reached the knee, 0 if the ladder ended before it. Absent before it."),
		kneeOf(RecommendedLoad, "Load to plan with: min(0.75 x knee, most load that meets the SLO if one is given), last trusted run. Absent if the knee was not reached."),
		kneeOf(PeakOutputTokenRate, "Highest steady output tokens a second of any valid level, last trusted run. Absent before it."),
		kneeOf(LimitInfo, "1 for each wall the last trusted run met: what limits this endpoint. Absent for the others.", LabelLimit).
			enum(LabelLimit, Walls()),
	}
}
