package admit

import (
	"reflect"
	"sync"
	"testing"
	"time"
)

func TestLedgerDays(t *testing.T) {
	var l Ledger
	late := time.Date(2026, 3, 2, 23, 59, 59, 0, time.UTC)
	l.Spend(late, "a", ProbePurse, 100)
	l.Spend(late, "a", ProbePurse, 11)
	l.Spend(late, "a", SweepPurse, 7)
	l.Spend(late, "a", ProbePurse, -5)
	for _, c := range []struct {
		at     time.Time
		target string
		purse  Purse
		want   int64
	}{
		{late, "a", ProbePurse, 111},
		{late, "a", SweepPurse, 7},
		{late, "b", ProbePurse, 0},
		{late.In(time.FixedZone("", 8*3600)), "a", ProbePurse, 111}, // the day is UTC's
		{late.Add(time.Second), "a", ProbePurse, 0},
		{late.Add(-24 * time.Hour), "a", ProbePurse, 111}, // a clock set back refills nothing
	} {
		if got := l.Spent(c.at, c.target, c.purse); got != c.want {
			t.Errorf("%s %s at %s: %d, want %d", c.target, c.purse, c.at, got, c.want)
		}
	}
	l.Spend(late.Add(time.Second), "a", ProbePurse, 1)
	l.Spend(late, "a", ProbePurse, 2)
	if got := l.Spent(late.Add(time.Second), "a", ProbePurse); got != 3 {
		t.Errorf("%d after the clock went back over midnight, want 3", got)
	}
}

func TestLedgerSnapshot(t *testing.T) {
	var l, again Ledger
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
	l.Spend(now, "b", SweepPurse, 5)
	l.Spend(now, "a", SweepPurse, 4)
	l.Spend(now, "a", ProbePurse, 3)
	want := []Entry{{"a", ProbePurse, "2026-03-02", 3}, {"a", SweepPurse, "2026-03-02", 4}, {"b", SweepPurse, "2026-03-02", 5}}
	if got := l.Snapshot(); !reflect.DeepEqual(got, want) {
		t.Errorf("snapshot %v, want %v", got, want)
	}
	again.Restore(l.Snapshot())
	again.Restore(l.Snapshot())
	again.Restore([]Entry{
		{"a", ProbePurse, "2026-03-01", 999}, // older
		{"a", SweepPurse, "2026-03-02", 2},   // smaller
		{"b", SweepPurse, "2026-03-02", -1},
		{"b", "other", "2026-03-02", 9},
		{"", ProbePurse, "2026-03-02", 9},
		{"c", ProbePurse, "yesterday", 9},
	})
	if got := again.Snapshot(); !reflect.DeepEqual(got, want) {
		t.Errorf("restored %v, want %v", got, want)
	}
}

func TestLedgerConcurrent(t *testing.T) {
	var l Ledger
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				l.Spend(noon, "a", ProbePurse, 1)
			}
		})
	}
	wg.Wait()
	if got := l.Spent(noon, "a", ProbePurse); got != 8000 {
		t.Errorf("%d, want 8000", got)
	}
}
