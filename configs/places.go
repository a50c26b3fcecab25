package configs

import ()

// place is one model of one target that a probe or sweep goes to.
type place struct {
	target *target
	model  string
}

// places finds the models that globs choose; no globs choose all. Every glob
// must choose something.
func (b *builder) places(targets, models []item) []place {
	var chosen []*target
	var names []string
	used := make([]bool, len(targets))
	for _, t := range b.targets {
		names = append(names, t.name.text)
		if matches(targets, used, t.name.text) {
			chosen = append(chosen, t)
		}
	}
	unmatched(targets, used, "target", names)
	var found []place
	var ids []string
	used = make([]bool, len(models))
	for _, t := range chosen {
		for _, m := range t.models {
			ids = append(ids, m.text)
			if m.text != "" && matches(models, used, m.text) {
				found = append(found, place{t, m.text})
			}
		}
	}
	if len(chosen) > 0 {
		unmatched(models, used, "model of these targets", ids)
	}
	return found
}

func matches(globs []item, used []bool, s string) bool {
	ok := len(globs) == 0
	for i, g := range globs {
		if glob(g.text, s) {
			used[i], ok = true, true
		}
	}
	return ok
}

func unmatched(globs []item, used []bool, what string, names []string) {
	for i, g := range globs {
		if used[i] {
			continue
		}
		mend := "there are: " + listed(names)
		if near := nearest(g.text, names); near != "" {
			mend = "write " + near + "?"
		}
		g.at.bad(quote(g.text), "is no %s; %s", what, mend)
	}
}

func (b *builder) promptNamed(it *item, at node) *prompt {
	name := "chat"
	if it != nil {
		name, at = it.text, it.at
	}
	p, ok := b.asked[name]
	if !ok && name != "" {
		names := sortedKeys(b.asked)
		mend := "there are: " + listed(names)
		if near := nearest(name, names); near != "" {
			mend = "write " + near + "?"
		}
		at.bad(quote(name), "is no prompt; %s", mend)
		return nil
	}
	if ok {
		p.used = true
	}
	return p
}

func (b *builder) sloNamed(it item) *promise {
	p, ok := b.promises[it.text]
	if ok {
		b.usedSLO[it.text] = true
		return p
	}
	mend := "write one under slos:"
	if names := sortedKeys(b.promises); len(names) > 0 {
		mend = "there are: " + listed(names)
		if near := nearest(it.text, names); near != "" {
			mend = "write " + near + "?"
		}
	}
	it.at.bad(quote(it.text), "is no SLO; %s", mend)
	return nil
}
