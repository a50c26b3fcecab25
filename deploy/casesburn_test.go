package deploy_test

import (
	"fmt"
	"strings"
)

const (
	gwChat  = `target="gw",model="a",probe="chat"`
	team    = `,team="assistants"`
	engSlow = `target="eng",model="m",probe="slow"`
	engChat = `target="eng",model="m",probe="chat"`
)

func interval(probe string, seconds float64, n int) string {
	return from(seconds).flat(n).of(metric("tokprobe_probe_interval_seconds", probe))
}

func events(probe, slo, sli, verdict string, s *samples) string {
	return s.of(metric("tokprobe_slo_events_total", fmt.Sprintf(`%s,slo=%q,sli=%q,verdict=%q`, probe, slo, sli, verdict)))
}

// verdicts are the good and bad counts of one objective of the chat probe.
func verdicts(sli string, good, bad *samples) []string {
	return []string{
		interval(gwChat, 30, 2000),
		events(gwChat, "interactive", sli, "good", good),
		events(gwChat, "interactive", sli, "bad", bad),
		events(gwChat, "interactive", sli, "excluded", from(0).flat(2000)),
	}
}

func burnLabels(sli, severity, long, short string) string {
	return fmt.Sprintf(`%s%s,severity=%q,slo="interactive",sli=%q,long=%q,short=%q`, gwChat, team, severity, sli, long, short)
}

// burnCases: at 99.5 % and one probe every 30 s the page 1h/5m needs 9 bad of
// 120, 6h/30m needs 22 of 720, the tickets 44; at 95 % 1h/5m needs 87, 6h/30m
// 217.
func burnCases() []ruleCase {
	var list []ruleCase
	list = append(list, successCases()...)
	for sli, name := range map[string]string{"ttft": "TTFT", "first_content": "FirstContent", "tpot": "TPOT", "e2e": "E2E"} {
		list = append(list, latencyBurnCases("Tokprobe"+name+"BudgetBurn", sli)...)
	}
	sortCases(list)
	return append(list, guardCases()...)
}

func successCases() []ruleCase {
	const a = "TokprobeSuccessBudgetBurn"
	fast, slow := burnLabels("success", "page", "1h", "5m"), burnLabels("success", "page", "6h", "30m")
	day, days := burnLabels("success", "ticket", "1d", "2h"), burnLabels("success", "ticket", "3d", "6h")
	return []ruleCase{
		{a, fires, "every probe fails after two good hours", "30s",
			verdicts("success", from(0).up(240, 1).flat(100), from(0).flat(240).up(100, 1)),
			[]check{at("2h"), at("2h3m"), among(`long="1h"`, "2h5m", fast), among(`severity="page"`, "2h12m", fast, slow), at("2h24m", fast, slow, day, days)}},
		{a, noise, "one failed probe in three hours", "30s",
			verdicts("success", from(0).up(240, 1).flat(1).up(120, 1), from(0).flat(240).up(1, 1).flat(120)),
			[]check{at("2h1m"), at("2h6m"), at("3h")}},
		{a, recovers, "ten bad minutes, then all good: the short window clears first", "30s",
			verdicts("success", from(0).up(240, 1).flat(20).up(300, 1), from(0).flat(240).up(20, 1).flat(300)),
			[]check{among(`long="1h"`, "2h8m", fast), among(`long="1h"`, "2h13m", fast), among(`long="1h"`, "2h21m"), at("4h")}},
		{a, gap, "right after a start 3 bad of 10 are no 30 %: the other half of the hour was not seen", "30s",
			verdicts("success", from(0).up(7, 1).flat(3).up(5, 1), from(0).flat(7).up(3, 1).flat(5)),
			[]check{at("4m"), at("5m"), at("7m")}},
		{a, reset, "restarts set both counters to 0", "30s",
			verdicts("success", from(500).up(100, 1).to(0).up(100, 1).to(0).up(100, 1), from(40).flat(100).to(0).flat(100).to(1).flat(100)),
			[]check{at("50m"), at("51m"), at("1h45m"), at("2h20m")}},
		{a, low, "8 bad within an hour are one too few", "30s",
			verdicts("success", from(0).up(240, 1).flat(8).up(100, 1), from(0).flat(240).up(8, 1).flat(100)),
			[]check{at("2h4m"), at("2h5m"), at("2h10m")}},
		{a, fires, "a gap in the scrapes of ten minutes does not hide an outage", "30s",
			verdicts("success", from(0).up(240, 1).flat(20).miss(20).flat(20), from(0).flat(240).up(20, 1).to(40).miss(20).up(20, 1)),
			[]check{among(`long="1h"`, "2h9m", fast), among(`severity="page"`, "2h29m", fast, slow)}},
	}
}

