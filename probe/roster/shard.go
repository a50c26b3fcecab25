package roster

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxShards bounds --shard.
const maxShards = 1000

// ParseShard reads "2/5": the second of five shards, counted from 1. Ordinal o
// of a StatefulSet (counted from 0) is shard o+1. Empty is 1/1, everything.
func ParseShard(s string) (i, n int, err error) {
	if s == "" {
		return 1, 1, nil
	}
	a, b, ok := strings.Cut(s, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	switch {
	case !ok || errI != nil || errN != nil:
		return 0, 0, fmt.Errorf("shard %q: write i/n such as 2/5", s)
	case n < 1 || n > maxShards:
		return 0, 0, fmt.Errorf("shard %q: write 1 to %d shards", s, maxShards)
	case i < 1 || i > n:
		return 0, 0, fmt.Errorf("shard %q: shards count from 1, so write 1/%d to %d/%d", s, n, n, n)
	}
	return i, n, nil
}

// ShardOf says which of n shards, 1 to n, owns a model of a target. Every shard
// has a weight for it and the heaviest wins, so a shard more takes only what it
// then owns: of 1,000 probes some 167 move from 5 to 6.
func ShardOf(target, model string, n int) int {
	best, heaviest := 1, uint64(0)
	for i := 1; i <= n; i++ {
		if w := hash64(target, model, strconv.Itoa(i)); w > heaviest {
			best, heaviest = i, w
		}
	}
	return best
}

// Shard returns the part of a roster that shard i of n owns: all probes and
// sweeps of a target's model stay together, so that a sweep finds its probes
// in its own process. Targets keep the models they have here and vanish without
// any; their budgets shrink to the share of the tokens that is spent here, so
// that all shards together spend the budget once. SLOHash stays: rules are
// made for the whole.
func Shard(r Roster, i, n int) Roster {
	if n <= 1 {
		return r
	}
	part := Roster{SLOs: r.SLOs, SLOHash: r.SLOHash}
	mine := func(target, model string) bool { return ShardOf(target, model, n) == i }
	for _, w := range r.Watches {
		if mine(w.ID.Target, w.ID.Model) {
			part.Watches = append(part.Watches, w)
		}
	}
	for _, s := range r.Sweeps {
		if mine(s.Target, s.Model) {
			part.Sweeps = append(part.Sweeps, s)
		}
	}
	all, here := tokensOf(r), tokensOf(part)
	for _, t := range r.Targets {
		var models []string
		for _, m := range t.Models {
			if mine(t.Name, m) {
				models = append(models, m)
			}
		}
		if len(models) == 0 {
			continue
		}
		share := float64(len(models)) / float64(len(t.Models))
		t.Models = models
		t.Budget.ProbeTokensPerDay = shareOf(t.Budget.ProbeTokensPerDay, here[t.Name].probes, all[t.Name].probes, share)
		t.Budget.SweepTokensPerDay = shareOf(t.Budget.SweepTokensPerDay, here[t.Name].sweeps, all[t.Name].sweeps, share)
		part.Targets = append(part.Targets, t)
	}
	return part
}

// shareOf splits a budget by the tokens of this part over those of all, or by
// share where there are none. A budget that exists stays one: 0 would be no
// bound.
func shareOf(budget int64, here, all, share float64) int64 {
	if budget == 0 {
		return 0
	}
	if all > 0 {
		share = here / all
	}
	return max(1, int64(math.Floor(float64(budget)*share)))
}

type spend struct{ probes, sweeps float64 }

// tokensOf forecasts the tokens a day of each target.
func tokensOf(r Roster) map[string]spend {
	m := map[string]spend{}
	f := ForecastDay(r, forecastDay)
	for _, w := range f.Probes {
		s := m[w.ID.Target]
		s.probes += w.Tokens()
		m[w.ID.Target] = s
	}
	for _, w := range f.Sweeps {
		s := m[w.Key.Target]
		// A weekly sweep must count on the days it does not run, too.
		s.sweeps += w.TokensEach
		m[w.Key.Target] = s
	}
	return m
}
