package probe

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

func TestSentinelMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSentinel()
		s.base, s.users = time.Now(), 1
		at := func(d time.Duration) time.Time { return s.base.Add(d) }
		s.note(10 * ms)  // in time
		s.note(100 * ms) // 80 late: not running in (20, 100]
		s.note(110 * ms)
		s.note(150 * ms) // 30 late: (120, 150]
		for _, c := range []struct{ from, to, want time.Duration }{
			{0, 10 * ms, 0},
			{0, 19 * ms, 0},
			{0, 20 * ms, 80 * ms},
			{50 * ms, 60 * ms, 80 * ms}, // inside one lateness
			{100 * ms, 119 * ms, 80 * ms},
			{101 * ms, 119 * ms, 0},
			{101 * ms, 120 * ms, 30 * ms},
			{0, time.Second, 80 * ms},
			{151 * ms, time.Second, 0},
		} {
			if got := s.Max(at(c.from), at(c.to)); got != c.want {
				t.Errorf("Max(%s, %s) = %s, want %s", c.from, c.to, got, c.want)
			}
		}
		if st := s.Stats(); st != (SentinelStats{Wakes: 4, Worst: 80 * ms, Latest: 30 * ms}) {
			t.Errorf("%+v", st)
		}
	})
}

// TestSentinelSeesWhatIsStillGoingOn: a wake that is overdue counts before it
// has come.
func TestSentinelSeesWhatIsStillGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSentinel()
		s.base, s.running, s.users = time.Now(), true, 1
		s.note(10 * ms)
		begin := time.Now()
		time.Sleep(300 * ms) // nobody notes: due since 20 ms
		if got := s.Max(begin.Add(250*ms), begin.Add(300*ms)); got != 280*ms {
			t.Errorf("late by %s, want 280ms", got)
		}
		if got := s.Max(begin, begin.Add(19*ms)); got != 0 {
			t.Errorf("late by %s before it was due", got)
		}
		s.stop()
		if got := s.Max(begin, time.Now()); got != 0 {
			t.Errorf("a stopped sentinel is late by %s", got)
		}
	})
}

func TestSentinelForgetsTheOldest(t *testing.T) {
	s := NewSentinel()
	s.base, s.users = time.Now(), 1
	s.note(sentinelPeriod + 500*ms)
	for i := range sentinelRing - 1 {
		s.note(500*ms + time.Duration(i+2)*sentinelPeriod)
	}
	if got := s.Max(s.base, s.base.Add(time.Hour)); got != 500*ms {
		t.Errorf("oldest that the ring holds: %s", got)
	}
	s.note(s.last + sentinelPeriod)
	if got := s.Max(s.base, s.base.Add(time.Hour)); got != 0 {
		t.Errorf("%s is known beyond the ring", got)
	}
}

func TestSentinelRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSentinel()
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		time.Sleep(time.Hour) // nobody measures: it sleeps
		s.enter()
		s.enter()
		time.Sleep(500 * ms)
		s.leave()
		time.Sleep(505 * ms)
		begin := time.Now()
		if got := s.Max(begin.Add(-1005*ms), begin); got != 0 {
			t.Errorf("late by %s in time that was not measured", got)
		}
		s.leave()
		time.Sleep(time.Hour)
		s.enter() // less than a period: no wake of its own
		time.Sleep(5 * ms)
		s.leave()
		time.Sleep(time.Hour)
		cancel()
		synctest.Wait()
		if st := s.Stats(); st != (SentinelStats{Wakes: 100}) {
			t.Errorf("%+v", st)
		}
	})
	var none *Sentinel
	none.enter()
	none.leave()
	if none.Max(time.Time{}, time.Now()) != 0 || none.Stats() != (SentinelStats{}) {
		t.Error("no sentinel has seen something")
	}
}

// TestSentinelQueues: 400 goroutines that are always ready to run, 200 µs at a
// time, make each of them wait 80 ms for a core (40 for one of two). A sentinel
// that jumps that queue sees at most what one of them takes.
func TestSentinelQueues(t *testing.T) {
	s := NewSentinel()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { s.Run(ctx) })
	defer all.Wait()
	defer cancel()
	s.enter()
	defer s.leave()
	begin := time.Now()
	for range 400 {
		all.Go(func() {
			for time.Since(begin) < 500*ms {
				for turn := time.Now(); time.Since(turn) < 200*time.Microsecond; {
				}
				runtime.Gosched()
			}
		})
	}
	for time.Since(begin) < 500*ms {
		runtime.Gosched()
	}
	want := 40 * ms / time.Duration(runtime.GOMAXPROCS(0))
	if got := s.Max(begin, time.Now()); got < want {
		t.Errorf("late by %s, want at least %s", got, want)
	}
}

// TestLagSuspect holds which results our own lateness could explain.
func TestLagSuspect(t *testing.T) {
	limit := &limitError{limitStall, time.Second}
	for _, c := range []struct {
		name    string
		outcome Outcome
		limit   *limitError
		ttft    Opt[time.Duration]
		late    time.Duration // ending 100 ms after t0
		lag     time.Duration
		suspect bool
	}{
		{"in time", OK, nil, Some(200 * ms), 0, 0, false},
		{"50 ms are allowed", OK, nil, Some(200 * ms), 50 * ms, 50 * ms, false},
		{"more is not", OK, nil, Some(200 * ms), 51 * ms, 51 * ms, true},
		{"a tenth is allowed", OK, nil, Some(1000 * ms), 90 * ms, 90 * ms, false},
		{"after the first token", OK, nil, Some(20 * ms), 60 * ms, 0, false},
		{"a stall while we were late", Stall, limit, Some(20 * ms), 85 * ms, 85 * ms, false},
		{"a long stop of ours", Stall, limit, Some(20 * ms), 300 * ms, 300 * ms, true},
		{"no lateness makes a 503", Overloaded, nil, Opt[time.Duration]{}, 300 * ms, 300 * ms, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewSentinel()
				s.base, s.users = time.Now(), 1
				t0 := s.base.Add(time.Second)
				s.last = time.Second + 100*ms - c.late - sentinelPeriod
				s.note(time.Second + 100*ms)
				time.Sleep(2 * time.Second) // now is t0 + 1 s
				x := &exchange{e: &Endpoint{cfg: EndpointConfig{Lag: s}}, limit: c.limit, r: Result{Outcome: c.outcome, TTFT: c.ttft}}
				x.lag(moments{t0: t0})
				if x.r.ClientLag != c.lag || x.r.LagSuspect != c.suspect {
					t.Errorf("lag %s, suspect %v; want %s, %v", x.r.ClientLag, x.r.LagSuspect, c.lag, c.suspect)
				}
			})
		})
	}
}
