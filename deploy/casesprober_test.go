package deploy_test

import "fmt"

func up(instance string, s *samples) string {
	return s.of(fmt.Sprintf(`up{instance=%q,job="tokprobe"}`, instance))
}

func counter(name, labels string, s *samples) string { return s.of(metric(name, labels)) }

func proberCases() []ruleCase {
	list := []ruleCase{{"TokprobeWatchdog", fires, "always", "1m", nil, []check{at("0m", `severity="none"`), at("1h", `severity="none"`)}}}
	for _, more := range [][]ruleCase{absentCases(), blindCases(), verdictCases(), neverRunCases(), configCases(), skipCases(), lagCases()} {
		list = append(list, more...)
	}
	return list
}

func absentCases() []ruleCase {
	const absent, down = "TokprobeAbsent", "TokprobeDown"
	p, pb := `severity="page"`, `instance="b",severity="page"`
	two := func(a, b *samples) []string { return []string{up("a", a), up("b", b)} }
	one := func(s *samples) []string { return []string{up("a", s)} }
	return []ruleCase{
		{absent, fires, "the only instance does not answer", "1m", one(from(1).flat(10).to(0).flat(10)), []check{at("9m"), at("11m"), at("12m", p)}},
		{absent, fires, "no instance is known", "1m", nil, []check{at("1m"), at("3m", p)}},
		{absent, noise, "one of two, or one missed scrape", "1m", two(from(1).flat(10).to(0).flat(1).to(1).flat(30), from(1).flat(5).to(0).flat(36)), []check{at("10m"), at("13m"), at("30m")}},
		{absent, recovers, "it answers again", "1m", one(from(0).flat(10).to(1).flat(20)), []check{at("9m", p), at("16m")}},
		{absent, gap, "Prometheus itself was away for four minutes", "1m", one(from(1).flat(10).miss(4).flat(10)), []check{at("13m"), at("20m")}},
		{down, fires, "one of two", "1m", two(from(1).flat(20), from(1).flat(5).to(0).flat(15)), []check{at("9m"), at("10m", pb)}},
		{down, noise, "restarts", "1m", two(from(1).flat(30), from(1).flat(5).to(0).flat(2).to(1).flat(8).to(0).flat(2).to(1).flat(13)), []check{at("6m"), at("16m"), at("20m")}},
		{down, noise, "all are down: that is TokprobeAbsent", "1m", two(from(0).flat(20), from(0).flat(20)), []check{at("10m"), at("15m")}},
		{down, recovers, "it answers again", "1m", two(from(1).flat(40), from(0).flat(10).to(1).flat(30)), []check{at("9m", pb), at("16m")}},
		{down, gap, "missed evaluations", "1m", two(from(1).flat(10).miss(4).flat(10), from(0).flat(10).miss(4).flat(10)), []check{at("9m", pb), at("13m", pb), at("20m", pb)}},
	}
}

// blindCases: two probes a minute are due.
func blindCases() []ruleCase {
	const a = "TokprobeBlind"
	p := `severity="page"`
	of := func(due, ok, internal, lag, overlap, retry *samples) []string {
		return []string{
			counter("tokprobe_probes_due_total", gwChat, due), finished(gwChat, "ok", ok), finished(gwChat, "internal", internal),
			counter("tokprobe_probes_lag_suspect_total", gwChat, lag), skipped(gwChat, "overlap", overlap), skipped(gwChat, "retry_after", retry),
		}
	}
	zero := func() *samples { return from(0).flat(200) }
	return []ruleCase{
		{a, fires, "nothing finishes any more", "1m", of(from(0).up(120, 2), from(0).up(60, 2).flat(60), zero(), zero(), from(0).flat(60).up(60, 2), zero()),
			[]check{at("1h"), at("1h14m"), at("1h22m", p)}},
		{a, fires, "our own lag spoils all results", "1m", of(from(0).up(120, 2), from(0).up(120, 2), zero(), from(0).flat(60).up(60, 2), zero(), zero()),
			[]check{at("1h"), at("1h22m", p)}},
		{a, noise, "an outage of a target is a result, and a quota is not ours", "1m",
			append(of(from(0).up(120, 2), from(0).up(20, 1).flat(100), zero(), zero(), zero(), from(0).up(100, 1).flat(20)), finished(gwChat, "connect", from(0).flat(20).up(100, 1))),
			[]check{at("30m"), at("1h"), at("1h30m")}},
		{a, recovers, "results again", "1m", of(from(0).up(160, 2), from(0).up(20, 2).flat(40).up(100, 2), zero(), zero(), zero(), zero()),
			[]check{at("58m", p), at("1h35m")}},
		{a, gap, "half an hour without scrapes", "1m", of(from(0).up(40, 2).to(140).miss(30).up(40, 2), from(0).up(40, 2).to(140).miss(30).up(40, 2), zero(), zero(), zero(), zero()),
			[]check{at("55m"), at("1h12m"), at("1h40m")}},
		{a, reset, "a restart", "1m", of(from(500).up(40, 2).to(0).up(60, 2), from(400).up(40, 2).to(0).up(60, 2), from(9).flat(40).to(0).flat(60), zero(), zero(), zero()),
			[]check{at("42m"), at("1h"), at("1h35m")}},
		{a, low, "just started: two are due, none has finished", "1m", of(from(0).flat(1).up(2, 1).flat(20), zero(), zero(), zero(), zero(), zero()), []check{at("10m"), at("20m")}},
	}
}

