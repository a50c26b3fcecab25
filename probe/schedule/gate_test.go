package schedule

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

// A sweep of 100 s: others skip with reason sweep, the bystander goes on and
// is marked, as is the probe that was running when the sweep began; a model
// beside it notices nothing.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		names := ids("bystander", "other")
		by, other := names[0], names[1]
		elsewhere := probe.ID{Target: "t", Model: "org/m2", Probe: "other"}
		s := run(t, Config{Prober: takes(4 * time.Second), Recorder: rec},
			plain(watch(by, 10*time.Second), watch(other, 10*time.Second), watch(elsewhere, 10*time.Second)))
		time.Sleep(100 * time.Second)
		time.Sleep(time.Until(s.Next(other)) + time.Second) // other runs
		before, marked := rec.count(other), rec.count(elsewhere)
		release := s.Hold("t", "org/m", by)
		began := time.Now()
		time.Sleep(100 * time.Second)
		release()
		release() // twice is once
		ended := time.Now()
		c := rec.count(other)
		if got := c.skips[probe.SkipSweep]; got != 10 || c.started != before.started || c.due != before.due+10 {
			t.Errorf("other: %+v after %+v, want 10 skips for the sweep", c, before)
		}
		if got := rec.count(elsewhere); got.started != marked.started+10 || len(got.skips) != 0 {
			t.Errorf("elsewhere: %+v after %+v, want 10 more and no skip", got, marked)
		}
		time.Sleep(100 * time.Second)
		stop(t, s)
		if got := rec.count(other); got.started != before.started+10 || got.skips[probe.SkipSweep] != 10 {
			t.Errorf("other afterwards: %+v, want 10 more starts", got)
		}
		for _, tick := range rec.all() {
			inside := !tick.Started.Before(began) && tick.Started.Before(ended)
			disturbed := tick.Started.Before(ended) && tick.Started.Add(4*time.Second).After(began)
			want := false
			switch {
			case tick.Skip != probe.NotSkipped || tick.ID == elsewhere:
			case tick.Stage == probe.TickDue:
				want = inside
			default:
				want = disturbed
			}
			if tick.Bystander != want {
				t.Errorf("%s stage %d started %s: marked %v, want %v", tick.ID.Probe, tick.Stage, tick.Started.Sub(began), tick.Bystander, want)
			}
		}
	})
}

// Holds add up: the bystander of one alone does not run under both.
func TestHoldsStack(t *testing.T) {
	var g gate
	id := ids("a")[0]
	p := pairOf(id)
	first := g.hold(p, id)
	second := g.hold(p, probe.ID{})
	if v := g.look(id); !v.held || v.beside {
		t.Errorf("under two holds: %+v", v)
	}
	second()
	if v := g.look(id); v.held || !v.beside {
		t.Errorf("as bystander: %+v", v)
	}
	first()
	if v := g.look(id); v.held || v.beside || len(g.holds) != 0 {
		t.Errorf("after both: %+v, %d holds", v, len(g.holds))
	}
}

func TestStopResumeCanary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		canary := probe.ID{Target: "canary", Model: "m", Probe: "p"}
		s := run(t, Config{Prober: takes(0), Recorder: rec, CanaryTarget: "canary"},
			plain(watch(id, 10*time.Second), watch(canary, 10*time.Second)))
		s.Stop()
		time.Sleep(100 * time.Second)
		s.Resume()
		s.SetCanary(true)
		time.Sleep(100 * time.Second)
		s.SetCanary(false)
		time.Sleep(100 * time.Second)
		stop(t, s)
		if c := rec.count(id); c.due != 30 || c.started != 10 || c.skips[probe.SkipDisabled] != 10 || c.skips[probe.SkipCanary] != 10 {
			t.Errorf("probe: %+v, want 30 = 10 started + 10 disabled + 10 canary", c)
		}
		if c := rec.count(canary); c.due != 30 || c.started != 20 || c.skips[probe.SkipDisabled] != 10 {
			t.Errorf("canary: %+v, want 30 = 20 started + 10 disabled", c)
		}
	})
}

