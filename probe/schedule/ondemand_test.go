package schedule

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
)

// A run on demand comes beside the schedule: the phase stays, a busy probe
// refuses without a counted skip, and all that started is done.
func TestRunProbesOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		names := ids("a", "b")
		s := run(t, Config{Prober: takes(5 * time.Second), Recorder: rec}, plain(watch(names[0], time.Hour), watch(names[1], time.Hour)))
		next := s.Next(names[0])
		only := func(want probe.ID) func(probe.ID) bool { return func(id probe.ID) bool { return id == want } }

		started, refused, err := s.RunProbes(only(names[0]))
		if err != nil || len(started) != 1 || started[0] != names[0] || refused != nil {
			t.Fatalf("started %v, refused %v, %v", started, refused, err)
		}
		time.Sleep(time.Second)
		started, refused, err = s.RunProbes(only(names[0]))
		if err != nil || started != nil || len(refused) != 1 || refused[0].Skip != probe.SkipOverlap {
			t.Errorf("while it runs: started %v, refused %v, %v", started, refused, err)
		}
		if _, _, err := s.RunProbes(func(probe.ID) bool { return false }); !errors.Is(err, ErrNoProbe) {
			t.Errorf("none chosen: %v", err)
		}
		time.Sleep(10 * time.Second)
		if c := rec.count(names[0]); c.due != 1 || c.started != 1 || c.done != 1 || len(c.skips) != 0 {
			t.Errorf("%+v, want one due, started and done", c)
		}
		if got := s.Next(names[0]); !got.Equal(next) {
			t.Errorf("the phase moved from %v to %v", next, got)
		}
		s.Stop()
		if _, refused, _ := s.RunProbes(only(names[1])); len(refused) != 1 || refused[0].Skip != probe.SkipDisabled {
			t.Errorf("while stopped: %v", refused)
		}
		stop(t, s)
		if _, _, err := s.RunProbes(only(names[1])); !errors.Is(err, ErrNoProbe) {
			t.Errorf("after the end: %v", err)
		}
	})
}
