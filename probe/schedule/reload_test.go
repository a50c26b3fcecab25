package schedule

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// A reload in the middle of running probes: the unchanged watch notices
// nothing, the changed one ends its probe as it began, the removed one ends
// its probe and gets no more, the added one starts on its own grid.
func TestReloadTouchesOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		names := ids("kept", "changed", "removed", "added")
		kept, changed, removed, added := names[0], names[1], names[2], names[3]
		s := run(t, Config{Recorder: rec, Prober: proberFunc(func(ctx context.Context, spec probe.Spec) probe.Result {
			r := takes(9*time.Second)(ctx, spec)
			r.Protocol = spec.Protocol
			return r
		})}, plain(watch(kept, 10*time.Second), watch(changed, 10*time.Second), watch(removed, 10*time.Second)))
		first := s.Next(kept)
		firstChanged := s.Next(changed)
		for s.Running() < 3 { // until all three run at once
			time.Sleep(500 * time.Millisecond)
		}
		ranBefore := rec.count(changed).started
		goneBefore := rec.count(removed).started

		next := watch(changed, 10*time.Second)
		next.Spec.Protocol = "anthropic-messages"
		if err := s.Apply(plain(watch(kept, 10*time.Second), next, watch(added, 10*time.Second))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		stop(t, s)

		for i, tick := range rec.starts(kept) {
			if want := first.Add(time.Duration(i) * 10 * time.Second); !tick.Due.Equal(want) {
				t.Fatalf("kept: tick %d due %s, want %s", i, tick.Due, want)
			}
		}
		for _, tick := range rec.starts(changed) {
			if tick.Due.Sub(firstChanged)%(10*time.Second) != 0 {
				t.Fatalf("changed: due %s left the grid", tick.Due)
			}
		}
		done := 0
		for _, tick := range rec.all() {
			if tick.ID != changed || tick.Stage != probe.TickDone {
				continue
			}
			want := "anthropic-messages"
			if done < ranBefore {
				want = "" // began before the reload
			}
			if tick.Result.Protocol != want {
				t.Fatalf("changed: probe %d used %q, want %q", done, tick.Result.Protocol, want)
			}
			done++
		}
		if c := rec.count(removed); c.started != goneBefore || c.done != goneBefore {
			t.Errorf("removed: %+v, want %d started and done", c, goneBefore)
		}
		if c := rec.count(added); c.started != 60 || c.done != 60 {
			t.Errorf("added: %+v, want 60 in 10 minutes", c)
		}
		if !s.Next(removed).IsZero() || len(s.watches) != 3+1 {
			t.Errorf("removed: next %s, %d workers", s.Next(removed), len(s.watches))
		}
	})
}

// A watch that leaves and comes back while its probe runs never runs twice at
// once.
func TestReturningWatchRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(25 * time.Second), Recorder: rec}, plain(watch(id, 10*time.Second)))
		for s.Running() == 0 {
			time.Sleep(time.Second)
		}
		for range 3 {
			if err := s.Apply(plain()); err != nil {
				t.Fatal(err)
			}
			if err := s.Apply(plain(watch(id, 10*time.Second))); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Minute)
		stop(t, s)
		var last time.Time
		for _, tick := range rec.starts(id) {
			if !last.IsZero() && tick.Started.Sub(last) < 25*time.Second {
				t.Fatalf("started again after %s", tick.Started.Sub(last))
			}
			last = tick.Started
		}
		if c := rec.count(id); c.due != c.started+c.skips[probe.SkipOverlap] || c.started < 10 {
			t.Errorf("%+v", c)
		}
	})
}

// A new interval takes effect with its own phase; the old one leaves no tick.
func TestChangedInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(0), Recorder: rec}, plain(watch(id, 10*time.Second)))
		time.Sleep(time.Minute)
		if err := s.Apply(plain(watch(id, 4*time.Second))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		stop(t, s)
		starts := rec.starts(id)
		if len(starts) != 6+15 {
			t.Fatalf("%d starts, want 6 + 15", len(starts))
		}
		for i, tick := range starts[6:] {
			if got, want := time.Duration(tick.Due.UnixNano())%(4*time.Second), roster.Phase(id, 4*time.Second); got != want {
				t.Fatalf("tick %d at %s of 4 s, want %s", i, got, want)
			}
		}
	})
}

