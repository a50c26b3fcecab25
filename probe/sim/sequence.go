package sim

import (
	"sync/atomic"
	"time"
)

// sequence is one request inside an engine. Fields below mu belong to the
// engine's lock.
type sequence struct {
	prompt int      // prompt tokens
	output int      // tokens to make
	blocks []uint64 // prefix hashes

	ready  atomic.Int64  // tokens made so far
	notify chan struct{} // one pending wake-up

	// Truth mode: token i is due at first + i × gap.
	fixed bool
	first time.Time
	gap   time.Duration
	timer *time.Timer // belongs to the goroutine that writes the stream

	started   time.Time // of prefill
	firstMade time.Time // end of the step that made the first token
	cached    int       // prompt tokens found in the prefix cache
	todo      int       // tokens to prefill
	share     int       // of them in the running step
	slow      float64   // jitter factor of its prefill
	left      bool
}

// at is when token i is made in truth mode.
func (q *sequence) at(i int) time.Time { return q.first.Add(time.Duration(i) * q.gap) }

// due says whether token i was made; if not, the channel (truth mode) or
// notify (batching) wakes up when that may have changed.
func (q *sequence) due(i int) (<-chan time.Time, bool) {
	if !q.fixed {
		return nil, q.ready.Load() > int64(i)
	}
	if i >= q.output {
		return nil, false
	}
	wait := time.Until(q.at(i))
	if wait <= 0 {
		return nil, true
	}
	if q.timer == nil {
		q.timer = time.NewTimer(wait)
	} else {
		q.timer.Reset(wait)
	}
	return q.timer.C, false
}
