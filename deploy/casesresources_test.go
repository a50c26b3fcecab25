package deploy_test

func resourceCases() []ruleCase {
	var list []ruleCase
	for _, more := range [][]ruleCase{budgetCases(), coalescedCases(), certificateCases(), productionCases()} {
		list = append(list, more...)
	}
	return list
}

func budgetCases() []ruleCase {
	const a = "TokprobeBudgetNearlySpent"
	spent := `target="gw",kind="probe"` + team + `,severity="ticket"`
	of := func(left *samples) []string {
		return []string{left.of(metric("tokprobe_budget_tokens_remaining", `target="gw",kind="probe"`)), from(1000).flat(100).of(metric("tokprobe_budget_tokens_limit", `target="gw",kind="probe"`))}
	}
	return []ruleCase{
		{a, fires, "under a tenth is left", "1m", of(from(300).up(25, -10).flat(30)), []check{at("18m"), at("30m", spent)}},
		{a, noise, "a fifth is left", "1m", of(from(1000).up(80, -10).flat(10)), []check{at("1h"), at("1h25m")}},
		{a, recovers, "a new day", "1m", of(from(50).flat(20).to(1000).flat(20)), []check{at("15m", spent), at("21m")}},
		{a, gap, "missed scrapes", "1m", of(from(50).flat(20).miss(4).flat(20)), []check{at("23m", spent), at("40m", spent)}},
	}
}

func coalescedCases() []ruleCase {
	const a = "TokprobeStreamsCoalesced"
	lumps := gwChat + team + `,severity="ticket"`
	of := func(merged, ok *samples) []string {
		return []string{counter("tokprobe_streams_coalesced_total", gwChat, merged), finished(gwChat, "ok", ok)}
	}
	return []ruleCase{
		{a, fires, "a proxy buffers", "1m", of(from(0).flat(60).up(60, 2), from(0).up(120, 2)), []check{at("1h20m"), at("1h40m", lumps)}},
		{a, noise, "one in five", "1m", of(from(0).up(120, 1), from(0).up(120, 5)), []check{at("30m"), at("1h40m")}},
		{a, recovers, "streams again", "1m", of(from(0).up(60, 2).flat(60), from(0).up(120, 2)), []check{at("1h", lumps), at("1h45m")}},
		{a, gap, "half an hour without scrapes", "1m", of(from(0).up(40, 2).to(140).miss(30).up(40, 2), from(0).up(40, 2).to(140).miss(30).up(40, 2)), []check{at("35m", lumps), at("1h30m", lumps)}},
		{a, reset, "a restart", "1m", of(from(900).flat(30).to(0).flat(60), from(1000).up(30, 2).to(0).up(60, 2)), []check{at("35m"), at("1h20m")}},
		{a, low, "both of two", "1m", of(from(0).up(2, 1).flat(60), from(0).up(2, 1).flat(60)), []check{at("5m"), at("30m")}},
	}
}

func certificateCases() []ruleCase {
	const a = "TokprobeCertificateExpiring"
	soon, urgent := `target="gw"`+team+`,severity="ticket"`, `target="gw"`+team+`,severity="page"`
	of := func(s *samples) []string {
		return []string{s.of(metric("tokprobe_tls_certificate_expiry_timestamp_seconds", `target="gw"`))}
	}
	const aDay = 86400
	return []ruleCase{
		{a, fires, "thirteen days", "1m", of(from(13 * aDay).flat(30)), []check{at("5m"), at("12m", soon)}},
		{a, fires, "one day", "1m", of(from(1 * aDay).flat(30)), []check{at("12m", soon, urgent)}},
		{a, noise, "a month, or another chain for a moment", "1m", of(from(30 * aDay).flat(10).to(1 * aDay).flat(5).to(30 * aDay).flat(20)), []check{at("9m"), at("14m"), at("30m")}},
		{a, recovers, "renewed", "1m", of(from(1 * aDay).flat(20).to(90 * aDay).flat(20)), []check{at("15m", soon, urgent), at("26m")}},
		{a, gap, "missed scrapes", "1m", of(from(13 * aDay).flat(15).miss(4).flat(10)), []check{at("18m", soon), at("25m", soon)}},
	}
}

// productionCases: the recommended load is 12 streams, and 2 requests a second.
func productionCases() []ruleCase {
	const a = "TokprobeProductionAboveRecommended"
	over := `target="eng",model="m",mode="concurrency",severity="ticket"`
	of := func(running, sweep *samples) []string {
		return []string{
			running.of(`vllm:num_requests_running{job="vllm",instance="10.0.0.5:8000",model_name="m"}`),
			from(4).flat(200).of(`vllm:num_requests_running{job="vllm",instance="10.0.0.6:8000",model_name="m"}`),
			sweep.of(metric("tokprobe_sweep_in_progress", nightly)),
			from(12).flat(200).of(metric("tokprobe_recommended_load", ladder)),
		}
	}
	idle := func() *samples { return from(0).flat(200) }
	rate := func(s *samples) []string {
		return []string{
			s.of(`vllm:request_success_total{job="vllm",instance="10.0.0.5:8000",model_name="m",finished_reason="stop"}`),
			from(2).flat(200).of(metric("tokprobe_recommended_load", `target="eng",model="m",sweep="rates",scenario="T2",mode="rate"`)), idle().of(metric("tokprobe_sweep_in_progress", nightly)),
		}
	}
	byRate := `target="eng",model="m",mode="rate",severity="ticket"`
	return []ruleCase{
		{a, fires, "14 in flight on two servers", "1m", of(from(2).flat(20).to(10).flat(60), idle()), []check{at("20m"), at("30m"), at("50m", over)}},
		{a, fires, "3 requests a second", "1m", rate(from(0).up(60, 180)), []check{at("10m"), at("30m", byRate)}},
		{a, noise, "a peak of five minutes", "1m", of(from(2).flat(20).to(20).flat(5).to(2).flat(60), idle()), []check{at("30m"), at("1h")}},
		{a, noise, "our own sweep is the load", "1m", of(from(2).flat(20).to(20).flat(40).to(2).flat(20), from(0).flat(20).to(1).flat(40).to(0).flat(20)), []check{at("50m"), at("1h15m")}},
		{a, recovers, "less load", "1m", of(from(12).flat(40).to(2).flat(40), idle()), []check{at("39m", over), at("55m")}},
		{a, gap, "the servers' metrics are missing", "1m", of(from(12).flat(40).miss(4).flat(20), idle()), []check{at("43m", over), at("1h", over)}},
		{a, reset, "a server restarts", "1m", rate(from(90000).up(30, 60).to(0).up(40, 60)), []check{at("35m"), at("1h")}},
		{a, low, "no recommendation yet", "1m",
			[]string{from(40).flat(60).of(`vllm:num_requests_running{job="vllm",instance="10.0.0.5:8000",model_name="m"}`), idle().of(metric("tokprobe_sweep_in_progress", nightly))}, []check{at("50m")}},
	}
}
