package roster

import (
	"reflect"

	"tokprobe/probe"
)

// Changes is what a new roster asks for compared with the running one. Each
// list is in the order of the new roster, removed ones in that of the old.
type Changes struct {
	// Added, Removed, Changed and Kept are probes. A kept one must not notice
	// the reload at all.
	Added, Removed, Changed, Kept []probe.ID
	Targets                       TargetChanges
	Sweeps                        SweepChanges
	// Rules says that generated rules are out of date.
	Rules bool
}

// TargetChanges are the changes of targets by name.
type TargetChanges struct {
	Added, Removed []string
	Reconnect      []string // the way to them changed: a new endpoint is needed
	Updated        []string // only labels, budget, price, windows or models changed
	Kept           []string
}

// SweepChanges are the changes of sweeps.
type SweepChanges struct {
	Added, Removed, Changed, Kept []SweepKey
}

// Empty says that nothing changed.
func (c Changes) Empty() bool {
	t, s := c.Targets, c.Sweeps
	return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 && !c.Rules &&
		len(t.Added)+len(t.Removed)+len(t.Reconnect)+len(t.Updated) == 0 &&
		len(s.Added)+len(s.Removed)+len(s.Changed) == 0
}

// Diff compares two rosters by identity and hash.
func Diff(old, new Roster) Changes {
	c := Changes{Rules: old.SLOHash != new.SLOHash}
	w := compare(old.Watches, new.Watches, func(w Watch) (probe.ID, string) { return w.ID, w.Hash })
	c.Added, c.Removed, c.Changed, c.Kept = w.added, w.removed, w.changed, w.kept
	s := compare(old.Sweeps, new.Sweeps, func(s Sweep) (SweepKey, string) { return s.Key(), s.Hash })
	c.Sweeps = SweepChanges{s.added, s.removed, s.changed, s.kept}
	t := compare(old.Targets, new.Targets, func(t Target) (string, string) { return t.Name, t.Hash })
	c.Targets = TargetChanges{Added: t.added, Removed: t.removed, Reconnect: t.changed}
	before, after := byName(old), byName(new)
	for _, name := range t.kept {
		if reflect.DeepEqual(before[name], after[name]) {
			c.Targets.Kept = append(c.Targets.Kept, name)
		} else {
			c.Targets.Updated = append(c.Targets.Updated, name)
		}
	}
	return c
}

func byName(r Roster) map[string]Target {
	m := map[string]Target{}
	for _, t := range r.Targets {
		m[t.Name] = t
	}
	return m
}

type delta[K comparable] struct{ added, removed, changed, kept []K }

func compare[T any, K comparable](old, new []T, key func(T) (K, string)) delta[K] {
	var d delta[K]
	before := map[K]string{}
	for _, x := range old {
		k, hash := key(x)
		before[k] = hash
	}
	after := map[K]bool{}
	for _, x := range new {
		k, hash := key(x)
		after[k] = true
		switch was, known := before[k]; {
		case !known:
			d.added = append(d.added, k)
		case was != hash:
			d.changed = append(d.changed, k)
		default:
			d.kept = append(d.kept, k)
		}
	}
	for _, x := range old {
		if k, _ := key(x); !after[k] {
			d.removed = append(d.removed, k)
		}
	}
	return d
}
