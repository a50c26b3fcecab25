package roster

import (
	"reflect"
	"testing"

	"tokprobe/probe"
)

func TestDiff(t *testing.T) {
	id := func(p string) probe.ID { return probe.ID{Target: "t", Model: "m", Probe: p} }
	old := Roster{
		SLOHash: "1",
		Targets: []Target{{Name: "gone", Hash: "x"}, {Name: "moved", Hash: "x"}, {Name: "same", Hash: "x"}, {Name: "priced", Hash: "x"}},
		Watches: []Watch{{ID: id("gone"), Hash: "x"}, {ID: id("kept"), Hash: "x"}, {ID: id("changed"), Hash: "x"}},
		Sweeps:  []Sweep{{Name: "a", Hash: "x"}, {Name: "b", Hash: "x"}, {Name: "c", Hash: "x"}},
	}
	new := Roster{
		SLOHash: "2",
		Targets: []Target{{Name: "moved", Hash: "y"}, {Name: "same", Hash: "x"}, {Name: "priced", Hash: "x", Price: &Price{Currency: "USD"}}, {Name: "fresh", Hash: "x"}},
		Watches: []Watch{{ID: id("changed"), Hash: "y"}, {ID: id("added"), Hash: "x"}, {ID: id("kept"), Hash: "x"}},
		Sweeps:  []Sweep{{Name: "d", Hash: "x"}, {Name: "b", Hash: "y"}, {Name: "c", Hash: "x"}},
	}
	want := Changes{
		Added: []probe.ID{id("added")}, Removed: []probe.ID{id("gone")}, Changed: []probe.ID{id("changed")}, Kept: []probe.ID{id("kept")},
		Targets: TargetChanges{Added: []string{"fresh"}, Removed: []string{"gone"}, Reconnect: []string{"moved"}, Updated: []string{"priced"}, Kept: []string{"same"}},
		Sweeps:  SweepChanges{Added: []SweepKey{{Sweep: "d"}}, Removed: []SweepKey{{Sweep: "a"}}, Changed: []SweepKey{{Sweep: "b"}}, Kept: []SweepKey{{Sweep: "c"}}},
		Rules:   true,
	}
	got := Diff(old, new)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Diff = %+v\nwant %+v", got, want)
	}
	if got.Empty() {
		t.Error("these changes are called empty")
	}
	if same := Diff(old, old); !same.Empty() || len(same.Kept) != 3 {
		t.Errorf("Diff with itself = %+v", same)
	}
}
