package schedule

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
	"tokprobe/probe/sim"
	"tokprobe/probe/wire"
)

// log keeps the events of sweeps but for the requests, which it counts.
type sweepLog struct {
	mu       sync.Mutex
	events   []SweepEvent
	requests int
}

func (l *sweepLog) RecordSweep(e SweepEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Stage == SweepRequest {
		l.requests++
		return
	}
	l.events = append(l.events, e)
}

// stages tells what happened, one word each.
func (l *sweepLog) stages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, e := range l.events {
		word := e.Sweep.Name + " "
		switch {
		case e.Stage == SweepSkipped:
			word += "skipped " + string(e.Skip)
		case e.Stage == SweepStarted:
			word += "started"
		case e.Err != nil:
			word += "broken"
		case e.Result.Report.Aborted != "":
			word += "aborted"
		default:
			word += "done"
		}
		out = append(out, word)
	}
	return out
}

func (l *sweepLog) last() SweepEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[len(l.events)-1]
}

// stand is a scheduler with sweeps on a simulator, in a bubble that begins at
// midnight of 2000-01-01 UTC.
type stand struct {
	*Scheduler
	sim     *sim.Server
	log     *sweepLog
	tape    *tape
	stopped atomic.Value // kill switch: a string, read by the guard of a running sweep
}

// hello is a short prompt: about 20 tokens in, 16 out.
var hello = probe.Prompt{Name: "hello", MaxTokens: 16, Messages: []wire.Message{{Role: "user", Content: "hello"}}}

// ladder is a sweep of sim-fast that is due each hour at minute 10 and takes
// 2 levels of 20 requests, 21 and 22 with the warm-up.
func ladder(name string) roster.Sweep {
	return roster.Sweep{Name: name, Target: "t", Model: "sim-fast", Cron: "10 * * * *", Mode: "concurrency", Ladder: []float64{1, 2}, MaxDuration: 10 * time.Minute, Limits: probe.SweepLimits()}
}

func beside(name string, every time.Duration, tokens int) roster.Watch {
	p := hello
	p.MaxTokens = tokens
	id := probe.ID{Target: "t", Model: "sim-fast", Probe: name}
	return roster.Watch{ID: id, Every: every, Spec: probe.Spec{ID: id, Prompt: p, Limits: probe.SweepLimits()}}
}

func sweepRoster(sweeps ...roster.Sweep) roster.Roster {
	return roster.Roster{Targets: []roster.Target{{Name: "t", BaseURL: "http://sim:8000", Hash: "1"}}, Sweeps: sweeps,
		Watches: []roster.Watch{beside("small", 5*time.Second, 8), beside("large", 5*time.Second, 16)}}
}

// stage runs f with a running scheduler, ten minutes before the hour's sweeps.
func stage(t *testing.T, cfg sim.Config, r roster.Roster, f func(t *testing.T, s *stand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stand{sim: sim.New(cfg), log: &sweepLog{}, tape: &tape{}}
		defer s.sim.Close()
		open := func() (*probe.Endpoint, error) {
			return probe.NewEndpoint(probe.EndpointConfig{Target: "t", BaseURL: "http://sim:8000", DialContext: s.sim.DialContext})
		}
		e, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s.Scheduler = run(t, Config{Prober: e, Recorder: s.tape, Sweeps: SweepConfig{
			Open:     func(roster.Sweep) (SweepEndpoint, error) { return open() },
			Prompt:   func(roster.Sweep) (probe.Prompt, error) { return hello, nil },
			Recorder: s.log, Location: "here",
			Stopped: func() string { why, _ := s.stopped.Load().(string); return why },
		}}, r)
		defer stop(t, s.Scheduler)
		f(t, s)
	})
}

