package schedule

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
)

// teacher is a Calibrator that takes its time and notes when it was asked.
type teacher struct {
	takes time.Duration
	errs  []error // of the first calls
	panic bool

	mu    sync.Mutex
	now   int
	most  int
	calls []time.Time
}

func (k *teacher) Calibrate(ctx context.Context, _ probe.Spec) probe.Calibration {
	k.mu.Lock()
	n := len(k.calls)
	k.calls = append(k.calls, time.Now())
	k.now++
	k.most = max(k.most, k.now)
	k.mu.Unlock()
	takes(k.takes)(ctx, probe.Spec{})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now--
	if k.panic {
		panic("oops")
	}
	c := probe.Calibration{Requests: 1, InputTokens: 10, OutputTokens: 1, Err: ctx.Err()}
	if n < len(k.errs) {
		c.Err = errors.Join(c.Err, k.errs[n])
	}
	return c
}

// One calibration before the first tick, booked, and the first tick on time.
func TestCalibratesAheadOfTheFirstTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec, k := &tape{}, &teacher{takes: time.Second}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(0), Recorder: rec, Calibrator: k}, plain(watch(id, time.Minute)))
		first := s.Next(id)
		time.Sleep(time.Hour)
		stop(t, s)
		if len(k.calls) != 1 || first.Sub(k.calls[0]) != min(30*time.Second, first.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))) {
			t.Fatalf("calibrated at %v, first tick %s", k.calls, first)
		}
		if c := rec.count(id); c.due != 60 || c.started != 60 {
			t.Errorf("%+v, want 60 of 60 started", c)
		}
		if got := s.Ledger().Spent(time.Now(), "t", admit.ProbePurse); got != 11 {
			t.Errorf("spent %d tokens, want 11", got)
		}
	})
}

// A calibration longer than the lead makes the first ticks overlaps; no tick
// waits for it. One model is calibrated by one watch at a time.
func TestLongCalibration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec, k := &tape{}, &teacher{takes: 25 * time.Second}
		names := ids("a", "b", "c")
		s := run(t, Config{Prober: takes(0), Recorder: rec, Calibrator: k},
			plain(watch(names[0], 10*time.Second), watch(names[1], 10*time.Second), watch(names[2], 10*time.Second)))
		time.Sleep(10 * time.Minute)
		stop(t, s)
		if len(k.calls) != 3 || k.most != 1 {
			t.Errorf("%d calibrations, %d at once, want 3, 1", len(k.calls), k.most)
		}
		c := rec.count(probe.ID{})
		if c.due != 180 || c.due != c.started+c.skips[probe.SkipOverlap] || c.skips[probe.SkipOverlap] < 6 {
			t.Errorf("%+v, want 180 due = started + overlap", c)
		}
		for _, id := range names {
			for _, tick := range rec.starts(id) {
				if !tick.Started.Equal(tick.Due) {
					t.Fatalf("%s: a tick waited %s", id, tick.Started.Sub(tick.Due))
				}
			}
		}
	})
}

// What failed is tried again after an ok probe, then at most every ten ticks;
// a bad_request asks anew, no more often.
func TestCalibratesAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome probe.Outcome
		errs    int
		want    int // calls in 100 ticks
	}{
		{"failed once, then ok", probe.OK, 1, 2},
		{"always fails", probe.OK, 1000, 1 + 10},
		{"endpoint is down", probe.Connect, 1000, 1},
		{"always refused", probe.BadRequest, 0, 1 + 10},
		{"learned", probe.OK, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &teacher{}
				for range c.errs {
					k.errs = append(k.errs, errors.New("no"))
				}
				id := ids("p")[0]
				s := run(t, Config{Recorder: &tape{}, Calibrator: k, Prober: proberFunc(func(context.Context, probe.Spec) probe.Result {
					return probe.Result{Outcome: c.outcome}
				})}, plain(watch(id, time.Minute)))
				time.Sleep(100 * time.Minute)
				stop(t, s)
				if len(k.calls) != c.want {
					t.Errorf("%d calibrations in 100 ticks, want %d", len(k.calls), c.want)
				}
			})
		})
	}
}

// A changed prompt and a changed way to the target are learned anew, other
// changes are not; a panic is contained; a sweep is not disturbed.
func TestCalibrationAndReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &teacher{panic: true}
		id := ids("p")[0]
		s := run(t, Config{Prober: proberFunc(func(context.Context, probe.Spec) probe.Result { return probe.Result{Outcome: probe.Connect} }),
			Recorder: &tape{}, Calibrator: k}, plain(watch(id, time.Minute)))
		time.Sleep(10 * time.Minute)
		r := plain(watch(id, time.Minute))
		step := func(what string, want int) {
			t.Helper()
			if err := s.Apply(r); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Minute)
			k.mu.Lock()
			defer k.mu.Unlock()
			if len(k.calls) != want {
				t.Errorf("%s: %d calibrations, want %d", what, len(k.calls), want)
			}
		}
		step("same", 1)
		r.Watches[0].AllowOverlap = true
		step("a detail", 1)
		r = plain(watch(id, time.Minute))
		r.Watches[0].Spec.Prompt.MaxTokens = 7
		step("the prompt", 2)
		r = plain(r.Watches[0])
		r.Targets[0].Hash = "2"
		step("the target", 3)
		stop(t, s)
	})
}

// Shutdown does not wait for a calibration.
func TestShutdownEndsCalibration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &teacher{takes: time.Hour}
		id := ids("p")[0]
		s := run(t, Config{Prober: takes(0), Recorder: &tape{}, Calibrator: k}, plain(watch(id, time.Minute)))
		time.Sleep(2 * time.Minute)
		began := time.Now()
		stop(t, s)
		if took := time.Since(began); took != 0 || len(k.calls) != 1 {
			t.Errorf("took %s, %d calibrations", took, len(k.calls))
		}
	})
}
