package schedule

import (
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

// plan knows the due moments of one watch: an interval with its phase, or a
// cron.
type plan struct {
	every, phase time.Duration
	cron         admit.Cron
}

func newPlan(w roster.Watch) (plan, error) {
	switch {
	case w.Cron == "" && w.Every > 0:
		return plan{every: w.Every, phase: roster.Phase(w.ID, w.Every)}, nil
	case w.Cron != "" && w.Every == 0:
		c, err := admit.ParseCron(w.Cron, w.Zone)
		if err != nil {
			return plan{}, fmt.Errorf("probe %s: %w", w.ID, err)
		}
		return plan{cron: c}, nil
	}
	return plan{}, fmt.Errorf("probe %s: needs either an interval above 0 or a cron, has every %s and cron %q", w.ID, w.Every, w.Cron)
}

// next returns the first due moment after t, with t's monotonic reading.
func (p plan) next(t time.Time) time.Time {
	if p.every == 0 {
		return p.cron.Next(t)
	}
	past := (time.Duration(t.UnixNano()) - p.phase) % p.every
	if past < 0 {
		past += p.every
	}
	return t.Add(p.every - past)
}

// interval returns the distance of due moments around t.
func (p plan) interval(t time.Time) time.Duration {
	if p.every > 0 {
		return p.every
	}
	first := p.cron.Next(t)
	return p.cron.Next(first).Sub(first)
}

// job describes the due moments to gocron. Intervals are a duration job, since
// gocron takes two runs of a cron job within one second for a repeated hour.
func (p plan) job() gocron.JobDefinition {
	if p.every > 0 {
		return gocron.DurationJob(p.every)
	}
	return gocron.CronJob("", false)
}

// cronOf lets gocron ask a plan for due moments, so that both agree on zones
// and repeated hours.
type cronOf struct{ plan plan }

func (c cronOf) IsValid(string, *time.Location, time.Time) error { return nil }
func (c cronOf) Next(t time.Time) time.Time                      { return c.plan.next(t) }