func verdictCases() []ruleCase {
	const a = "TokprobeNoVerdict"
	no := gwChat + team + `,severity="ticket"`
	of := func(due, ok, auth *samples) []string {
		return []string{
			counter("tokprobe_probes_due_total", gwChat, due), finished(gwChat, "ok", ok), finished(gwChat, "auth", auth),
			counter("tokprobe_probes_lag_suspect_total", gwChat, from(0).flat(200)), skipped(gwChat, "maintenance", from(0).flat(200)),
		}
	}
	slow := []string{
		counter("tokprobe_probes_due_total", engSlow, from(0).up(40, 1)), finished(engSlow, "ok", from(0).up(20, 1).flat(20)), finished(engSlow, "auth", from(0).flat(20).up(20, 1)),
		counter("tokprobe_probes_lag_suspect_total", engSlow, from(0).flat(40)), skipped(engSlow, "maintenance", from(0).flat(40)),
	}
	return []ruleCase{
		{a, fires, "the key has been refused for a quarter of an hour", "1m", of(from(0).up(120, 2), from(0).up(60, 2).flat(60), from(0).flat(60).up(60, 2)), []check{at("1h10m"), at("1h18m", no)}},
		{a, fires, "a slow probe over an hour", "5m", slow, []check{at("1h55m"), at("2h20m", engSlow+`,severity="ticket"`)}},
		{a, noise, "one in four is refused", "1m", of(from(0).up(120, 4), from(0).up(120, 3), from(0).up(120, 1)), []check{at("40m"), at("1h30m")}},
		{a, noise, "maintenance is no blindness", "1m",
			[]string{counter("tokprobe_probes_due_total", gwChat, from(0).up(120, 2)), finished(gwChat, "ok", from(0).flat(120)), counter("tokprobe_probes_lag_suspect_total", gwChat, from(0).flat(120)), skipped(gwChat, "maintenance", from(0).up(120, 2))},
			[]check{at("40m"), at("1h30m")}},
		{a, recovers, "the key is good again", "1m", of(from(0).up(160, 2), from(0).up(20, 2).flat(40).up(100, 2), from(0).flat(20).up(40, 2).flat(100)), []check{at("58m", no), at("1h25m")}},
		{a, gap, "scrapes missing", "1m", of(from(0).up(40, 2).to(120).miss(20).up(40, 2), from(0).up(40, 2).to(120).miss(20).up(40, 2), from(0).flat(40).miss(20).flat(40)), []check{at("50m"), at("1h5m"), at("1h30m")}},
		{a, reset, "a restart", "1m", of(from(500).up(40, 2).to(0).up(60, 2), from(400).up(40, 2).to(0).up(60, 2), from(90).flat(40).to(0).flat(60)), []check{at("42m"), at("1h"), at("1h35m")}},
		{a, low, "five due", "1m", of(from(0).flat(1).up(5, 1).flat(20), from(0).flat(26), from(0).flat(26)), []check{at("10m"), at("25m")}},
	}
}