// 200 reloads that keep, change, drop and add: no tick of the kept watch is
// lost and no goroutine stays behind.
func TestManyReloadsLeakNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		kept := ids("kept")[0]
		at := func(n int) roster.Roster {
			r := plain(watch(kept, time.Second))
			for i := range 20 {
				w := watch(ids(fmt.Sprintf("w%d", (i+n)%30))[0], time.Second)
				if i%2 == n%2 {
					w.Every = 2 * time.Second
				}
				r.Watches = append(r.Watches, w)
			}
			return r
		}
		s := run(t, Config{Prober: takes(300 * time.Millisecond), Recorder: rec}, at(0))
		first := s.Next(kept)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		before := runtime.NumGoroutine() - s.Running()
		for n := range 200 {
			if err := s.Apply(at(n)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(330 * time.Millisecond)
		}
		synctest.Wait()
		if after := runtime.NumGoroutine() - s.Running(); after > before {
			t.Errorf("%d goroutines before, %d after 200 reloads", before, after)
		}
		end := time.Now()
		stop(t, s)
		if want := int(end.Sub(first)/time.Second) + 1; len(rec.starts(kept)) != want {
			t.Errorf("kept: %d ticks, want %d", len(rec.starts(kept)), want)
		}
		if c := rec.count(probe.ID{}); c.due != c.started+c.skips[probe.SkipOverlap] || c.started != c.done {
			t.Errorf("%+v: due is not started + skipped, or a result is missing", c)
		}
		if len(s.watches) > 21+20 {
			t.Errorf("%d workers are kept", len(s.watches))
		}
	})
}

func TestApplyRefusesAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(0), Recorder: &tape{}}, plain(watch(id, 10*time.Second)))
		bad := plain(watch(ids("new")[0], time.Second), roster.Watch{ID: ids("none")[0]},
			roster.Watch{ID: ids("cron")[0], Cron: "nonsense"}, watch(ids("new")[0], time.Second))
		bad.Targets[0].Maintenance = []roster.Window{{Cron: "x", Duration: time.Hour}}
		err := s.Apply(bad)
		if again := Check(bad); again == nil || again.Error() != err.Error() {
			t.Errorf("Check says %v", again)
		}
		if err := Check(plain(watch(id, time.Second))); err != nil {
			t.Errorf("Check of a good roster: %v", err)
		}
		want := "target t: maintenance[0]: cron \"x\" in zone \"\": expected exactly 5 fields, found 1: [x]; write five fields: minute hour day month weekday\n" +
			"probe t/org/m/none: needs either an interval above 0 or a cron, has every 0s and cron \"\"\n" +
			"probe t/org/m/cron: cron \"nonsense\" in zone \"\": expected exactly 5 fields, found 1: [nonsense]; write five fields: minute hour day month weekday\n" +
			"probe t/org/m/new is listed twice"
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if s.Next(id).IsZero() || !s.Next(ids("new")[0]).IsZero() {
			t.Error("a refused roster changed something")
		}
		stop(t, s)
		if err := s.Apply(plain()); err == nil {
			t.Error("Apply after Shutdown is no error")
		}
	})
}

// Putting the watches back onto the grid (as after a step of the wall clock)
// in the middle of a running probe loses and doubles nothing.
func TestRephase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(5 * time.Second), Recorder: rec}, plain(watch(id, 10*time.Second)))
		first := s.Next(id)
		for range 97 {
			time.Sleep(1700 * time.Millisecond)
			s.rephase()
		}
		end := time.Now()
		stop(t, s)
		starts := rec.starts(id)
		if want := int(end.Sub(first)/(10*time.Second)) + 1; len(starts) != want {
			t.Fatalf("%d starts, want %d", len(starts), want)
		}
		for i, tick := range starts {
			if want := first.Add(time.Duration(i) * 10 * time.Second); !tick.Due.Equal(want) {
				t.Fatalf("tick %d due %s, want %s", i, tick.Due, want)
			}
		}
	})
}

func TestWallMoved(t *testing.T) {
	for _, c := range []struct{ wall, mono, want time.Duration }{
		{time.Hour, time.Hour, 0},
		{time.Hour + 400*time.Millisecond, time.Hour, 0},
		{2 * time.Hour, time.Hour, time.Hour},
		{-time.Hour, time.Second, -time.Hour - time.Second},
	} {
		if got := wallMoved(c.wall, c.mono); got != c.want {
			t.Errorf("wall %s mono %s: %s, want %s", c.wall, c.mono, got, c.want)
		}
	}
}
