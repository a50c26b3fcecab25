package admit

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Cron is a parsed five-field cron expression in a time zone.
type Cron struct {
	schedule cron.Schedule
	zone     *time.Location
	hourly   bool // the hour field is a star
}

// everyHour is the bit by which robfig/cron marks a field that was a star.
const everyHour = 1 << 63

// ParseCron parses five fields (or @daily and its like); an empty zone is UTC.
// A zone inside the expression and @every are refused: the first has a key of
// its own, the second has no phase.
func ParseCron(expr, zone string) (Cron, error) {
	trimmed := strings.TrimSpace(expr)
	if strings.HasPrefix(trimmed, "TZ=") || strings.HasPrefix(trimmed, "CRON_TZ=") {
		return Cron{}, fmt.Errorf("cron %q: write the zone under timezone, not into the expression", expr)
	}
	if strings.HasPrefix(trimmed, "@every") {
		return Cron{}, fmt.Errorf("cron %q: use an interval (every) instead of @every", expr)
	}
	loc, err := time.LoadLocation(zone) // "" is UTC
	if err != nil || zone == "Local" {
		return Cron{}, fmt.Errorf("timezone %q: not a known IANA name, such as Europe/Berlin", zone)
	}
	s, err := cron.ParseStandard(trimmed)
	if err != nil {
		return Cron{}, fmt.Errorf("cron %q: %w; five fields are needed: minute hour day month weekday, such as \"30 3 * * *\"", expr, err)
	}
	c := Cron{schedule: s, zone: loc}
	if spec, ok := s.(*cron.SpecSchedule); ok {
		spec.Location = loc
		c.hourly = spec.Hour&everyHour != 0
	}
	if c.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Cron{}, fmt.Errorf("cron %q: no such day ever comes", expr)
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