// neverRunCases: the clock of a rule test starts at 0.
func neverRunCases() []ruleCase {
	const a = "TokprobeStale"
	stale := gwChat + team + `,severity="ticket"`
	of := func(last *samples, skips *samples) []string {
		return []string{
			interval(gwChat, 30, 100), last.of(metric("tokprobe_probe_last_run_timestamp_seconds", gwChat)), skipped(gwChat, "budget", skips),
			from(0).flat(100).of(metric("tokprobe_config_last_reload_success_timestamp_seconds", "")),
		}
	}
	return []ruleCase{
		{a, fires, "neither run nor skip", "1m", of(from(-60).up(10, 60).flat(20), from(0).flat(30)), []check{at("10m"), at("16m", stale)}},
		{a, noise, "no run yet, and nobody knows since when it is loaded", "1m", []string{interval(gwChat, 30, 100)}, []check{at("10m")}},
		{a, fires, "never run since the configuration was loaded", "1m",
			[]string{interval(gwChat, 30, 100), from(0).flat(100).of(metric("tokprobe_config_last_reload_success_timestamp_seconds", ""))}, []check{at("1m"), at("5m", stale)}},
		{a, noise, "skipped for a reason", "1m", of(from(-60).up(10, 60).flat(40), from(0).flat(10).up(40, 2)), []check{at("16m"), at("40m")}},
		{a, recovers, "it runs again", "1m", of(from(-60).up(10, 60).flat(10).to(1140).up(20, 60), from(0).flat(40)), []check{at("18m", stale), at("21m")}},
		{a, gap, "scrapes missing for four minutes", "1m", of(from(-60).up(10, 60).to(780).miss(4).up(20, 60), from(0).flat(40)), []check{at("12m"), at("13m"), at("20m")}},
	}
}

func configCases() []ruleCase {
	const failed, old, canary = "TokprobeReloadFailed", "TokprobeRulesOutdated", "TokprobeCanaryFailed"
	inst := `instance="10.0.0.9:9816",severity="ticket"`
	load := func(s *samples) []string { return []string{s.of(metric("tokprobe_config_last_reload_successful", ""))} }
	info := func(s *samples) []string { return []string{s.of(metric("tokprobe_config_info", `slo_hash="0123"`))} }
	net := func(s *samples) []string {
		return []string{s.of(metric("tokprobe_canary_success", `canary="network"`))}
	}
	p := `canary="network",severity="page"`
	return []ruleCase{
		{failed, fires, "a bad configuration", "1m", load(from(1).flat(10).to(0).flat(30)), []check{at("14m"), at("26m", inst)}},
		{failed, noise, "mended within minutes", "1m", load(from(1).flat(10).to(0).flat(8).to(1).flat(30)), []check{at("18m"), at("30m")}},
		{failed, recovers, "a good one", "1m", load(from(0).flat(30).to(1).flat(10)), []check{at("20m", inst), at("31m")}},
		{failed, gap, "missed scrapes hide nothing", "1m", load(from(0).flat(20).miss(4).flat(10)), []check{at("19m", inst), at("23m", inst), at("30m", inst)}},
		{old, fires, "another slo_hash", "1m", info(from(1).flat(40)), []check{at("14m"), at("15m", `slo_hash="0123",`+inst)}},
		{old, noise, "a rollout of five minutes", "1m", info(from(1).flat(5).miss(60)), []check{at("4m"), at("20m")}},
		{old, recovers, "the rules are made again", "1m", info(from(1).flat(20).miss(60)), []check{at("19m", `slo_hash="0123",`+inst), at("26m")}},
		{old, gap, "missed scrapes", "1m", info(from(1).flat(20).miss(3).flat(10)), []check{at("22m", `slo_hash="0123",`+inst)}},
		{canary, fires, "no way out", "1m", net(from(1).flat(10).to(0).flat(10)), []check{at("11m"), at("13m", p)}},
		{canary, noise, "one miss", "1m", net(from(1).flat(10).to(0).flat(1).to(1).flat(20)), []check{at("11m"), at("15m")}},
		{canary, recovers, "back", "1m", net(from(0).flat(10).to(1).flat(20)), []check{at("9m", p), at("16m")}},
		{canary, gap, "missed scrapes", "1m", net(from(0).flat(10).miss(4).flat(10)), []check{at("13m", p), at("20m", p)}},
	}
}

