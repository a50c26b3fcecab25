package roster

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"tokprobe/probe"
)

func TestParseShard(t *testing.T) {
	tests := []struct {
		give string
		i, n int
		err  string
	}{
		{"", 1, 1, ""},
		{"2/5", 2, 5, ""},
		{"5/5", 5, 5, ""},
		{"0/5", 0, 0, `shard "0/5": shards count from 1, so write 1/5 to 5/5`},
		{"6/5", 0, 0, `shard "6/5": shards count from 1, so write 1/5 to 5/5`},
		{"2", 0, 0, `shard "2": write i/n such as 2/5`},
		{"a/b", 0, 0, `shard "a/b": write i/n such as 2/5`},
		{"1/0", 0, 0, `shard "1/0": write 1 to 1000 shards`},
		{"1/1001", 0, 0, `shard "1/1001": write 1 to 1000 shards`},
	}
	for _, tt := range tests {
		i, n, err := ParseShard(tt.give)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if i != tt.i || n != tt.n || text != tt.err {
			t.Errorf("%q: %d/%d %q, want %d/%d %q", tt.give, i, n, text, tt.i, tt.n, tt.err)
		}
	}
}

// fleet is n models of n/2 targets with one probe each.
func fleet(n int) Roster {
	var r Roster
	for i := range n / 2 {
		t := Target{Name: fmt.Sprintf("vllm-%d", i), Models: []string{"small", "large"}, Budget: Budget{ProbeTokensPerDay: 1000}}
		r.Targets = append(r.Targets, t)
		for _, m := range t.Models {
			r.Watches = append(r.Watches, Watch{ID: probe.ID{Target: t.Name, Model: m, Probe: "chat"}, Every: time.Minute})
			r.Sweeps = append(r.Sweeps, Sweep{Name: "nightly", Target: t.Name, Model: m, Cron: "0 3 * * 0"})
		}
	}
	return r
}

// TestShardsPartition: every probe and sweep has exactly one owner, and those of
// a target's model the same.
func TestShardsPartition(t *testing.T) {
	r := fleet(200)
	owner := map[string]int{}
	watches, sweeps := 0, 0
	for i := 1; i <= 5; i++ {
		part := Shard(r, i, 5)
		watches += len(part.Watches)
		sweeps += len(part.Sweeps)
		for _, w := range part.Watches {
			owner[w.ID.Target+" "+w.ID.Model] = i
		}
		for _, s := range part.Sweeps {
			if owner[s.Target+" "+s.Model] != i {
				t.Errorf("sweep of %s %s is in shard %d, its probe in %d", s.Target, s.Model, i, owner[s.Target+" "+s.Model])
			}
		}
	}
	if watches != 200 || sweeps != 200 || len(owner) != 200 {
		t.Errorf("%d probes, %d sweeps, %d owners; want 200 of each", watches, sweeps, len(owner))
	}
}

// TestShardsBalance: 1,000 probes over n shards, and how many move from 5 to 6:
// all that move go to the new one, near a sixth.
func TestShardsBalance(t *testing.T) {
	r := fleet(1000)
	for _, n := range []int{2, 3, 5, 10} {
		var sizes []int
		for i := 1; i <= n; i++ {
			size := len(Shard(r, i, n).Watches)
			sizes = append(sizes, size)
			if mean := 1000 / n; size < mean*75/100 || size > mean*125/100 {
				t.Errorf("shard %d of %d holds %d, mean is %d", i, n, size, mean)
			}
		}
		t.Logf("%d shards: %v", n, sizes)
	}
	moved := 0
	for _, w := range r.Watches {
		five, six := ShardOf(w.ID.Target, w.ID.Model, 5), ShardOf(w.ID.Target, w.ID.Model, 6)
		if five != six {
			moved++
			if six != 6 {
				t.Fatalf("%v moved from %d to %d", w.ID, five, six)
			}
		}
	}
	t.Logf("5 to 6 shards: %d of 1000 move", moved)
	if moved < 130 || moved > 205 {
		t.Errorf("%d of 1,000 move from 5 to 6 shards, a sixth is 167", moved)
	}
}

// TestShardSplitsBudgets: all shards together spend a budget once.
func TestShardSplitsBudgets(t *testing.T) {
	r := Roster{
		Targets: []Target{{Name: "t", Models: []string{"a", "b", "c", "d"}, Budget: Budget{ProbeTokensPerDay: 1000, SweepTokensPerDay: 400}}},
		SLOHash: "h",
	}
	for _, m := range r.Targets[0].Models {
		every := time.Minute
		if m == "a" { // three times the tokens of each other: half of all
			every = 20 * time.Second
		}
		r.Watches = append(r.Watches, Watch{ID: probe.ID{Target: "t", Model: m, Probe: "p"}, Every: every})
	}
	var probes, sweeps int64
	for i := 1; i <= 3; i++ {
		part := Shard(r, i, 3)
		if part.SLOHash != "h" {
			t.Errorf("shard %d: SLO hash %q, want that of the whole", i, part.SLOHash)
		}
		for _, x := range part.Targets {
			want := int64(0)
			for _, m := range x.Models {
				if want += 166; m == "a" {
					want += 334
				}
			}
			if x.Budget.ProbeTokensPerDay < want || x.Budget.ProbeTokensPerDay > want+2 {
				t.Errorf("shard %d with %v may spend %d, want about %d", i, x.Models, x.Budget.ProbeTokensPerDay, want)
			}
			probes += x.Budget.ProbeTokensPerDay
			sweeps += x.Budget.SweepTokensPerDay
		}
	}
	if probes < 998 || probes > 1000 || sweeps != 400 {
		t.Errorf("all shards may spend %d and %d, want 1000 and 400", probes, sweeps)
	}
	if !reflect.DeepEqual(Shard(r, 1, 1), r) {
		t.Error("1/1 changes the roster")
	}
}
