package schedule

import (
	"fmt"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/sweep"
)

// clock queues what is due.
func (w *sweeper) clock() {
	for {
		wait, some := w.tick(time.Now())
		var timer *time.Timer
		var rings <-chan time.Time
		if some {
			timer = time.NewTimer(min(wait, sweepLook))
			rings = timer.C
		}
		select {
		case <-w.ctx.Done():
		case <-w.changed:
		case <-rings:
		}
		if timer != nil {
			timer.Stop()
		}
		if w.ctx.Err() != nil {
			return
		}
	}
}

// tick queues what is due at now and returns how long until the next is; false
// if there is none.
func (w *sweeper) tick(now time.Time) (wait time.Duration, some bool) {
	w.mu.Lock()
	var events []SweepEvent
	var first time.Time
	wall := now.Round(0)
	for _, key := range w.order {
		j := w.jobs[key]
		if due := j.next.Round(0); !j.next.IsZero() && !due.After(wall) {
			if reason, text := w.enqueue(j, now, wall.Sub(due)); reason != probe.NotSkipped {
				events = append(events, skipped(j.sweep, now, reason, text))
			}
			j.next = j.cron.Next(now)
		}
		if !j.next.IsZero() && (first.IsZero() || j.next.Round(0).Before(first)) {
			first = j.next.Round(0)
		}
	}
	w.mu.Unlock()
	w.tell(events...)
	return max(first.Sub(wall), 0), !first.IsZero()
}

// enqueue puts a due sweep into the queue, unless it is there or too late; the
// caller holds mu.
func (w *sweeper) enqueue(j *sweepJob, now time.Time, late time.Duration) (probe.SkipReason, string) {
	switch {
	case !w.here(j.sweep):
		return probe.NotSkipped, "" // another location's
	case late > sweepLate:
		return probe.SkipOverlap, fmt.Sprintf("it came due %s ago, while this machine or process did not run", late.Round(time.Second))
	case j.running || !j.queued.IsZero():
		return probe.SkipOverlap, "the run before it is not over"
	}
	j.queued = now
	w.queue = append(w.queue, j)
	poke(w.wake)
	return probe.NotSkipped, ""
}

// here tells whether a sweep runs in this location.
func (w *sweeper) here(sw roster.Sweep) bool {
	if len(sw.Locations) == 0 {
		return true
	}
	for _, l := range sw.Locations {
		if l == w.cfg.Location {
			return true
		}
	}
	return false
}

func skipped(sw roster.Sweep, now time.Time, reason probe.SkipReason, text string) SweepEvent {
	return SweepEvent{Sweep: sw, Stage: SweepSkipped, At: now, Skip: reason, Reason: text}
}

func (w *sweeper) tell(events ...SweepEvent) {
	for _, e := range events {
		w.cfg.Recorder.RecordSweep(e)
	}
}

// runner runs what is in the queue, first come first served.
func (w *sweeper) runner() {
	for w.ctx.Err() == nil {
		j := w.take()
		if j == nil {
			select {
			case <-w.ctx.Done():
			case <-w.wake:
			}
			continue
		}
		w.run(j)
		w.mu.Lock()
		j.running, j.progress = false, sweep.Progress{}
		w.mu.Unlock()
	}
}

// take returns the next sweep of the queue, nil if it is empty. One that has
// waited too long, or is gone, is passed over.
func (w *sweeper) take() *sweepJob {
	now := time.Now()
	w.mu.Lock()
	var events []SweepEvent
	var found *sweepJob
	for found == nil && len(w.queue) > 0 {
		j := w.queue[0]
		w.queue = w.queue[1:]
		waited := now.Sub(j.queued)
		j.queued = time.Time{}
		switch {
		case j.gone:
		case waited > sweepWait:
			events = append(events, skipped(j.sweep, now, probe.SkipSweep, fmt.Sprintf("it waited %s for other sweeps", waited.Round(time.Second))))
		default:
			j.running, found = true, j
		}
	}
	w.mu.Unlock()
	w.tell(events...)
	return found
}
