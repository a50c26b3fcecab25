// Package admit answers one question: may this tick run? It is pure: time and
// state are passed in, so every rule can be tested on a table.
package admit

import (
	"time"

	"tokprobe/probe"
)

// Slowdown is the factor by which a probe over its soft budget slows down: of
// ten ticks one runs.
const Slowdown = 10

// A Retry-After is honoured for at most maxRetryAfter or retryIntervals
// intervals, whichever is longer: a probe that obeys a header of a day would
// be blind for a day.
const (
	maxRetryAfter  = 5 * time.Minute
	retryIntervals = 3
)

// State is all that a decision depends on. The zero value lets a tick run.
type State struct {
	Disabled   bool     // the kill switch is on
	Windows    []Window // maintenance windows of the target
	CanaryDown bool     // a canary says that this machine or its network cannot measure
	Held       bool     // a sweep holds the target and model, and this is not its bystander
	Retry      Retry    // what the endpoint last asked for
	Every      time.Duration
	Budget     Budget
	// Turn numbers the ticks of one watch. Over a soft budget those divisible
	// by Slowdown run; a start value that differs from watch to watch spreads
	// them.
	Turn uint64
}

// Retry is the Retry-After of an answer: when it came and how long it asked
// to be left alone. The zero value asks for nothing.
type Retry struct {
	Since time.Time
	For   time.Duration
}

// Budget is a daily allowance of tokens and what is gone of it today (UTC).
// Limit 0 is no limit.
type Budget struct {
	Limit, Spent int64
	Hard         bool // stop at the limit instead of slowing to a tenth
}

// Decide says whether a tick at now may run: NotSkipped, or the first reason
// that applies, the most deliberate first (a human's switch, a plan, our own
// health, a sweep, the endpoint's wish, money). tagged is set inside a
// maintenance window, also one that lets probes run: their results are
// outside every SLO.
func Decide(now time.Time, s State) (skip probe.SkipReason, tagged bool) {
	stop, tagged := maintenance(now, s.Windows)
	switch {
	case s.Disabled:
		return probe.SkipDisabled, tagged
	case stop:
		return probe.SkipMaintenance, tagged
	case s.CanaryDown:
		return probe.SkipCanary, tagged
	case s.Held:
		return probe.SkipSweep, tagged
	case now.Before(s.Retry.Until(s.Every)):
		return probe.SkipRetryAfter, tagged
	case s.Budget.Exceeded() && (s.Budget.Hard || s.Turn%Slowdown != 0):
		return probe.SkipBudget, tagged
	}
	return probe.NotSkipped, tagged
}

// Until returns when a watch with the given interval may ask again: at 30 s a
// header of 1 h counts as 5 m, at 10 m as 30 m. Zero if nothing was asked for.
func (r Retry) Until(every time.Duration) time.Time {
	if r.For <= 0 {
		return time.Time{}
	}
	return r.Since.Add(min(r.For, max(maxRetryAfter, retryIntervals*every)))
}

// Exceeded tells whether the day's allowance is gone.
func (b Budget) Exceeded() bool { return b.Limit > 0 && b.Spent >= b.Limit }
