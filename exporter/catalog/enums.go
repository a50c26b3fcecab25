package catalog

import (
	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// The closed lists of label values. Each call returns a new slice.

// Outcomes are the values of outcome.
func Outcomes() []string { return texts(probe.Outcomes()) }

// SkipReasons are the values of reason.
func SkipReasons() []string { return texts(probe.SkipReasons()) }

// SLIs are the values of sli in SLO metrics.
func SLIs() []string { return texts(slo.SLIs()) }

// LatencySLIs are the SLIs that have a threshold and a window.
func LatencySLIs() []string {
	return []string{string(slo.TTFT), string(slo.FirstContent), string(slo.TPOT), string(slo.E2E)}
}

// Verdicts are the values of verdict.
func Verdicts() []string { return texts(slo.Verdicts()) }

// Limits are the values of limit in tokprobe_probe_timeout_seconds.
func Limits() []string { return []string{"connect", "first_token", "stall", "total"} }

// Phases are the values of phase.
func Phases() []string { return []string{"dns", "connect", "tls", "auth", "send", "headers"} }

// TokenTypes are the values of type. cached is part of input and reasoning
// part of output.
func TokenTypes() []string { return []string{"input", "output", "reasoning", "cached"} }

// WindowQuantiles are the values of quantile in tokprobe_window_seconds.
func WindowQuantiles() []string { return []string{"0.5", "0.95"} }

// LevelQuantiles are the values of quantile in the metrics of sweep levels.
func LevelQuantiles() []string { return []string{"0.5", "0.9", "0.95", "0.99"} }

// SweepOutcomes are the values of outcome in tokprobe_sweep_runs_total: ok;
// untrusted, finished but our own lag or too few samples spoil the judgement;
// aborted, stopped by a limit, a guard or a person; failed, could not run.
func SweepOutcomes() []string { return []string{"ok", "untrusted", "aborted", "failed"} }

// SweepModes are the values of mode.
func SweepModes() []string { return []string{"concurrency", "rate"} }

// Walls are the values of limit in tokprobe_limit_info.
func Walls() []string {
	return []string{"tpm_quota", "rpm_quota", "concurrency_limit", "queue", "decode", "errors", "client", "none"}
}

// BudgetKinds are the values of kind in the budget metrics.
func BudgetKinds() []string { return []string{"probe", "sweep"} }

// Canaries are the values of canary: machine, can this machine measure at
// all; network, is our own network up.
func Canaries() []string { return []string{"machine", "network"} }

// ReloadResults are the values of result.
func ReloadResults() []string { return []string{"success", "failure"} }

// LatencyBuckets are 0.01·2^k seconds up to 81.92, the OpenTelemetry GenAI
// bounds, for TTFT and first content.
func LatencyBuckets() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

// E2EBuckets are LatencyBuckets and 163.84.
func E2EBuckets() []float64 { return append(LatencyBuckets(), 163.84) }

// TPOTBuckets are finer around 10 to 50 ms, where decoding lives.
func TPOTBuckets() []float64 {
	return []float64{0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5}
}

// GapBuckets are coarse: chunk gaps are for spotting stalls.
func GapBuckets() []float64 { return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5} }

// LagBuckets serve the two histograms about ourselves.
func LagBuckets() []float64 {
	return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
}

func texts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
