package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
)

// Probes of 70 s every 30 s for two hours: of three ticks one runs, the others
// are skipped and counted, none waits.
func TestSlowProbeSkipsAndCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("slow")[0]
		s := run(t, Config{Prober: takes(70 * time.Second), Recorder: rec}, plain(watch(id, 30*time.Second)))
		time.Sleep(2 * time.Hour)
		stop(t, s)
		c := rec.count(id)
		if c.due != 240 || c.started != 80 || c.skips[probe.SkipOverlap] != 160 || c.done != 80 {
			t.Errorf("%+v, want 240 due = 80 started + 160 overlap, 80 done", c)
		}
		for _, tick := range rec.starts(id) {
			if !tick.Due.Equal(tick.Started) {
				t.Fatalf("a tick waited from %s to %s", tick.Due, tick.Started)
			}
		}
	})
}

// 200 probes that hang do not delay the one that does not.
func TestSlowTargetDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		good := probe.ID{Target: "good", Model: "m", Probe: "p"}
		r := plain(watch(good, 10*time.Second))
		for i := range 200 {
			r.Watches = append(r.Watches, watch(probe.ID{Target: "bad", Model: string(rune('a' + i)), Probe: "p"}, 10*time.Second))
		}
		s := run(t, Config{Recorder: rec, Prober: proberFunc(func(ctx context.Context, spec probe.Spec) probe.Result {
			if spec.Target == "bad" {
				return takes(24*time.Second)(ctx, spec)
			}
			return takes(time.Second)(ctx, spec)
		})}, r)
		time.Sleep(10 * time.Minute)
		stop(t, s)
		if c := rec.count(good); c.due != 60 || c.started != 60 {
			t.Errorf("good: %+v, want 60 of 60 started", c)
		}
		for _, tick := range rec.starts(good) {
			if !tick.Started.Equal(tick.Due) {
				t.Fatalf("good started %s late", tick.Started.Sub(tick.Due))
			}
		}
		if c := rec.count(probe.ID{}); c.due != c.started+c.skips[probe.SkipOverlap] || c.due != 201*60 {
			t.Errorf("all: %+v, want %d due = started + overlap", c, 201*60)
		}
	})
}

// A tick that comes 95 s late accounts for all four due moments: the earliest
// runs with its true lateness, the others are overlaps. Early ticks are none.
func TestLateTickAccountsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("late")[0]
		s, err := New(Config{Prober: takes(0), Recorder: rec})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(plain(watch(id, 30*time.Second))); err != nil {
			t.Fatal(err)
		}
		w := s.watches[id]
		due := w.plan.next(time.Now())
		w.expect(due)
		time.Sleep(time.Until(due) - time.Nanosecond)
		w.fire() // a nanosecond early
		if n := len(rec.all()); n != 0 {
			t.Fatalf("an early tick recorded %d", n)
		}
		time.Sleep(95*time.Second + 1)
		w.fire()
		synctest.Wait()
		w.fire() // gocron's own tick for a moment already accounted for
		synctest.Wait()
		defer stop(t, s)

		c := rec.count(id)
		if c.due != 4 || c.started != 1 || c.skips[probe.SkipOverlap] != 3 {
			t.Errorf("%+v, want 4 due = 1 started + 3 overlap", c)
		}
		if got := rec.starts(id)[0]; !got.Due.Equal(due) || got.Started.Sub(got.Due) != 95*time.Second {
			t.Errorf("started %s after its due, want 95s", got.Started.Sub(got.Due))
		}
		if want := due.Add(2 * time.Minute); !s.Next(id).Equal(want) {
			t.Errorf("next %s, want %s: still on the grid", s.Next(id), want)
		}
	})
}

func TestPanicBecomesInternal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		s := run(t, Config{Recorder: rec, Prober: proberFunc(func(context.Context, probe.Spec) probe.Result { panic("key sk-123") })},
			plain(watch(id, 10*time.Second)))
		time.Sleep(time.Minute)
		stop(t, s)
		if c := rec.count(id); c.due != 6 || c.started != 6 || c.done != 6 {
			t.Errorf("%+v, want 6 due, started and done", c)
		}
		for _, tick := range rec.all() {
			if tick.Stage == probe.TickDone && (tick.Result.Outcome != probe.Internal || tick.Result.ID != id || tick.Result.Err != "tokprobe itself failed: panic of type string") {
				t.Errorf("result %+v", tick.Result)
			}
		}
	})
}

func TestRecorderPanicIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := ids("p")[0]
		rec := &tape{}
		s := run(t, Config{Prober: takes(0), Recorder: probe.Recorders{rec, bomb{}}}, plain(watch(id, 10*time.Second)))
		time.Sleep(time.Minute)
		stop(t, s)
		if c := rec.count(id); c.started != 6 || c.done != 6 {
			t.Errorf("%+v, want 6 started and done", c)
		}
	})
}

type bomb struct{}

func (bomb) Record(probe.Tick) { panic("boom") }