// TestSweepByCron is the whole life of one scheduled sweep: due on the minute,
// other probes away and counted, the smallest one beside it, every token booked.
func TestSweepByCron(t *testing.T) {
	stage(t, sim.Config{}, sweepRoster(ladder("s")), func(t *testing.T, s *stand) {
		start := time.Now()
		if got := s.Sweeps()[0]; !got.Next.Equal(start.Add(10*time.Minute)) || got.Forecast.Requests != 43 {
			t.Errorf("next %v after start, forecast of %v requests; want 10m0s and 43", got.Next.Sub(start), got.Forecast.Requests)
		}
		time.Sleep(10*time.Minute + time.Second)
		if got := s.Sweeps()[0]; !got.Running || got.Progress.Levels != 2 {
			t.Errorf("running %v at level %d of %d", got.Running, got.Progress.Level, got.Progress.Levels)
		}
		before := s.tape.count(probe.ID{Target: "t", Model: "sim-fast", Probe: "small"}).started
		time.Sleep(4 * time.Minute)
		if got := s.log.stages(); !reflect.DeepEqual(got, []string{"s started", "s done"}) {
			t.Fatalf("events %v", got)
		}
		e := s.log.last()
		if len(e.Result.Report.Levels) != 2 || e.Result.Report.Levels[1].Completed != 20 || s.log.requests != 43 {
			t.Errorf("%d levels, %d requests in all; want 2 and 43", len(e.Result.Report.Levels), s.log.requests)
		}
		if c := e.Result.Report.Conditions; c.Sweep != "s" || c.Endpoint != "http://sim:8000" || c.Location != "here" {
			t.Errorf("conditions %+v", c)
		}
		small := s.tape.count(probe.ID{Target: "t", Model: "sim-fast", Probe: "small"})
		large := s.tape.count(probe.ID{Target: "t", Model: "sim-fast", Probe: "large"})
		if small.skips[probe.SkipSweep] != 0 || small.started <= before {
			t.Errorf("the bystander was skipped %d times", small.skips[probe.SkipSweep])
		}
		if n := large.skips[probe.SkipSweep]; n == 0 || large.due != large.started+n {
			t.Errorf("the other probe: due %d, started %d, skipped %d", large.due, large.started, n)
		}
		var spent int64
		for _, x := range s.Ledger().Snapshot() {
			if x.Purse == admit.SweepPurse {
				spent += x.Tokens
			}
		}
		if want := e.Result.Cost.InputTokens + e.Result.Cost.OutputTokens; spent != want || spent < 43*17 {
			t.Errorf("%d tokens booked, the sweep cost %d", spent, want)
		}
	})
}

// TestSweepsOneAtATime: three due at the same moment run one after another.
func TestSweepsOneAtATime(t *testing.T) {
	stage(t, sim.Config{}, sweepRoster(ladder("a"), ladder("b"), ladder("c")), func(t *testing.T, s *stand) {
		time.Sleep(20 * time.Minute)
		want := []string{"a started", "a done", "b started", "b done", "c started", "c done"}
		if got := s.log.stages(); !reflect.DeepEqual(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	})
}

// TestSweepRefused: each guard has its reason, and its text says what to do.
func TestSweepRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*stand, *roster.Roster)
		want    probe.SkipReason
		text    string
	}{
		"budget": {func(_ *stand, r *roster.Roster) { r.Targets[0].Budget.SweepTokensPerDay = 1000 },
			probe.SkipBudget, "the ladder needs up to 1634 tokens and the budget has 1000"},
		"budget spent": {func(s *stand, r *roster.Roster) {
			r.Targets[0].Budget.SweepTokensPerDay = 2000
			s.Ledger().Spend(time.Now(), "t", admit.SweepPurse, 1999)
		}, probe.SkipBudget, "the budget has 1:"},
		"kill switch":    {func(s *stand, _ *roster.Roster) { s.stopped.Store("by test") }, probe.SkipDisabled, "sweeps are stopped: by test"},
		"probes stopped": {func(s *stand, _ *roster.Roster) { s.Stop() }, probe.SkipDisabled, "probes are stopped"},
		"maintenance": {func(_ *stand, r *roster.Roster) {
			r.Targets[0].Maintenance = []roster.Window{{Cron: "0 * * * *", Duration: 30 * time.Minute, TagOnly: true}}
		}, probe.SkipMaintenance, "maintenance window of t"},
		"canary": {func(s *stand, _ *roster.Roster) { s.SetCanary(true) }, probe.SkipCanary, "cannot measure"},
		"retry after": {func(s *stand, _ *roster.Roster) {
			s.gate.asked(time.Now().Add(9*time.Minute), probe.Result{ID: probe.ID{Target: "t", Model: "sim-fast"}, Outcome: probe.RateLimited, RetryAfter: probe.Some(2 * time.Minute)})
		}, probe.SkipRetryAfter, "another 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			r := sweepRoster(ladder("s"))
			r.Watches = nil
			stage(t, sim.Config{}, r, func(t *testing.T, s *stand) {
				c.prepare(s, &r)
				if err := s.Apply(r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10*time.Minute + time.Second)
				if got := s.log.stages(); !reflect.DeepEqual(got, []string{"s skipped " + string(c.want)}) {
					t.Fatalf("events %v, want one skip for %s", got, c.want)
				}
				if e := s.log.last(); !strings.Contains(e.Reason, c.text) {
					t.Errorf("reason %q, want %q", e.Reason, c.text)
				}
				if n := s.sim.Stats().Requests; n != 0 {
					t.Errorf("%d requests were sent", n)
				}
			})
		})
	}
}

