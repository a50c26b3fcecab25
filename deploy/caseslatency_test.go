package deploy_test

import "fmt"

// window is the exact quantile of one latency of the chat probe.
func window(sli, quantile string, s *samples) string {
	return s.of(metric("tokprobe_window_seconds", fmt.Sprintf(`%s,sli=%q,quantile=%q`, gwChat, sli, quantile)))
}

// latencyCases run at 5 m: 288 samples are a day. usual is a P95 whose P50 is
// half of it.
func latencyCases() []ruleCase {
	var list []ruleCase
	for _, x := range []struct {
		alert, sli string
		usual      float64
	}{
		{"TokprobeTTFTRegression", "ttft", 1}, {"TokprobeTPOTRegression", "tpot", 0.04}, {"TokprobeE2ERegression", "e2e", 4},
	} {
		list = append(list, regressionCases(x.alert, x.sli, x.usual)...)
	}
	return append(list, regressionEdges()...)
}

func regressionCases(a, sli string, u float64) []ruleCase {
	worse := gwChat + team + fmt.Sprintf(`,severity="ticket",sli=%q`, sli)
	of := func(p95, p50 *samples) []string { return []string{window(sli, "0.95", p95), window(sli, "0.5", p50)} }
	return []ruleCase{
		{a, fires, "twice of what it was a day ago, for 15 m; after a day it is the past", "5m",
			of(from(u).flat(312).to(2*u).flat(320), from(u/2).flat(312).to(u).flat(320)),
			[]check{at("25h55m"), at("26h10m"), at("26h15m", worse), at("49h", worse), at("52h")}},
		{a, noise, "the P95 jumps, the P50 does not: the tail of 120 samples is chance", "5m",
			of(from(u).flat(312).to(2*u).flat(40), from(u/2).flat(352)),
			[]check{at("26h30m"), at("29h")}},
		{a, noise, "1.4 times", "5m",
			of(from(u).flat(312).to(1.4*u).flat(40), from(u/2).flat(312).to(0.7*u).flat(40)),
			[]check{at("27h"), at("29h")}},
		{a, noise, "the same peak each day", "5m",
			of(from(u).flat(24).to(2*u).flat(24).to(u).flat(264).to(2*u).flat(24).to(u).flat(24), from(u/2).flat(24).to(u).flat(24).to(u/2).flat(264).to(u).flat(24).to(u/2).flat(24)),
			[]check{at("26h30m"), at("27h30m"), at("29h")}},
		{a, recovers, "as it was", "5m",
			of(from(u).flat(312).to(2*u).flat(12).to(u).flat(30), from(u/2).flat(312).to(u).flat(12).to(u/2).flat(30)),
			[]check{at("26h30m", worse), at("27h5m"), at("28h")}},
		{a, gap, "nothing was scraped a day ago: nothing to compare with", "5m",
			of(from(u).flat(6).miss(306).to(2*u).flat(24), from(u/2).flat(6).miss(306).to(u).flat(24)),
			[]check{at("26h30m"), at("27h30m")}},
		{a, gap, "a hole of one hour a day ago: the other hour counts", "5m",
			of(from(u).flat(6).miss(12).flat(294).to(2*u).flat(24), from(u/2).flat(6).miss(12).flat(294).to(u).flat(24)),
			[]check{at("26h30m", worse)}},
		{a, low, "a probe with too few answers has no window, and a new one no past", "5m",
			of(from(2*u).flat(40), from(u).flat(40)),
			[]check{at("1h"), at("3h")}},
	}
}

// regressionEdges: a quick endpoint, and a week that was slower than yesterday.
func regressionEdges() []ruleCase {
	const a = "TokprobeTTFTRegression"
	return []ruleCase{
		{a, noise, "20 ms that become 60 ms are under the floor of 100 ms", "5m",
			[]string{window("ttft", "0.95", from(0.02).flat(312).to(0.06).flat(24)), window("ttft", "0.5", from(0.01).flat(312).to(0.03).flat(24))},
			[]check{at("26h30m"), at("27h30m")}},
		{a, noise, "a week ago it was as slow", "5m",
			[]string{window("ttft", "0.95", from(2).flat(48).to(1).flat(1976).to(2).flat(24)), window("ttft", "0.5", from(1).flat(48).to(0.5).flat(1976).to(1).flat(24))},
			[]check{at("169h"), at("169h30m")}},
	}
}
