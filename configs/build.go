package configs

import (
	"fmt"
	"maps"
	"time"

	"github.com/prometheus/common/config"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
	"tokprobe/probe/wire"
)

// builder checks the parts of a file against each other and builds the roster.
type builder struct {
	*file
	opts     Options
	w        *walk
	root     node
	contents [][]byte // of prompt files
	promises map[string]*promise
	asked    map[string]*prompt
	usedSLO  map[string]bool
}

// builtinPrompt is asked where no probe is configured.
func builtinPrompt() *prompt {
	p := &prompt{used: true}
	p.Name = "chat"
	p.name.text = "chat"
	p.Messages = []wire.Message{{Role: "user", Content: "Explain continuous batching in three sentences."}}
	p.MaxTokens = probe.DefaultMaxTokens
	return p
}

// DefaultPrompt is the prompt of the built-in probe, and what a probe by hand
// asks if nothing else is said.
func DefaultPrompt() probe.Prompt { return builtinPrompt().Prompt }

// builtinEvery is how often the built-in probe runs.
const builtinEvery = time.Minute

// maxWatches bounds the product of targets, models and probes. Shards load the
// whole file, so it is well above what one daemon can run.
const maxWatches = 20_000

func (b *builder) build() *Config {
	b.checkNames()
	for _, t := range b.targets {
		t.complete(b.opts.noPresetKey)
		t.auth.validate(b.opts.Dir)
		b.contents = append(b.contents, t.auth.authorities()...)
	}
	b.index()
	if !b.hasProbes {
		b.probes = []*schedule{{name: item{text: "chat", at: b.root}, every: builtinEvery, at: b.root, limitsAt: b.root}}
	}
	var r roster.Roster
	for _, t := range b.targets {
		r.Targets = append(r.Targets, t.roster())
	}
	for _, s := range b.probes {
		if r.Watches = append(r.Watches, b.watches(s)...); len(r.Watches) > maxWatches {
			s.at.bad("", "makes more than %d probes in all (a daemon holds about 1,000); narrow targets and models, or split the file", maxWatches)
			break
		}
	}
	for _, s := range b.sweeps {
		r.Sweeps = append(r.Sweeps, b.ladders(s)...)
	}
	for _, p := range b.slos {
		r.SLOs = append(r.SLOs, p.SLO)
	}
	b.checkUse(r)
	r.SLOHash = roster.RulesHash(r)
	cfg := &Config{Canary: b.canary, History: b.history, targets: b.targets, roster: r, opts: b.opts, prompts: map[string]probe.Prompt{}}
	cfg.StateFile = config.JoinDir(b.opts.Dir, b.state)
	cfg.KillSwitchFile = config.JoinDir(b.opts.Dir, b.kill)
	for name, p := range b.asked {
		cfg.prompts[name] = p.Prompt
	}
	return cfg
}

func (b *builder) checkNames() {
	names := func(n int, at func(int) item) []item {
		var items []item
		for i := range n {
			items = append(items, at(i))
		}
		return items
	}
	unique("targets", names(len(b.targets), func(i int) item { return b.targets[i].name }))
	unique("prompts", names(len(b.prompts), func(i int) item { return b.prompts[i].name }))
	unique("probes", names(len(b.probes), func(i int) item { return b.probes[i].name }))
	unique("sweeps", names(len(b.sweeps), func(i int) item { return b.sweeps[i].name }))
	unique("slos", names(len(b.slos), func(i int) item { return b.slos[i].name }))
}

// index makes prompts and promises findable by name and reads prompt files.
func (b *builder) index() {
	b.promises, b.asked, b.usedSLO = map[string]*promise{}, map[string]*prompt{"chat": builtinPrompt()}, map[string]bool{}
	for _, p := range b.prompts {
		b.readFile(p)
		if p.MaxTokens == 0 {
			p.MaxTokens = probe.DefaultMaxTokens
		}
		b.asked[p.name.text] = p
	}
	for _, p := range b.slos {
		b.promises[p.name.text] = p
	}
}