// TestSweepAborted: whatever ends a sweep in the middle, the first level is
// kept, and why is said.
func TestSweepAborted(t *testing.T) {
	long := ladder("s")
	long.Requests = 400 // of sim-fast at 1 stream: about a minute
	for name, c := range map[string]struct {
		prepare func(*sim.Config, *roster.Roster)
		during  func(t *testing.T, s *stand, r roster.Roster)
		want    string
	}{
		"kill switch": {during: func(_ *testing.T, s *stand, _ roster.Roster) { s.stopped.Store("by test") }, want: "interrupted: sweeps are stopped: by test"},
		"removed": {during: func(t *testing.T, s *stand, r roster.Roster) {
			r.Sweeps = nil
			if err := s.Apply(r); err != nil {
				t.Error(err)
			}
		}, want: "interrupted: it was removed from the configuration"},
		"shutdown": {during: func(t *testing.T, s *stand, _ roster.Roster) { stop(t, s.Scheduler) }, want: "interrupted: tokprobe was stopped"},
		"budget": {prepare: func(_ *sim.Config, r *roster.Roster) { r.Targets[0].Budget.SweepTokensPerDay = 40_000 },
			during: func(_ *testing.T, s *stand, _ roster.Roster) {
				s.Ledger().Spend(time.Now(), "t", admit.SweepPurse, 39_000)
			}, want: "interrupted: the day's sweep budget of 40000 tokens is spent"},
		"fuse": {during: func(t *testing.T, s *stand, _ roster.Roster) {
			id := probe.ID{Target: "t", Model: "sim-fast", Probe: "small"}
			for range 2 {
				s.record(probe.Tick{ID: id, Stage: probe.TickDone, Bystander: true, Result: probe.Result{ID: id, Outcome: probe.ServerError}})
			}
		}, want: "the bystander probe small failed 2 times in a row, last with server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, r := sim.Config{}, sweepRoster(long)
			if c.prepare != nil {
				c.prepare(&cfg, &r)
			}
			stage(t, cfg, r, func(t *testing.T, s *stand) {
				time.Sleep(10*time.Minute + 30*time.Second)
				c.during(t, s, r)
				time.Sleep(2 * time.Second)
				if got := s.log.stages(); !reflect.DeepEqual(got, []string{"s started", "s aborted"}) {
					t.Fatalf("events %v", got)
				}
				e := s.log.last()
				if e.Result.Report.Aborted != c.want {
					t.Errorf("aborted: %q, want %q", e.Result.Report.Aborted, c.want)
				}
				if len(e.Result.Report.Levels) == 0 || e.Result.Report.Levels[0].Completed == 0 {
					t.Error("nothing was kept of the level that ran")
				}
			})
		})
	}
}

// TestSweepHoldOff: after a 429 the probes of the model stay away for a minute
// more.
func TestSweepHoldOff(t *testing.T) {
	r := sweepRoster(ladder("s"))
	r.Watches = []roster.Watch{beside("small", 10*time.Second, 4), beside("large", time.Second, 16)}
	r.Sweeps[0].Abort = roster.Abort{ErrorRatio: 0.2}
	stage(t, sim.Config{}, r, func(t *testing.T, s *stand) {
		time.Sleep(10 * time.Minute)
		if err := s.sim.SetFaults(sim.Faults{ErrorRate: 1, ErrorClass: "http_429"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second) // the bystander is refused twice
		if err := s.sim.SetFaults(); err != nil {
			t.Fatal(err)
		}
		if got := s.log.stages(); !reflect.DeepEqual(got, []string{"s started", "s aborted"}) {
			t.Fatalf("events %v", got)
		}
		ended := s.log.last().At
		time.Sleep(2 * time.Minute)
		for _, x := range s.tape.starts(probe.ID{Target: "t", Model: "sim-fast", Probe: "large"}) {
			if x.Due.After(ended) {
				if wait := x.Due.Sub(ended); wait < time.Minute || wait > time.Minute+time.Second {
					t.Errorf("the first probe after the sweep came %v after its end, want a minute", wait)
				}
				return
			}
		}
		t.Error("no probe came back")
	})
}

// TestSweepTick: due moments that this process slept through.
func TestSweepTick(t *testing.T) {
	r := sweepRoster(ladder("s"))
	r.Watches = nil
	stage(t, sim.Config{}, r, func(t *testing.T, s *stand) {
		time.Sleep(30 * time.Minute)
		first := len(s.log.stages())
		w := s.sweeps
		for _, c := range []struct {
			late time.Duration
			want []string
		}{
			{6 * time.Minute, []string{"s skipped overlap"}},
			{4 * time.Minute, []string{"s started", "s done"}},
		} {
			w.mu.Lock()
			w.jobs[r.Sweeps[0].Key()].next = time.Now().Add(-c.late)
			w.mu.Unlock()
			if wait, some := w.tick(time.Now()); !some || wait <= 0 || wait > time.Hour {
				t.Errorf("next in %v, %v", wait, some)
			}
			time.Sleep(5 * time.Minute)
			all := s.log.stages()
			if got := all[first:]; !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v late: %v, want %v", c.late, got, c.want)
			}
			first = len(all)
		}
	})
}

