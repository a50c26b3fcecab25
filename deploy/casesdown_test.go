package deploy_test

import "sort"

// sortCases orders cases that come from a map.
func sortCases(list []ruleCase) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].alert < list[j].alert })
}

func failures(probe string, s *samples) string {
	return s.of(metric("tokprobe_recent_failures", probe))
}

func downCases() []ruleCase {
	list := append(hardDownCases(), targetDownCases()...)
	return append(list, hungCases()...)
}

func hardDownCases() []ruleCase {
	const a = "TokprobeHardDown"
	down := gwChat + team + `,severity="page"`
	open := func(s *samples) string { return s.of(metric("tokprobe_maintenance_active", `target="gw"`)) }
	return []ruleCase{
		{a, fires, "the fourth failure of six", "30s", []string{failures(gwChat, from(0).flat(10).up(6, 1).flat(10))},
			[]check{at("5m30s"), at("6m30s", down), at("10m", down)}},
		{a, noise, "three of six, again and again", "30s", []string{failures(gwChat, from(0).flat(4).up(3, 1).up(2, -1).up(2, 1).up(3, -1).up(3, 1).flat(10))},
			[]check{at("3m30s"), at("6m"), at("12m")}},
		{a, recovers, "it keeps firing for 5 m and ends", "30s", []string{failures(gwChat, from(6).flat(10).up(6, -1).flat(30))},
			[]check{at("4m", down), at("9m", down), at("12m")}},
		{a, gap, "missed scrapes neither fire nor, within 5 m, resolve", "30s", []string{failures(gwChat, from(6).flat(10).miss(8).flat(10))},
			[]check{at("4m", down), at("8m", down), at("11m", down)}},
		{a, low, "a probe that has only run three times, all failures", "30s", []string{failures(gwChat, from(0).flat(1).up(3, 1).flat(10))},
			[]check{at("5m")}},
		{a, noise, "in a maintenance window", "30s", []string{failures(gwChat, from(6).flat(40)), open(from(1).flat(40))},
			[]check{at("5m"), at("15m")}},
		{a, fires, "a target that came after the rules were made has no labels but is watched", "30s",
			[]string{failures(`target="new",model="a",probe="chat"`, from(6).flat(10)), from(1).flat(10).of(metric("tokprobe_target_info", `target="new",provider="openai",protocol="openai-chat"`))},
			[]check{at("4m", `target="new",model="a",probe="chat",severity="page"`)}},
		{a, fires, "each place by its own name", "30s",
			[]string{failures(gwChat+`,location="eu"`, from(6).flat(10)), failures(gwChat+`,location="us"`, from(0).flat(10))},
			[]check{at("4m", down+`,location="eu"`)}},
		{a, fires, "a model whose name has a slash", "30s", []string{failures(`target="gw",model="org/c",probe="chat"`, from(5).flat(10))},
			[]check{at("4m", `target="gw",model="org/c",probe="chat",team="assistants",severity="page"`)}},
	}
}

func targetDownCases() []ruleCase {
	const a = "TokprobeTargetDown"
	down := `target="gw"` + team + `,severity="page"`
	models := func(x, y, z *samples) []string {
		return []string{failures(gwChat, x), failures(`target="gw",model="b",probe="chat"`, y), failures(`target="gw",model="org/c",probe="chat"`, z)}
	}
	return []ruleCase{
		{a, fires, "two models of three", "30s", models(from(0).flat(10).to(4).flat(10), from(0).flat(12).to(5).flat(8), from(0).flat(20)),
			[]check{at("5m"), at("6m", down)}},
		{a, noise, "one model of three", "30s", models(from(6).flat(20), from(3).flat(20), from(0).flat(20)), []check{at("5m"), at("9m")}},
		{a, recovers, "the models come back", "30s", models(from(6).flat(10).to(0).flat(30), from(6).flat(10).to(0).flat(30), from(0).flat(40)),
			[]check{at("4m", down), at("9m", down), at("12m")}},
		{a, gap, "missed scrapes do not resolve it", "30s", models(from(6).flat(10).miss(8).flat(10), from(6).flat(10).miss(8).flat(10), from(0).flat(28)),
			[]check{at("8m", down), at("11m", down)}},
		{a, low, "a target's only model down is no TargetDown", "30s", []string{failures(engChat, from(6).flat(20))}, []check{at("5m")}},
	}
}

func hungCases() []ruleCase {
	const a = "TokprobeHungButHealthy"
	hung := engChat + `,severity="page"`
	of := func(health, timeouts *samples) []string {
		return []string{
			health.of(metric("tokprobe_target_health", `target="eng"`)),
			timeouts.of(metric("tokprobe_probes_total", engChat+`,outcome="timeout_first_token"`)),
			from(0).flat(60).of(metric("tokprobe_probes_total", engChat+`,outcome="stall"`)),
			from(100).up(60, 1).of(metric("tokprobe_probes_total", engChat+`,outcome="ok"`)),
			failures(engChat, from(6).flat(90)),
		}
	}
	lagging := of(from(1).flat(40), from(0).flat(20).up(20, 1))
	lagging[len(lagging)-1] = failures(engChat, from(2).flat(90))
	return []ruleCase{
		{a, fires, "three timeouts while /health is 200", "30s", of(from(1).flat(40), from(0).flat(20).up(20, 1)),
			[]check{at("10m30s"), at("11m30s", hung), at("15m", hung)}},
		{a, noise, "timeouts while /health fails too: that is a plain outage", "30s", of(from(0).flat(40), from(0).flat(20).up(20, 1)), []check{at("15m")}},
		{a, noise, "timeouts that our own lag explains: they are no failures of the service", "30s", lagging, []check{at("15m")}},
		{a, recovers, "answers come again", "30s", of(from(1).flat(90), from(0).flat(10).up(10, 1).flat(70)),
			[]check{at("9m", hung), at("14m", hung), at("21m")}},
		{a, gap, "a gap of four minutes", "30s", of(from(1).flat(20).miss(8).flat(20), from(0).flat(10).up(10, 1).to(18).miss(8).up(10, 1)),
			[]check{at("9m30s", hung), at("13m30s", hung), at("16m", hung)}},
		{a, reset, "restarts at high counts", "30s", of(from(1).flat(60), from(50).flat(20).to(0).flat(20).to(1).flat(20)),
			[]check{at("11m"), at("15m"), at("22m")}},
		{a, low, "two timeouts", "30s", of(from(1).flat(40), from(0).flat(20).up(2, 1).flat(18)), []check{at("11m"), at("13m")}},
		{a, fires, "a probe every 5 m is looked at over half an hour", "5m",
			[]string{from(1).flat(20).of(metric("tokprobe_target_health", `target="eng"`)), from(0).flat(6).up(6, 1).of(metric("tokprobe_probes_total", engSlow+`,outcome="stall"`)), failures(engSlow, from(6).flat(20))},
			[]check{at("35m"), at("45m", engSlow+`,severity="page"`)}},
	}
}
