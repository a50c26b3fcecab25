package probe

import (
	"context"
	"runtime"
	"sync"
	"time"
)

const (
	// sentinelPeriod is how often the sentinel wakes while something is being
	// measured. 100 wakes a second cost what 100 timers a second cost: some
	// 0.1 % of a core on bare metal, 1 to 2 % (190 µs a wake) on a virtual
	// machine that sleeps in between. A longer period would cost less, but a
	// stop of 60 ms would be seen as 40 with one of 20 ms, so it sleeps while
	// nobody measures instead: 10 probes a minute of 1 s each pay for a sixth.
	sentinelPeriod = 10 * time.Millisecond
	// sentinelRing holds 4 minutes of wakes (24,000 × 16 bytes = 384 KB), more
	// than any probe's total limit.
	sentinelRing = 24_000
)

// Sentinel measures how late this process gets to run. While a probe is under
// way a goroutine asks to be woken every 10 ms and notes by how much each wake
// was late: time that a busy machine, a garbage collection, a throttled
// container or a long queue of our own streams took from every measurement. A
// nil Sentinel has seen nothing.
type Sentinel struct {
	begun chan struct{} // somebody began to measure

	mu      sync.Mutex
	base    time.Time // zero until Run
	running bool
	users   int           // measurements under way
	last    time.Duration // since base: the latest wake
	ring    []wake
	wakes   uint64 // ever noted; ring[wakes % len] is the next to write
	worst   time.Duration
}

// wake is one wake-up: it came at, late by late. The process was not running
// in (at−late, at].
type wake struct{ at, late time.Duration }

// SentinelStats sums up what a Sentinel has seen since it was started.
type SentinelStats struct {
	Wakes  uint64
	Worst  time.Duration // largest lateness ever
	Latest time.Duration // lateness of the latest wake
}

// NewSentinel returns a sentinel that sees nothing until Run.
func NewSentinel() *Sentinel {
	return &Sentinel{ring: make([]wake, sentinelRing), begun: make(chan struct{}, 1)}
}

// enter says that a measurement begins; leave that one has ended.
func (s *Sentinel) enter() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.users++
	first := s.users == 1
	if first && !s.base.IsZero() {
		s.last = time.Since(s.base) // nobody was late while nobody measured
	}
	s.mu.Unlock()
	if first {
		select {
		case s.begun <- struct{}{}:
		default:
		}
	}
}

func (s *Sentinel) leave() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.users--
	s.mu.Unlock()
}

// Run watches until ctx ends. It is to be called once.
func (s *Sentinel) Run(ctx context.Context) {
	now := time.Now()
	s.mu.Lock()
	s.base, s.last, s.running = now, 0, true
	s.mu.Unlock()
	defer s.stop()

	timer := time.NewTimer(sentinelPeriod)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.begun:
			timer.Reset(sentinelPeriod)
		case <-timer.C:
			// A fired timer's goroutine is run next, before all that are
			// ready to run, so its own lateness says nothing of theirs. One
			// yield puts it behind them, where every read of a stream waits.
			runtime.Gosched()
			if s.note(time.Since(now)) {
				timer.Reset(sentinelPeriod)
			}
		}
	}
}

func (s *Sentinel) stop() {
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
}

// note records a wake at the given time since base. It returns false, and
// records nothing, while nobody measures.
func (s *Sentinel) note(at time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 {
		return false
	}
	late := max(at-s.last-sentinelPeriod, 0)
	s.last = at
	s.ring[s.wakes%uint64(len(s.ring))] = wake{at, late}
	s.wakes++
	s.worst = max(s.worst, late)
	return true
}

// Max returns the largest lateness that touches [from, to], a time in which
// something was being measured, including one that is still going on. Only the part of the past that the ring holds is known:
// about 4 minutes. 0 means that nothing was late (or that nobody looked).
func (s *Sentinel) Max(from, to time.Time) time.Duration {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base.IsZero() {
		return 0
	}
	begin, end := from.Sub(s.base), to.Sub(s.base)
	var worst time.Duration
	// The wake that is due now may be late itself, and would be noted only
	// after this query.
	if s.running && s.users > 0 {
		if late := time.Since(s.base) - s.last - sentinelPeriod; late > 0 && s.last+sentinelPeriod <= end {
			worst = late
		}
	}
	n := uint64(len(s.ring))
	for i := s.wakes; i > 0 && i+n > s.wakes; i-- {
		w := s.ring[(i-1)%n]
		if w.at < begin {
			break
		}
		if w.at-w.late <= end {
			worst = max(worst, w.late)
		}
	}
	return worst
}

// Stats sums up what was seen so far.
func (s *Sentinel) Stats() SentinelStats {
	if s == nil {
		return SentinelStats{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := SentinelStats{Wakes: s.wakes, Worst: s.worst}
	if s.wakes > 0 {
		st.Latest = s.ring[(s.wakes-1)%uint64(len(s.ring))].late
	}
	return st
}
