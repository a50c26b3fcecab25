package schedule

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
)

// Shutdown with two probes running, one that ends within the grace time and
// one that does not: the first is recorded, the second is cut and is not.
func TestShutdownDrainsThenCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		names := ids("short", "long")
		s := run(t, Config{Recorder: rec, Grace: 20 * time.Second, Prober: proberFunc(func(ctx context.Context, spec probe.Spec) probe.Result {
			if spec.Probe == "short" {
				return takes(15*time.Second)(ctx, spec)
			}
			return takes(5*time.Minute)(ctx, spec)
		})}, plain(watch(names[0], 16*time.Second), watch(names[1], time.Hour)))
		for s.Running() < 2 {
			time.Sleep(time.Second)
		}
		short := rec.count(names[0])
		began := time.Now()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("took %s, want the grace time", took)
		}
		if c := rec.count(names[0]); c.due != short.due || c.done != c.started {
			t.Errorf("short: %+v after %+v: new ticks or a lost result", c, short)
		}
		if c := rec.count(names[1]); c.started != 1 || c.done != 0 {
			t.Errorf("long: %+v, want started and not done", c)
		}
		if err := s.Healthy(); err == nil || err.Error() != "scheduler: shutting down" {
			t.Errorf("health %v", err)
		}
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("second shutdown: %v", err)
		}
	})
}

func TestShutdownTimes(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		grace time.Duration
		takes time.Duration
		want  time.Duration
	}{
		{"nothing runs", context.Background(), time.Minute, 0, 0},
		{"drained at once when the last probe ends", context.Background(), time.Minute, 10 * time.Second, 10 * time.Second},
		{"no grace", context.Background(), -1, 10 * time.Second, 0},
		{"the caller has no time", ended, time.Minute, 10 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				id := ids("p")[0]
				s := run(t, Config{Recorder: &tape{}, Grace: c.grace, Prober: takes(c.takes)}, plain(watch(id, time.Hour)))
				time.Sleep(time.Until(s.Next(id)))
				synctest.Wait()
				began := time.Now()
				_ = s.Shutdown(c.ctx) // an ended context is reported by gocron
				if took := time.Since(began); took != c.want || s.Running() != 0 {
					t.Errorf("took %s, %d still run, want %s and none", took, s.Running(), c.want)
				}
			})
		})
	}
}

// A prober that ignores its context is named, not waited for.
func TestShutdownNamesTheStubborn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := ids("p")[0]
		s := run(t, Config{Recorder: &tape{}, Grace: -1, Prober: proberFunc(func(context.Context, probe.Spec) probe.Result {
			time.Sleep(time.Minute)
			return probe.Result{Cut: true}
		})}, plain(watch(id, time.Hour)))
		time.Sleep(time.Until(s.Next(id)))
		synctest.Wait()
		err := s.Shutdown(context.Background())
		if err == nil || !strings.Contains(err.Error(), "1 probes did not return within 2s of being cut") {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Minute) // a bubble must end without goroutines
	})
}

func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Prober: takes(0), Recorder: &tape{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Healthy(); err == nil || err.Error() != "scheduler: not started" {
			t.Errorf("before Start: %v", err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + 100*time.Millisecond)
		if err := s.Healthy(); err != nil {
			t.Errorf("running: %v", err)
		}
		if err := s.Start(); err == nil {
			t.Error("a second Start is no error")
		}
		if err := s.cron.StopJobs(); err != nil { // as if gocron had died
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if err := s.Healthy(); err == nil || err.Error() != "scheduler: no heartbeat for 20s" {
			t.Errorf("dead: %v", err)
		}
		stop(t, s)
	})
}

func TestNewNeedsProberAndRecorder(t *testing.T) {
	if _, err := New(Config{Prober: takes(0)}); err == nil {
		t.Error("no recorder is no error")
	}
	if _, err := New(Config{Recorder: &tape{}}); err == nil {
		t.Error("no prober is no error")
	}
}
