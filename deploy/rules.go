package deploy

import (
	"fmt"

	"tokprobe/exporter/catalog"
	"tokprobe/probe/roster"
)

// Rules makes the rule file for a roster. An error names what would make a
// broken file, or one that watches nothing, and what to change.
func Rules(r roster.Roster, opts Options) (RuleFile, error) {
	o := opts.withDefaults()
	if err := o.check(); err != nil {
		return RuleFile{}, fmt.Errorf("rules: %w", err)
	}
	if err := checkNames(r); err != nil {
		return RuleFile{}, fmt.Errorf("rules: %w", err)
	}
	g, err := newGen(r, o)
	if err != nil {
		return RuleFile{}, fmt.Errorf("rules: %w", err)
	}
	burns, err := g.burns()
	if err != nil {
		return RuleFile{}, fmt.Errorf("rules: %w", err)
	}
	f := RuleFile{Comments: g.header(), Warnings: burns.warnings}
	f.Comments = append(f.Comments, burns.comments...)
	f.Groups = append(f.Groups, g.targetGroup())
	f.Groups = append(f.Groups, burns.groups...)
	f.Groups = append(f.Groups, g.downGroup(), g.regressionRecords(), g.regressionAlerts(), g.outcomeGroup())
	f.Groups = append(f.Groups, g.sweepGroups()...)
	f.Groups = append(f.Groups, g.proberGroup(), g.resourceGroup())
	f.Groups = dropEmpty(f.Groups)
	for i := range f.Groups {
		if f.Groups[i].Interval == "" {
			f.Groups[i].Interval = catalog.Range(o.EvalInterval)
		}
	}
	if _, err := f.YAML(); err != nil {
		return RuleFile{}, err
	}
	return f, nil
}

func (g gen) header() []string {
	return []string{
		"Prometheus rules of tokprobe, generated from its configuration by `tokprobe rules`.",
		"Do not edit: change the configuration and generate again. slo_hash " + g.hash() + ".",
		"severity: page wakes someone, ticket is for working hours, none is the watchdog.",
		"",
	}
}

// hash is what tokprobe_config_info must carry for these rules to be current.
func (g gen) hash() string {
	if g.r.SLOHash != "" {
		return g.r.SLOHash
	}
	return roster.RulesHash(g.r)
}

func dropEmpty(groups []Group) []Group {
	var kept []Group
	for _, g := range groups {
		if len(g.Rules) > 0 {
			kept = append(kept, g)
		}
	}
	return kept
}

// targetGroup records the labels of each target, so that alerts can carry them.
// They stand in the rules and not in tokprobe_target_info, since two daemons
// in the middle of a rollout may show two of those for one target, and a join
// with two partners is an error: a page that fails. A target that came after
// the rules were made has no labels, but is watched.
func (g gen) targetGroup() Group {
	group := Group{Name: "tokprobe-targets"}
	if len(g.labels) == 0 {
		return group
	}
	for _, t := range g.r.Targets {
		labels := map[string]string{catalog.LabelTarget: t.Name}
		for k, v := range t.Labels {
			labels[k] = v
		}
		group.Rules = append(group.Rules, Rule{Record: labelsInfo, Expr: "vector(1)", Labels: labels})
	}
	unknown := catalog.Sel(catalog.TargetInfo, noneOf(catalog.LabelTarget, g.targets))
	group.Rules = append(group.Rules, Rule{Record: labelsInfo, Expr: catalog.Max(unknown, catalog.LabelTarget)})
	return group
}
