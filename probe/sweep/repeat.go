package sweep

import (
	"slices"

	"tokprobe/probe/capacity"
)

// repeat runs the levels around the knee again until each has its number of
// runs: the knee, the level below it and the one above, which decide where it
// is. If that moves the knee, the levels around the new one follow, once.
func (s *sweep) repeat() {
	const rounds = 2
	for range rounds {
		again := s.aroundKnee()
		if s.ctx.Err() != nil || len(again) == 0 {
			return
		}
		for _, at := range again {
			for at.repeat = len(s.runs[at.load]); at.repeat < s.plan.Repeats; at.repeat++ {
				if !s.affords(at) || !s.step(at) {
					return
				}
			}
		}
	}
}

// affords says whether one more run of a level fits into the token budget. The
// forecast that the sweep began with holds no repeats, since nobody knows
// before which levels they will be.
func (s *sweep) affords(at step) bool {
	need, left, ok := s.fits(at.load)
	if !ok {
		s.warnf("levels around the knee were not all repeated: one more run of %g needs about %d tokens, and %d are left of the budget", at.load, need, left)
	}
	return ok
}

// aroundKnee lists the levels that lack runs. Levels that fail are left alone:
// failing again teaches nothing and costs a minute each where we are refused.
func (s *sweep) aroundKnee() []step {
	if s.plan.Repeats < 2 {
		return nil
	}
	r := s.report()
	if !r.Knee.Reached {
		return nil
	}
	at := slices.IndexFunc(r.Levels, func(l capacity.Level) bool { return l.Load == r.Knee.Load.V })
	var steps []step
	for i := max(0, at-1); i < min(len(r.Levels), at+2); i++ {
		l := r.Levels[i]
		if l.State != capacity.Failing && len(s.runs[l.Load]) < s.plan.Repeats {
			steps = append(steps, step{load: l.Load, at: i + 1})
		}
	}
	return steps
}
