package probe

import "time"

// SkipReason says why a due probe was not started.
type SkipReason string

// The closed list of skip reasons.
const (
	NotSkipped      SkipReason = ""
	SkipOverlap     SkipReason = "overlap"
	SkipSweep       SkipReason = "sweep"
	SkipBudget      SkipReason = "budget"
	SkipMaintenance SkipReason = "maintenance"
	SkipRetryAfter  SkipReason = "retry_after"
	SkipDisabled    SkipReason = "disabled"
	SkipCanary      SkipReason = "canary"
)

// SkipReasons returns the closed list.
func SkipReasons() []SkipReason {
	return []SkipReason{SkipOverlap, SkipSweep, SkipBudget, SkipMaintenance, SkipRetryAfter, SkipDisabled, SkipCanary}
}

// TickStage says which of its (at most two) records a tick is in.
type TickStage int

const (
	// TickDue: the tick was skipped, or its probe has just started. Counted
	// as due, and as started or skipped.
	TickDue TickStage = iota
	// TickDone: the probe finished; Result is set.
	TickDone
)

// Tick is one due moment of a probe and what became of it. A skipped tick is
// recorded once, a started one twice: when it starts and when it is done. A
// probe that our own shutdown cut has no second record.
type Tick struct {
	ID      ID
	Stage   TickStage
	Due     time.Time
	Started time.Time  // when the worker took it; Started − Due is the scheduler's delay
	Skip    SkipReason // NotSkipped for a probe that ran
	Result  Result     // TickDone only
	// Bystander marks a probe that ran beside a sweep: its latencies are
	// excluded, its service failures still count for hard-down.
	Bystander bool
	// Maintenance marks a probe inside a window that only tags: excluded.
	Maintenance bool
}

// Recorder takes what became of every tick. Record must be safe for
// concurrent use and must not block.
type Recorder interface {
	Record(Tick)
}

// Recorders is several recorders as one.
type Recorders []Recorder

// Record implements Recorder.
func (rs Recorders) Record(t Tick) {
	for _, r := range rs {
		r.Record(t)
	}
}
