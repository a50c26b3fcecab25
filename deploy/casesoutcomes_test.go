package deploy_test

import "fmt"

func finished(probe, outcome string, s *samples) string {
	return s.of(metric("tokprobe_probes_total", fmt.Sprintf(`%s,outcome=%q`, probe, outcome)))
}

// outcomeCases: two or three within ten minutes.
func outcomeCases() []ruleCase {
	var list []ruleCase
	for _, x := range []struct {
		alert, outcome string
		needs          int
	}{
		{"TokprobeKeyRefused", "auth", 2}, {"TokprobeQuotaExceeded", "rate_limited", 3}, {"TokprobeUnknownModel", "not_found", 2},
		{"TokprobeBadRequest", "bad_request", 2}, {"TokprobeRedirected", "redirect", 2}, {"TokprobeInternalError", "internal", 2},
		{"TokprobeWrongAnswer", "assertion", 3},
	} {
		list = append(list, oneOutcome(x.alert, x.outcome, x.needs)...)
	}
	return append(list, quotaCases()...)
}

func skipped(probe, reason string, s *samples) string {
	return s.of(metric("tokprobe_probes_skipped_total", fmt.Sprintf(`%s,reason=%q`, probe, reason)))
}

func oneOutcome(a, outcome string, needs int) []ruleCase {
	bad := gwChat + team + `,severity="ticket"`
	of := func(s *samples) []string {
		return []string{finished(gwChat, outcome, s), finished(gwChat, "ok", from(0).up(200, 1)), skipped(gwChat, "retry_after", from(0).flat(200))}
	}
	return []ruleCase{
		{a, fires, "one after the other", "30s", of(from(0).flat(20).up(10, 1).flat(5)), []check{at("9m30s"), at("12m", bad)}},
		{a, noise, "one an hour", "30s", of(from(0).flat(60).up(1, 1).flat(119)), []check{at("30m30s"), at("35m"), at("1h")}},
		{a, recovers, "ten minutes after the last", "30s", of(from(0).flat(20).up(10, 1).flat(60)), []check{at("20m", bad), at("26m"), at("40m")}},
		{a, gap, "a gap of five minutes does not hide it", "30s", of(from(0).flat(20).up(4, 1).miss(10).to(14).up(4, 1)), []check{at("12m", bad), at("18m30s", bad)}},
		{a, reset, "restarts at high counts", "30s", of(from(80).flat(20).to(0).flat(20).to(1).flat(20)), []check{at("11m"), at("15m"), at("24m")}},
		{a, low, "one too few", "30s", of(from(0).flat(20).up(needs-1, 1).flat(30)), []check{at("11m30s"), at("15m")}},
	}
}

// quotaCases: one 429 with a long Retry-After silences the probe, and the
// skipped ticks speak for it. A probe every 5 m is looked at over half an hour.
func quotaCases() []ruleCase {
	return []ruleCase{
		{"TokprobeQuotaExceeded", fires, "one 429, then ticks skipped to honour its Retry-After", "30s",
			[]string{finished(gwChat, "rate_limited", from(0).flat(20).up(1, 1).flat(20)), skipped(gwChat, "retry_after", from(0).flat(21).up(20, 1))},
			[]check{at("10m30s"), at("13m", gwChat+team+`,severity="ticket"`)}},
		{"TokprobeKeyRefused", fires, "a slow probe", "5m",
			[]string{finished(engSlow, "auth", from(0).flat(6).up(6, 1))},
			[]check{at("25m"), at("40m", engSlow+`,severity="ticket"`)}},
	}
}
