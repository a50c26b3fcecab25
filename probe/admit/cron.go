package admit

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"tokprobe/probe/roster"
)

// Cron is a parsed five-field cron expression in a time zone.
type Cron struct {
	schedule roster.Schedule
	zone     *time.Location
	hourly   bool // the hour field is a star
}

// everyHour is the bit by which robfig/cron marks a field that was a star.
const everyHour = 1 << 63

// ParseCron is roster.ParseCron with an error that shows what was written.
func ParseCron(expr, zone string) (Cron, error) {
	s, err := roster.ParseCron(expr, zone)
	if err != nil {
		return Cron{}, fmt.Errorf("cron %q in zone %q: %w", expr, zone, err)
	}
	zoned, err := roster.ParseZone(zone)
	if err != nil {
		return Cron{}, err
	}
	c := Cron{schedule: s, zone: zoned}
	if spec, ok := s.(*cron.SpecSchedule); ok {
		c.hourly = spec.Hour&everyHour != 0
	}
	return c, nil
}

// Next returns the first moment after t, zero if there is none within five
// years. When clocks go forward, times in the gap do not exist that day and
// are left out; when they go back, a fixed hour counts once (its first pass)
// and a star hour counts in both. The monotonic reading of t is kept, so that
// a timer set to the result does not move with the wall clock.
func (c Cron) Next(t time.Time) time.Time {
	wall := t.Round(0)
	n := c.schedule.Next(wall.In(c.zone))
	for !c.hourly && !n.IsZero() && secondPass(n) {
		n = c.schedule.Next(n)
	}
	if n.IsZero() {
		return n
	}
	return t.Add(n.Sub(wall))
}

// secondPass tells whether the wall clock showed the same time a moment ago:
// clocks go back by an hour nearly everywhere, by half an hour on Lord Howe.
func secondPass(t time.Time) bool {
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		before := t.Add(-back)
		if before.Day() == t.Day() && before.Hour() == t.Hour() && before.Minute() == t.Minute() {
			return true
		}
	}
	return false
}
