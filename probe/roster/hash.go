package roster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// Hash is a short digest of the content of a Watch or a Sweep without
// its own Hash field. Equal content has equal hashes over restarts and
// versions that have the same fields.
func Hash(v any) string {
	switch x := v.(type) {
	case Watch:
		x.Hash = ""
		v = x
	case Sweep:
		x.Hash = ""
		v = x
	}
	data, err := json.Marshal(v)
	if err != nil { // params are JSON by construction; be stable if not
		data = fmt.Appendf(nil, "%#v", v)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// RulesHash changes with everything that generated rules depend on: which
// targets, probes, intervals, SLOs and sweeps there are, but not with prompts,
// keys, budgets or prices.
func RulesHash(r Roster) string {
	type target struct {
		Name, Selector string
		Models         []string
		Labels         map[string]string
		Health         bool
	}
	type watch struct {
		ID         probe.ID
		Every      time.Duration
		Cron, Zone string
		SLOs       []string
	}
	type sweep struct {
		Key            SweepKey
		Cron, Zone     string
		Scenario, Mode string
		Ladder         []float64
		MaxDuration    time.Duration
		Locations      []string
	}
	all := struct {
		SLOs    []slo.SLO
		Targets []target
		Watches []watch
		Sweeps  []sweep
	}{SLOs: r.SLOs}
	for _, t := range r.Targets {
		all.Targets = append(all.Targets, target{t.Name, t.ServerMetrics.Selector, t.Models, t.Labels, t.HealthURL != ""})
	}
	for _, w := range r.Watches {
		x := watch{w.ID, w.Every, w.Cron, w.Zone, nil}
		for _, s := range w.SLOs {
			x.SLOs = append(x.SLOs, s.Name)
		}
		all.Watches = append(all.Watches, x)
	}
	for _, s := range r.Sweeps {
		all.Sweeps = append(all.Sweeps, sweep{s.Key(), s.Cron, s.Zone, s.Scenario, s.Mode, s.Ladder, s.MaxDuration, s.Locations})
	}
	return Hash(all)
}