func skipCases() []ruleCase {
	const a = "TokprobeProbesSkipped"
	over := gwChat + team + `,reason="overlap",severity="ticket"`
	of := func(skip, due *samples) []string {
		return []string{skipped(gwChat, "overlap", skip), counter("tokprobe_probes_due_total", gwChat, due)}
	}
	return []ruleCase{
		{a, fires, "every second tick", "1m", of(from(0).flat(60).up(60, 1), from(0).up(120, 2)), []check{at("1h20m"), at("1h40m", over)}},
		{a, noise, "one in ten", "1m", of(from(0).up(10, 1).flat(90).up(10, 1).flat(10), from(0).up(120, 2)), []check{at("1h"), at("2h")}},
		{a, recovers, "an hour later", "1m", of(from(0).up(60, 1).flat(90), from(0).up(150, 2)), []check{at("1h", over), at("1h45m")}},
		{a, gap, "half an hour without scrapes", "1m", of(from(0).up(40, 1).to(70).miss(30).up(40, 1), from(0).up(40, 2).to(140).miss(30).up(40, 2)), []check{at("35m", over), at("1h30m", over)}},
		{a, reset, "a restart", "1m", of(from(900).flat(40).to(0).flat(60), from(5000).up(40, 2).to(0).up(60, 2)), []check{at("41m"), at("1h30m")}},
		{a, low, "two of the first four", "1m", of(from(0).up(2, 1).flat(20), from(0).up(4, 1).flat(18)), []check{at("5m"), at("20m")}},
	}
}

func lagCases() []ruleCase {
	const sched, client = "TokprobeSchedulerLag", "TokprobeClientLag"
	inst := `instance="10.0.0.9:9816",severity="ticket"`
	delay := func(soon, count *samples) []string {
		return []string{counter("tokprobe_scheduler_delay_seconds_bucket", `le="0.5"`, soon), counter("tokprobe_scheduler_delay_seconds_count", "", count)}
	}
	lag := func(bad, ok *samples) []string {
		return []string{counter("tokprobe_probes_lag_suspect_total", gwChat, bad), finished(gwChat, "ok", ok)}
	}
	return []ruleCase{
		{sched, fires, "half of the starts are late", "1m", delay(from(0).up(30, 4).up(40, 2), from(0).up(70, 4)), []check{at("30m"), at("45m", inst)}},
		{sched, noise, "1 % are late", "1m", delay(from(0).up(60, 99), from(0).up(60, 100)), []check{at("30m"), at("50m")}},
		{sched, recovers, "quick again", "1m", delay(from(0).up(40, 2).up(40, 4), from(0).up(80, 4)), []check{at("38m", inst), at("58m")}},
		{sched, gap, "scrapes missing", "1m", delay(from(0).up(30, 4).to(200).miss(20).up(40, 4), from(0).up(30, 4).to(200).miss(20).up(40, 4)), []check{at("40m"), at("55m"), at("1h20m")}},
		{sched, reset, "a restart", "1m", delay(from(900).up(30, 4).to(0).up(40, 4), from(1900).up(30, 4).to(0).up(40, 4)), []check{at("35m"), at("45m"), at("1h")}},
		{sched, low, "few starts", "1m", delay(from(0).flat(40), from(0).up(5, 1).flat(35)), []check{at("15m"), at("30m")}},
		{client, fires, "every fifth result", "1m", lag(from(0).flat(30).up(40, 1), from(0).up(70, 5)), []check{at("35m"), at("55m", inst)}},
		{client, noise, "one in fifty", "1m", lag(from(0).up(1, 1).flat(30).up(1, 1).flat(38), from(0).up(70, 2)), []check{at("30m"), at("1h")}},
		{client, recovers, "half an hour later", "1m", lag(from(0).up(30, 1).flat(60), from(0).up(90, 2)), []check{at("30m", inst), at("1h5m")}},
		{client, gap, "scrapes missing", "1m", lag(from(0).up(30, 1).to(50).miss(20).up(40, 1), from(0).up(30, 2).to(100).miss(20).up(40, 2)), []check{at("29m", inst), at("1h5m", inst)}},
		{client, reset, "a restart", "1m", lag(from(90).flat(30).to(0).flat(60), from(100).up(30, 2).to(0).up(60, 2)), []check{at("35m"), at("1h")}},
		{client, low, "two", "1m", lag(from(0).up(2, 1).flat(60), from(0).up(4, 1).flat(58)), []check{at("5m"), at("30m")}},
	}
}
