package roster

import (
	"errors"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule tells the next moment after t at which something is due.
type Schedule interface {
	Next(t time.Time) time.Time
}

// ParseCron reads five cron fields (minute hour day month weekday) or one of
// @hourly, @daily, @weekly, @monthly, @yearly, in an IANA time zone; an empty
// zone is UTC, never the machine's own. In a zone with daylight saving a time
// that the clocks jump over does not fire that day.
func ParseCron(expr, zone string) (Schedule, error) {
	if strings.Contains(expr, "TZ=") {
		return nil, errors.New("a zone inside the expression; write timezone: beside it")
	}
	if strings.HasPrefix(strings.TrimSpace(expr), "@every") {
		return nil, errors.New("@every has no fixed phase; write every: in place of cron")
	}
	loc, err := ParseZone(zone)
	if err != nil {
		return nil, err
	}
	s, err := cron.ParseStandard(expr)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), ": strconv")
		return nil, errors.New(why + "; write five fields: minute hour day month weekday")
	}
	spec, ok := s.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("write five fields: minute hour day month weekday")
	}
	spec.Location = loc
	if spec.Next(time.Unix(0, 0)).IsZero() {
		return nil, errors.New("never fires (no such day)")
	}
	return spec, nil
}

// ParseZone reads an IANA zone name; empty is UTC. "Local" is refused: two
// machines would disagree.
func ParseZone(zone string) (*time.Location, error) {
	if zone == "" {
		return time.UTC, nil
	}
	if strings.EqualFold(zone, "local") {
		return nil, errors.New(`"Local" differs from machine to machine; write a name such as Europe/Berlin`)
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, errors.New("unknown time zone; write a name such as UTC or Europe/Berlin")
	}
	return loc, nil
}

// FiringsIn counts the firings of s within [from, to).
func FiringsIn(s Schedule, from, to time.Time) int {
	n := 0
	for t := s.Next(from.Add(-time.Nanosecond)); !t.IsZero() && t.Before(to); t = s.Next(t) {
		n++
	}
	return n
}

// MinGap is the shortest time between two firings of s, looked for over a year
// and at most 2,000 firings from a fixed start. Two firings are needed; a
// schedule without them gives a year.
func MinGap(s Schedule) time.Duration {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	shortest := 366 * 24 * time.Hour
	last := s.Next(start)
	for i := 0; i < 2000 && last.Sub(start) < 366*24*time.Hour; i++ {
		next := s.Next(last)
		if next.IsZero() {
			break
		}
		shortest = min(shortest, next.Sub(last))
		last = next
	}
	return shortest
}
