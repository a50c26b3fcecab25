package deploy_test

import "fmt"

const (
	nightly = `target="eng",model="m",sweep="nightly"`
	ladder  = nightly + `,scenario="T2",mode="concurrency"`
	aDay    = 48 // samples of 30 m
)

func sweepRuns(outcome string, s *samples) string {
	return s.of(metric("tokprobe_sweep_runs_total", fmt.Sprintf(`%s,outcome=%q`, nightly, outcome)))
}

// daily counts one run a day for so many days.
func daily(days int) *samples {
	s := from(0)
	for range days {
		s.flat(aDay).to(s.v + 1)
	}
	return s.flat(aDay)
}

// sweepCases run at 30 m, with a sweep each midnight.
func sweepCases() []ruleCase {
	list := kneeCases()
	for _, x := range []struct{ alert, metric, labels, firing string }{
		{"TokprobeSweepLatencyWorse", "tokprobe_sweep_level_ttft_seconds", `,level="8",quantile="0.5"`, `,sli="ttft"`},
		{"TokprobeSweepThroughputWorse", "tokprobe_sweep_level_output_tokens_per_second", `,level="8"`, ""},
	} {
		factor := 2.0
		if x.firing == "" {
			factor = 0.5
		}
		list = append(list, levelCases(x.alert, factor, ladder+`,severity="ticket"`+x.firing, func(s *samples) string {
			return s.of(metric(x.metric, ladder+x.labels))
		})...)
	}
	return append(list, append(staleCases(), failingCases()...)...)
}

func kneeCases() []ruleCase {
	const a = "TokprobeKneeDown"
	knee := func(s *samples) string { return s.of(metric("tokprobe_knee_load", ladder)) }
	list := levelCases(a, 0.5, ladder+`,severity="ticket"`, knee)
	return append(list, ruleCase{a, fires, "from not reached within the ladder to 8", "30m",
		[]string{
			from(0).flat(9 * aDay).to(1).flat(3 * aDay).of(metric("tokprobe_knee_reached", ladder)),
			from(8).miss(9 * aDay).flat(3 * aDay).of(metric("tokprobe_knee_load", ladder)),
			sweepRuns("ok", daily(12)),
		},
		[]check{at("9d12h"), at("10d2h", ladder+`,severity="ticket"`)}})
}

// levelCases change a number of each run by a factor from the ninth day on.
func levelCases(a string, factor float64, worse string, of func(*samples) string) []ruleCase {
	const usual = 16.0
	bad := usual * factor
	return []ruleCase{
		{a, fires, "two runs in a row", "30m", []string{of(from(usual).flat(9 * aDay).to(bad).flat(3 * aDay)), sweepRuns("ok", daily(12))},
			[]check{at("8d12h"), at("9d12h"), at("10d"), at("10d2h", worse), at("11d12h", worse)}},
		{a, noise, "one run", "30m", []string{of(from(usual).flat(9 * aDay).to(bad).flat(aDay).to(usual).flat(2 * aDay)), sweepRuns("ok", daily(12))},
			[]check{at("9d12h"), at("10d2h"), at("11d")}},
		{a, recovers, "the third run is good", "30m", []string{of(from(usual).flat(9 * aDay).to(bad).flat(2 * aDay).to(usual).flat(2 * aDay)), sweepRuns("ok", daily(13))},
			[]check{at("10d12h", worse), at("11d1h"), at("12d")}},
		{a, gap, "a night without scrapes", "30m", []string{of(from(usual).flat(8 * aDay).miss(20).flat(28).to(bad).flat(3 * aDay)), sweepRuns("ok", daily(12))},
			[]check{at("9d12h"), at("10d2h", worse)}},
		{a, reset, "after one bad run a restart shows the same run again", "30m",
			[]string{of(from(usual).flat(9 * aDay).to(bad).flat(3 * aDay)), sweepRuns("ok", daily(8).to(9).flat(30).to(0).flat(2*aDay+18))},
			[]check{at("10d2h"), at("11d")}},
		{a, low, "two runs and nothing to compare them with", "30m", []string{of(from(bad).flat(3 * aDay)), sweepRuns("ok", daily(2))},
			[]check{at("1d12h"), at("2d12h")}},
	}
}

func staleCases() []ruleCase {
	const a = "TokprobeSweepStale"
	stale := nightly + `,severity="ticket"`
	idle := from(0).flat(6 * aDay).of(metric("tokprobe_sweep_in_progress", nightly))
	last := func(s *samples) string { return s.of(metric("tokprobe_sweep_last_success_timestamp_seconds", nightly)) }
	return []ruleCase{
		{a, fires, "no good run for two days and a quarter of an hour", "30m", []string{idle, last(from(0).flat(6 * aDay))}, []check{at("48h"), at("50h", stale)}},
		{a, fires, "never a good run", "5m", []string{from(0).flat(700).of(metric("tokprobe_sweep_in_progress", nightly))}, []check{at("47h"), at("50h", stale)}},
		{a, noise, "one run left out", "30m", []string{idle, last(from(0).flat(2 * aDay).to(2 * 86400).flat(aDay))}, []check{at("47h"), at("2d12h")}},
		{a, recovers, "a good run", "30m", []string{idle, last(from(0).flat(3 * aDay).to(3 * 86400).flat(aDay))}, []check{at("71h", stale), at("3d1h")}},
		{a, gap, "the timestamp stays while scrapes are missing", "30m", []string{idle, last(from(0).flat(10).miss(100).flat(10))}, []check{at("40h"), at("56h", stale)}},
	}
}

func failingCases() []ruleCase {
	const a = "TokprobeSweepFailing"
	aborted := nightly + `,outcome="aborted",severity="ticket"`
	return []ruleCase{
		{a, fires, "an aborted run", "30m", []string{sweepRuns("aborted", from(0).flat(20).up(1, 1).flat(100)), sweepRuns("failed", from(0).flat(121))},
			[]check{at("9h"), at("11h", aborted)}},
		{a, fires, "a failed run", "30m", []string{sweepRuns("failed", from(0).flat(20).up(1, 1).flat(20))},
			[]check{at("11h", nightly+`,outcome="failed",severity="ticket"`)}},
		{a, noise, "good and untrusted runs", "30m", []string{sweepRuns("ok", daily(3)), sweepRuns("untrusted", daily(3)), sweepRuns("aborted", from(0).flat(4*aDay))},
			[]check{at("1d12h"), at("3d")}},
		{a, recovers, "a good night later", "30m", []string{sweepRuns("aborted", from(0).flat(20).up(1, 1).flat(100))}, []check{at("30h", aborted), at("38h")}},
		{a, gap, "no scrapes while it was aborted", "30m", []string{sweepRuns("aborted", from(0).flat(20).miss(10).to(1).flat(100))}, []check{at("14h"), at("16h", aborted)}},
		{a, reset, "a restart", "30m", []string{sweepRuns("aborted", from(3).flat(60).to(0).flat(60))}, []check{at("29h"), at("31h")}},
		{a, low, "a planned sweep that has not run yet", "30m", []string{sweepRuns("aborted", from(0).flat(60)), sweepRuns("ok", from(0).flat(60))}, []check{at("20h")}},
	}
}
