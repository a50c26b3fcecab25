package admit

import (
	"errors"
	"fmt"
	"time"

	"tokprobe/probe/roster"
)

// Window is a compiled maintenance window.
type Window struct {
	starts  Cron
	length  time.Duration
	tagOnly bool
}

// Windows compiles the maintenance windows of a target. The error names every
// window that cannot be understood, by its index.
func Windows(list []roster.Window) ([]Window, error) {
	var out []Window
	var errs []error
	for i, w := range list {
		c, err := ParseCron(w.Cron, w.Zone)
		if err == nil && w.Duration <= 0 {
			err = fmt.Errorf("duration %s: must be above 0, such as 1h", w.Duration)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("maintenance[%d]: %w", i, err))
			continue
		}
		out = append(out, Window{starts: c, length: w.Duration, tagOnly: w.TagOnly})
	}
	return out, errors.Join(errs...)
}

// Active tells whether now lies in the window: from its start (inclusive) to
// its end (exclusive). The first start after now − length has not ended yet;
// the window is open if that start is not in the future.
func (w Window) Active(now time.Time) bool {
	start := w.starts.Next(now.Add(-w.length))
	return !start.IsZero() && !start.After(now)
}

// maintenance tells whether any window is open and whether one of them stops
// probes.
func maintenance(now time.Time, list []Window) (stop, active bool) {
	for _, w := range list {
		if w.Active(now) {
			active = true
			stop = stop || !w.tagOnly
		}
	}
	return stop, active
}

// InMaintenance tells whether any of the windows is open, be it one that
// stops probes or one that only tags them.
func InMaintenance(now time.Time, list []Window) bool {
	_, active := maintenance(now, list)
	return active
}