// TestRunSweep: on demand, with an answer for the caller.
func TestRunSweep(t *testing.T) {
	far := ladder("far")
	far.Locations = []string{"elsewhere"}
	stage(t, sim.Config{}, sweepRoster(ladder("s"), far), func(t *testing.T, s *stand) {
		named := func(name string) func(roster.SweepKey) bool {
			return func(k roster.SweepKey) bool { return k.Sweep == name }
		}
		if _, _, err := s.RunSweep(named("nobody")); !errors.Is(err, ErrNoSweep) {
			t.Errorf("%v, want ErrNoSweep", err)
		}
		if q, no, err := s.RunSweep(named("far")); q != nil || len(no) != 1 || no[0].Skip != probe.NotSkipped || err != nil {
			t.Errorf("another location's sweep: %v, %v, %v", q, no, err)
		}
		if q, no, err := s.RunSweep(named("s")); len(q) != 1 || no != nil || err != nil {
			t.Errorf("%v, %v, %v; want one queued", q, no, err)
		}
		time.Sleep(time.Second)
		if q, no, _ := s.RunSweep(named("s")); q != nil || len(no) != 1 || no[0].Skip != probe.SkipOverlap {
			t.Errorf("%v, %v; want a refusal for overlap", q, no)
		}
		if next := s.Sweeps()[1].Next; !next.IsZero() {
			t.Errorf("the sweep of another location is due %v", next)
		}
		time.Sleep(5 * time.Minute)
		if got := s.log.stages(); !reflect.DeepEqual(got, []string{"s started", "s skipped overlap", "s done"}) {
			t.Errorf("events %v", got)
		}
	})
}

func TestBystander(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Prober: takes(0), Recorder: &tape{}, Sweeps: SweepConfig{
			Open:     func(roster.Sweep) (SweepEndpoint, error) { return nil, context.Canceled },
			Prompt:   func(roster.Sweep) (probe.Prompt, error) { return hello, nil },
			Recorder: &sweepLog{},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := sweepRoster(ladder("s"))
		r.Watches = []roster.Watch{beside("rare", time.Hour, 8), beside("often", time.Minute, 8), beside("large", time.Second, 64)}
		if err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
		id := r.Watches[1].ID
		for i, ttft := range []time.Duration{30, 10, 20} {
			if got, median := s.sweeps.bystander(r.Sweeps[0]); got != id || median != 0 {
				t.Errorf("after %d answers: %v with median %v, want %v without", i, got, median, id)
			}
			s.record(probe.Tick{ID: id, Stage: probe.TickDone, Result: probe.Result{Outcome: probe.OK, TTFT: probe.Some(ttft)}})
		}
		s.record(probe.Tick{ID: id, Stage: probe.TickDone, Bystander: true, Result: probe.Result{Outcome: probe.OK, TTFT: probe.Some(time.Hour)}})
		if _, median := s.sweeps.bystander(r.Sweeps[0]); median != 20 {
			t.Errorf("median %v, want 20ns: what was measured beside a sweep does not count", median)
		}
		if got, _ := s.sweeps.bystander(roster.Sweep{Target: "t", Model: "other"}); got != (probe.ID{}) {
			t.Errorf("%v, want none", got)
		}
		stop(t, s)
	})
}

func TestApplyRefusesBadSweepCron(t *testing.T) {
	bad := ladder("s")
	bad.Cron = "61 * * * *"
	if err := Check(sweepRoster(bad)); err == nil || !strings.Contains(err.Error(), "sweep s") {
		t.Errorf("%v, want an error that names the sweep", err)
	}
}
