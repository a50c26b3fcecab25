package configs

import (
	"strings"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// promise is one element of slos.
type promise struct {
	slo.SLO
	name item
	at   node
	// below remembers the place of each threshold.
	below map[slo.SLI]node
}

func (f *file) readSLO(n node) {
	p := &promise{at: n, below: map[slo.SLI]node{}}
	p.Window, p.Alerting = 30*day, slo.Page
	schema := keys{
		"name":       func(n node) { p.name = n.name() },
		"window":     func(n node) { p.Window = n.duration(time.Hour, longest) },
		"conditions": p.readConditions,
		"alerting":   func(n node) { p.Alerting = slo.Alerting(n.oneOf("page", "ticket", "off")) },
		"kinds":      p.readKinds,
		"success": func(n node) {
			p.Objectives = append(p.Objectives, slo.Objective{SLI: slo.Success, Ratio: n.ratio()})
		},
	}
	for _, sli := range slo.SLIs()[1:] {
		schema[string(sli)] = func(n node) { p.readLatency(n, sli) }
	}
	if !n.object(schema, "name") {
		return
	}
	if len(p.Objectives) == 0 {
		n.bad("", "promises nothing; write success: 99.5%% or ttft: {below: 1.5s, objective: 95%%}")
	}
	p.Name = p.name.text
	f.slos = append(f.slos, p)
}

func (p *promise) readLatency(n node, sli slo.SLI) {
	o := slo.Objective{SLI: sli}
	ok := n.object(keys{
		"below":     func(n node) { o.Below = n.duration(time.Microsecond, day); p.below[sli] = n },
		"objective": func(n node) { o.Ratio = n.ratio() },
	}, "below", "objective")
	if ok {
		p.Objectives = append(p.Objectives, o)
	}
}

func (p *promise) readConditions(n node) {
	n.object(keys{
		"input_tokens_p95":  func(n node) { p.Conditions.InputTokensP95 = int(n.integer(1, maxTokens)) },
		"output_tokens_p95": func(n node) { p.Conditions.OutputTokensP95 = int(n.integer(1, maxTokens)) },
		"rate":              func(n node) { p.Conditions.Rate = n.number(0, "requests per second, a number over 0") },
	})
}

func (p *promise) readKinds(n node) {
	p.Kinds = map[probe.Outcome]probe.Kind{}
	var known []string
	for _, o := range probe.Outcomes()[1:] {
		known = append(known, string(o))
	}
	n.entries(func(key string, value node) {
		kind := value.oneOf("service", "answer", "ours")
		for _, o := range known {
			if o == key {
				p.Kinds[probe.Outcome(key)] = probe.Kind(kind)
				return
			}
		}
		value.bad(quote(key), "is no outcome; known: %s", strings.Join(known, ", "))
	})
}