// watches expands one probe over its targets and models.
func (b *builder) watches(s *schedule) []roster.Watch {
	places := b.places(s.targets, s.models)
	p := b.promptNamed(s.prompt, s.at)
	limits := s.checkLimits()
	var promises []slo.SLO
	for _, it := range s.slos {
		if pr := b.sloNamed(it); pr != nil {
			promises = append(promises, pr.SLO)
			checkPromise(s, p, pr, limits)
		}
	}
	if p == nil {
		return nil
	}
	if long := roster.EstimateInput(p.Prompt); long > longInput && len(s.targets) == 0 {
		s.at.bad(fmt.Sprintf("about %d input tokens", long), "a long prompt is dear, so its probe names who gets it; write targets: [NAME]")
	}
	var list []roster.Watch
	for _, at := range places {
		w := roster.Watch{
			ID:    probe.ID{Target: at.target.name.text, Model: at.model, Probe: s.name.text},
			Every: s.every, Cron: s.cron, Zone: s.zone, AllowOverlap: s.overlap, SLOs: promises,
		}
		if w.Cron != "" {
			w.Every = 0
		}
		w.Spec = probe.Spec{ID: w.ID, Protocol: first(s.protocol, at.target.protocol), Prompt: at.target.ask(p), Limits: limits, Reuse: at.target.reuse}
		if s.reuse != nil {
			w.Spec.Reuse = *s.reuse
		}
		w.Spec.KeepText = p.Expect.Regex != ""
		w.Hash = roster.Hash(w)
		list = append(list, w)
	}
	return list
}

// longInput is the estimated size in tokens from which on a prompt counts as
// long.
const longInput = 2000

// ask is the prompt with the target's params under its own.
func (t *target) ask(p *prompt) probe.Prompt {
	q := p.Prompt
	if len(t.params) > 0 {
		params := maps.Clone(t.params)
		maps.Copy(params, p.Params)
		q.Params = params
	}
	return q
}

// ladders expands one sweep over its targets and models.
func (b *builder) ladders(s *sweep) []roster.Sweep {
	places := b.places(s.targets, s.models)
	sw := s.Sweep
	if s.prompt != nil {
		if p := b.promptNamed(s.prompt, s.at); p != nil {
			sw.Prompt = &p.Prompt
		}
	}
	if s.slo != nil {
		if p := b.sloNamed(*s.slo); p != nil {
			sw.SLO = &p.SLO
		}
	}
	s.checkTime()
	var list []roster.Sweep
	for _, at := range places {
		one := sw
		one.Target, one.Model, one.Protocol = at.target.name.text, at.model, first(sw.Protocol, at.target.protocol)
		if sw.Prompt != nil {
			p := *sw.Prompt
			p.Params = at.target.ask(&prompt{Prompt: p}).Params
			one.Prompt = &p
		} else if len(at.target.params) > 0 {
			one.Params = maps.Clone(at.target.params)
		}
		if one.KeyEnv == "" && at.target.auth.given() {
			s.at.warn("", "sweeps of %s use the key of its probes, so they share a quota with production if that does; write api_key_env: NAME for a key of their own", one.Target)
		}
		if len(list) == 0 {
			s.checkRuns(one)
		}
		if len(list) == 0 || list[len(list)-1].Target != one.Target { // models of a target cost the same
			s.checkBudget(one, at.target.budget.SweepTokensPerDay)
		}
		one.Hash = roster.Hash(one)
		list = append(list, one)
	}
	return list
}

func (t *target) roster() roster.Target {
	r := roster.Target{
		Name: t.name.text, Provider: t.provider.text, Protocol: t.protocol, BaseURL: t.baseURL,
		Labels: t.labels, Budget: t.budget, Price: t.price, HealthURL: t.health, ServerMetrics: t.metrics, Maintenance: t.maintenance,
	}
	for _, m := range t.models {
		r.Models = append(r.Models, m.text)
	}
	r.Hash = t.connectionHash()
	return r
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
