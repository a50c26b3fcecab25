package probe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// limit names one of the four limits, as the configuration spells it.
type limit string

const (
	limitConnect    limit = "connect"
	limitFirstToken limit = "first_token"
	limitStall      limit = "stall"
	limitTotal      limit = "total"
)

// limitError is the cause of a context that one of our own limits ended.
type limitError struct {
	limit limit
	value time.Duration
}

func (e *limitError) Error() string {
	return fmt.Sprintf("limit %s of %s reached", e.limit, e.value)
}

// watchdog ends one attempt when a limit is reached. It has one timer, which is
// set when a phase begins and otherwise only when it has fired: a token stores
// its time in an atomic, and a timer that fires early computes from it when the
// next limit is due. A stream of 64 tokens at 20 ms with a stall limit of 10 s
// costs three timer settings instead of 64.
type watchdog struct {
	limits Limits
	cancel context.CancelCauseFunc
	begin  time.Time // the connect limit counts from here

	lastToken atomic.Int64 // nanoseconds after t0; 0: no token yet

	mu    sync.Mutex
	timer *time.Timer // nil while no limit is due
	t0    time.Time   // zero before the connection is ready
	done  bool
}

// newWatchdog starts the connect limit at begin.
func newWatchdog(l Limits, begin time.Time, cancel context.CancelCauseFunc) *watchdog {
	w := &watchdog{limits: l, begin: begin, cancel: cancel}
	w.mu.Lock()
	w.arm()
	w.mu.Unlock()
	return w
}

// ready says that the connection is ready: from t0 on the other limits count.
func (w *watchdog) ready(t0 time.Time) {
	w.mu.Lock()
	w.t0 = t0
	w.arm()
	w.mu.Unlock()
}

// token says that a token event came d after t0. Tokens that share one read
// share one call's cost: a single atomic store.
func (w *watchdog) token(d time.Duration) {
	first := w.lastToken.Swap(max(int64(d), 1)) == 0
	if !first {
		return
	}
	// The stall limit may be shorter than what is left of the first-token
	// limit for which the timer is set.
	w.mu.Lock()
	w.arm()
	w.mu.Unlock()
}

// stop ends all limits. Nothing is cancelled by them afterwards.
func (w *watchdog) stop() {
	w.mu.Lock()
	w.done = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
}

// fire runs when the timer does.
func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm()
}

// arm sets the timer to the next limit, or ends the attempt if that has been
// reached. The caller holds mu.
func (w *watchdog) arm() {
	if w.done {
		return
	}
	which, value, due := w.next()
	if which == "" {
		if w.timer != nil {
			w.timer.Stop()
		}
		return
	}
	left := time.Until(due)
	if left <= 0 {
		w.done = true
		w.cancel(&limitError{which, value})
		return
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(left, w.fire)
		return
	}
	w.timer.Reset(left)
}

// next returns the limit that will be reached first if nothing more comes. Of
// two that are due at the same moment the more telling one is returned.
func (w *watchdog) next() (limit, time.Duration, time.Time) {
	if w.t0.IsZero() {
		if w.limits.Connect > 0 {
			return limitConnect, w.limits.Connect, w.begin.Add(w.limits.Connect)
		}
		return "", 0, time.Time{}
	}
	which, value, since := limitFirstToken, w.limits.FirstToken, w.t0
	if last := w.lastToken.Load(); last > 0 {
		which, value, since = limitStall, w.limits.Stall, w.t0.Add(time.Duration(last))
	}
	due := since.Add(value)
	end := w.t0.Add(w.limits.Total)
	switch {
	case value <= 0 && w.limits.Total <= 0:
		return "", 0, time.Time{}
	case value <= 0, w.limits.Total > 0 && end.Before(due):
		return limitTotal, w.limits.Total, end
	}
	return which, value, due
}
