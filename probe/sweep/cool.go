package sweep

import (
	"context"
	"time"

	"tokprobe/probe"
)

// refusedBy notes after a 429 how long the endpoint must be left alone: a
// minute, or longer if it says so.
func (s *sweep) refusedBy(r probe.Result) {
	if r.Outcome != probe.RateLimited || r.Cut {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait = max(s.wait, refusedCoolDown, r.RetryAfter.V, r.RateLimit.Reset.V)
}

// longestCoolDown bounds what an endpoint can ask for: a quota of a day that
// resets in nine hours would hold the sweep that long.
const longestCoolDown = 15 * time.Minute

// coolDown waits between two levels; false if the sweep ended meanwhile. One
// EndLevel cuts it short.
func (s *sweep) coolDown(next step) bool {
	s.mu.Lock()
	asked := max(s.wait, s.plan.coolDown())
	wait := min(asked, longestCoolDown)
	s.wait = 0
	s.mu.Unlock()
	if asked > wait {
		s.warnf("before level %g the endpoint asked to be left alone for %s; the sweep waited %s", next.load, asked.Round(time.Second), wait)
	}
	s.tell(Progress{Stage: Cooling, Level: next.at, Levels: s.levels(), Load: next.load, Mode: s.plan.Mode, Repeat: next.repeat, Left: wait})
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-s.env.EndLevel:
	}
	return s.ctx.Err() == nil
}