// A target whose answers cost 100 tokens and may spend 1,000 a day: 10 probes,
// then one of ten ticks until midnight UTC, then 10 again.
func TestBudgetSlowsToATenth(t *testing.T) {
	for _, c := range []struct {
		hard    bool
		started int // in 24 h of 5-minute ticks: 288
	}{{false, 10 + 28}, {true, 10}} {
		synctest.Test(t, func(t *testing.T) {
			rec := &tape{}
			id := ids("p")[0]
			r := plain(watch(id, 5*time.Minute))
			r.Targets[0].Budget = roster.Budget{ProbeTokensPerDay: 1000, Hard: c.hard}
			s := run(t, Config{Recorder: rec, Prober: proberFunc(func(context.Context, probe.Spec) probe.Result {
				return probe.Result{Outcome: probe.OK, PromptTokens: probe.Some[int64](36), OutputTokens: probe.Some[int64](64)}
			})}, r)
			time.Sleep(24 * time.Hour) // the bubble begins at midnight UTC
			got := rec.count(id)
			if got.due != 288 || got.started < c.started || got.started > c.started+(c.started-10)/28 || got.due != got.started+got.skips[probe.SkipBudget] {
				t.Errorf("hard %v: %+v, want 288 due, %d (or by the turn one more) started, the rest for the budget", c.hard, got, c.started)
			}
			if spent := s.Ledger().Spent(time.Now().Add(-time.Second), "t", admit.ProbePurse); spent != int64(got.started)*100 {
				t.Errorf("spent %d, want %d", spent, got.started*100)
			}
			time.Sleep(49 * time.Minute) // nine or ten ticks of the new day
			if day2 := rec.count(id); day2.started-got.started != day2.due-got.due || day2.due-got.due < 9 {
				t.Errorf("next day: %+v after %+v", day2, got)
			}
			stop(t, s)
		})
	}
}

// A 429 that asks for an hour silences a 30 s probe for 5 minutes, counted;
// its neighbours of the same model too, another model not.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		names := ids("a", "b")
		other := probe.ID{Target: "t", Model: "org/m2", Probe: "a"}
		outcome := map[probe.ID]probe.Outcome{names[0]: probe.RateLimited, names[1]: probe.OK, other: probe.BadRequest}
		s := run(t, Config{Recorder: rec, Prober: proberFunc(func(_ context.Context, spec probe.Spec) probe.Result {
			return probe.Result{Outcome: outcome[spec.ID], RetryAfter: probe.Some(time.Hour)}
		})}, plain(watch(names[0], 30*time.Second), watch(names[1], 30*time.Second), watch(other, 30*time.Second)))
		time.Sleep(time.Until(s.Next(names[0])))
		synctest.Wait()
		b := rec.count(names[1])
		time.Sleep(5*time.Minute - 1)
		if c := rec.count(names[0]); c.started != 1 || c.skips[probe.SkipRetryAfter] != 9 {
			t.Errorf("a: %+v, want 1 start and 9 skips", c)
		}
		if c := rec.count(names[1]); c.started != b.started || c.skips[probe.SkipRetryAfter] != 10 {
			t.Errorf("b: %+v, want no start and 10 skips", c)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if c := rec.count(names[0]); c.started != 2 {
			t.Errorf("a after 5 minutes: %+v, want a second start", c)
		}
		// Only 429 and 503 are about load.
		if c := rec.count(other); c.due != c.started {
			t.Errorf("other model: %+v, want no skip", c)
		}
		stop(t, s)
	})
}

func TestMaintenance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		stopped := probe.ID{Target: "stopped", Model: "m", Probe: "p"}
		tagged := probe.ID{Target: "tagged", Model: "m", Probe: "p"}
		r := roster.Roster{Watches: []roster.Watch{watch(stopped, time.Minute), watch(tagged, time.Minute)}}
		for _, name := range []string{"stopped", "tagged"} {
			r.Targets = append(r.Targets, roster.Target{Name: name, Maintenance: []roster.Window{
				{Cron: "0 2 * * *", Duration: 30 * time.Minute, TagOnly: name == "tagged"}}})
		}
		s := run(t, Config{Prober: takes(0), Recorder: rec}, r)
		time.Sleep(2*time.Hour + time.Minute)
		if !s.InMaintenance("stopped") || !s.InMaintenance("tagged") || s.InMaintenance("unknown") {
			t.Error("InMaintenance is wrong at 02:01")
		}
		time.Sleep(22*time.Hour - time.Minute)
		stop(t, s)
		if c := rec.count(stopped); c.due != 1440 || c.started != 1410 || c.skips[probe.SkipMaintenance] != 30 {
			t.Errorf("stopped: %+v, want 1440 = 1410 + 30", c)
		}
		if c := rec.count(tagged); c.due != 1440 || c.started != 1440 {
			t.Errorf("tagged: %+v, want all 1440 started", c)
		}
		marked := 0
		for _, tick := range rec.all() {
			if tick.ID == tagged && tick.Maintenance {
				marked++
			}
		}
		if marked != 60 {
			t.Errorf("%d ticks marked, want 30 due and 30 done", marked)
		}
	})
}

// A hold that comes and goes within one probe has disturbed it all the same.
func TestShortHoldMarksTheRunningProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(8 * time.Second), Recorder: rec}, plain(watch(id, 10*time.Second)))
		time.Sleep(time.Until(s.Next(id)) + time.Second)
		release := s.Hold("t", "org/m", probe.ID{})
		time.Sleep(time.Second)
		release()
		time.Sleep(18 * time.Second)
		stop(t, s)
		var marks []bool
		for _, tick := range rec.all() {
			marks = append(marks, tick.Bystander)
		}
		if want := []bool{false, true, false, false}; !slices.Equal(marks[:min(len(marks), 4)], want) {
			t.Errorf("marks %v, want %v: only the first result", marks, want)
		}
	})
}
