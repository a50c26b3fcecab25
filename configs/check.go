package configs

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// checkLimits completes the limits of a probe by the defaults for its interval
// and checks that they fit each other and the interval.
func (s *schedule) checkLimits() probe.Limits {
	gap := s.gap()
	def := probe.DefaultLimits(gap)
	l := s.limits
	if l.Connect == 0 {
		l.Connect = def.Connect
	}
	if l.Total == 0 {
		l.Total = max(def.Total, l.FirstToken, l.Stall)
	}
	if l.FirstToken == 0 {
		l.FirstToken = min(def.FirstToken, l.Total)
	}
	if l.Stall == 0 {
		l.Stall = min(def.Stall, l.Total)
	}
	ms := func(d time.Duration) string { return FormatDuration(d.Round(time.Millisecond)) }
	show := fmt.Sprintf("connect %s, first_token %s, stall %s, total %s", ms(l.Connect), ms(l.FirstToken), ms(l.Stall), ms(l.Total))
	switch {
	case l.FirstToken > l.Total || l.Stall > l.Total:
		s.limitsAt.bad(show, "no limit can exceed total; raise total or lower the other")
	case gap > 0 && l.Connect+l.Total > gap && !s.overlap:
		s.limitsAt.bad(show, "connect + total is %s and must fit into the interval of %s; lower them, run less often, or write allow_overlap: true", ms(l.Connect+l.Total), FormatDuration(gap))
	}
	return l
}

// checkPromise warns where an SLO and a probe do not go together.
func checkPromise(s *schedule, p *prompt, pr *promise, l probe.Limits) {
	limit := map[slo.SLI]time.Duration{slo.TTFT: l.FirstToken, slo.FirstContent: l.Total, slo.TPOT: l.Stall, slo.E2E: l.Total}
	name := map[slo.SLI]string{slo.TTFT: "first_token", slo.FirstContent: "total", slo.TPOT: "stall", slo.E2E: "total"}
	// Burn windows count probes, so the average matters for a cron.
	every := roster.Watch{Every: s.every, Cron: s.cron, Zone: s.zone}.Gap()
	for _, o := range pr.Objectives {
		if max := limit[o.SLI]; o.Below > max && o.SLI != slo.Success {
			pr.below[o.SLI].warn(FormatDuration(o.Below), "is above the limit %s: %s of probe %s, which cuts such answers and counts them bad; lower the threshold or raise the limit", name[o.SLI], FormatDuration(max.Round(time.Millisecond)), s.name.text)
		}
		if o.Ratio == 0 {
			continue
		}
		if usable, _ := slo.Pairs(o.Ratio, every); len(usable) == 0 && pr.Alerting != slo.Off {
			pr.at.warn("", "no burn-rate window can see %s of %.4g%% with one probe every %s (%s); probe more often or write alerting: off", o.SLI, 100*o.Ratio, FormatDuration(every), s.name.text)
		}
	}
	if p == nil {
		return
	}
	c := pr.Conditions
	if in := roster.EstimateInput(p.Prompt); c.InputTokensP95 > 0 && in > c.InputTokensP95 {
		pr.at.warn("", "assumes at most %d input tokens, but probe %s sends about %d; raise conditions.input_tokens_p95 or take another prompt", c.InputTokensP95, s.name.text, in)
	}
	if c.OutputTokensP95 > 0 && p.MaxTokens > c.OutputTokensP95 {
		pr.at.warn("", "assumes at most %d output tokens, but probe %s asks for up to %d; raise conditions.output_tokens_p95 or lower max_tokens", c.OutputTokensP95, s.name.text, p.MaxTokens)
	}
}

// checkTime warns about a sweep that may still run when its next is due.
func (s *sweep) checkTime() {
	sched, err := roster.ParseCron(s.Cron, s.Zone)
	if err != nil {
		return
	}
	if gap := roster.MinGap(sched); s.MaxDuration > gap {
		s.cronAt.warn(quote(s.Cron), "comes every %s, but a sweep may take %s (max_duration); run it less often", FormatDuration(gap), FormatDuration(s.MaxDuration))
	}
}

// checkUse warns about what is configured and never used, and about an empty
// plan.
func (b *builder) checkUse(r roster.Roster) {
	for _, s := range b.sweeps {
		if s.prompt != nil && b.asked[s.prompt.text] != nil {
			b.asked[s.prompt.text].used = true
		}
	}
	for _, p := range b.prompts {
		if !p.used && p.name.text != "" {
			p.at.warn(quote(p.name.text), "no probe and no sweep asks this; write prompt: %s there or remove it", p.name.text)
		}
	}
	for _, p := range b.slos {
		if !b.usedSLO[p.name.text] && p.name.text != "" {
			p.at.warn(quote(p.name.text), "no probe and no sweep is held to this; write slo: %s there or remove it", p.name.text)
		}
	}
	if len(r.Watches) == 0 && len(r.Sweeps) == 0 && len(b.w.problems) == 0 {
		b.root.bad("", "watches nothing: probes is empty and there are no sweeps; remove probes: for the built-in probe or write one")
	}
}