// latencyBurnCases: 95 % of 30 s probes. Everything bad for long enough.
func latencyBurnCases(a, sli string) []ruleCase {
	fast, slow := burnLabels(sli, "page", "1h", "5m"), burnLabels(sli, "page", "6h", "30m")
	day, days := burnLabels(sli, "ticket", "1d", "2h"), burnLabels(sli, "ticket", "3d", "6h")
	return []ruleCase{
		{a, fires, "every answer is too slow after one good hour", "30s",
			verdicts(sli, from(0).up(120, 1).flat(500), from(0).flat(120).up(500, 1)),
			[]check{at("1h30m"), at("1h45m", fast), among(`severity="page"`, "3h", fast, slow), at("4h45m", fast, slow, day, days)}},
		{a, noise, "2 % are too slow, the SLO allows 5 %", "30s",
			verdicts(sli, from(0).up(49, 1).flat(1).up(49, 1).flat(1).up(49, 1).flat(1).up(49, 1).flat(1).up(20, 1),
				from(0).flat(49).up(1, 1).flat(49).up(1, 1).flat(49).up(1, 1).flat(49).up(1, 1).flat(20)),
			[]check{at("30m"), at("1h"), at("1h45m")}},
		{a, recovers, "fast again after fifty minutes", "30s",
			verdicts(sli, from(0).up(120, 1).flat(100).up(100, 1), from(0).flat(120).up(100, 1).flat(100)),
			[]check{at("1h49m", fast), at("1h54m", fast), at("2h2m")}},
		{a, gap, "20 slow of the only 25 answers of an hour are not 80 %", "30s",
			verdicts(sli, from(0).flat(60).miss(60).up(5, 1).flat(20), from(0).flat(60).miss(60).flat(5).up(20, 1)),
			[]check{at("1h5m"), at("1h12m")}},
		{a, reset, "a restart sets the counters to 0", "30s",
			verdicts(sli, from(500).up(100, 1).to(0).up(100, 1), from(300).flat(100).to(0).flat(100)),
			[]check{at("50m"), at("51m"), at("1h30m")}},
		{a, low, "80 slow within an hour are too few", "30s",
			verdicts(sli, from(0).up(120, 1).flat(80).up(10, 1), from(0).flat(120).up(80, 1).flat(10)),
			[]check{at("1h35m"), at("1h40m"), at("1h44m")}},
	}
}

// guardCases: at 99.9 % two bad of 120 exceed 14.4 times the budget, and a page
// needs three, from two different times. And an SLO that asks for tickets.
func guardCases() []ruleCase {
	const a = "TokprobeSuccessBudgetBurn"
	strict := `target="gw",model="a",probe="strict"`
	of := func(good, bad *samples) []string {
		return []string{interval(strict, 30, 400), events(strict, "strict", "success", "good", good), events(strict, "strict", "success", "bad", bad)}
	}
	fast := strict + team + `,severity="page",slo="strict",sli="success",long="1h",short="5m"`
	soft := engSlow + `,severity="ticket",slo="soft",sli="success",long="1h",short="30m"`
	soft6 := strings.Replace(soft, `"1h"`, `"6h"`, 1)
	return []ruleCase{
		{a, low, "two bad at 99.9 % do not page, the third does", "30s",
			of(from(0).up(240, 1).flat(2).up(8, 1).flat(1).up(20, 1), from(0).flat(240).up(2, 1).flat(8).up(1, 1).flat(20)),
			[]check{at("2h1m"), at("2h4m"), among(`long="1h"`, "2h6m", fast)}},
		{a, low, "three verdicts of one hung probe come at once and are one time", "30s",
			of(from(0).up(240, 1).flat(1).up(20, 1), from(0).flat(240).up(1, 3).flat(20)),
			[]check{at("2h1m"), at("2h4m")}},
		{a, fires, "an SLO with alerting: ticket never pages, and a probe every 5 m has a short window of 30 m", "5m",
			[]string{interval(engSlow, 300, 60), events(engSlow, "soft", "success", "good", from(0).up(24, 1).flat(30)), events(engSlow, "soft", "success", "bad", from(0).flat(24).up(30, 1))},
			[]check{at("2h"), among(`long=~"1h|6h"`, "2h25m", soft, soft6)}},
	}
}
