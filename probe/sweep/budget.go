package sweep

import "tokprobe/probe/capacity"

// fits says whether a run of a level fits into what is left of the token
// budget, at the price of the requests so far: a forecast rests on estimates,
// and an endpoint that thinks first or knows no bound may cost many times that.
func (s *sweep) fits(load float64) (need, left int64, ok bool) {
	s.mu.Lock()
	spent, requests := s.cost.InputTokens+s.cost.OutputTokens, s.cost.Requests
	s.mu.Unlock()
	if s.plan.TokenBudget <= 0 || requests == 0 {
		return 0, 0, true
	}
	n := s.plan.size(load, s.answer)
	if n == 0 && s.answer > 0 { // as many as fit into the duration
		n = int(load * s.plan.Duration.Seconds() / s.answer.Seconds())
	}
	// In floats: an endpoint may bill 10^15 tokens a request, and a product that
	// ran over would fit into any budget.
	need = int64(min(float64(spent)/float64(requests)*float64(n+s.warmUps(load)), 1<<62))
	left = max(0, s.plan.TokenBudget-spent)
	return need, left, need <= left
}

// withinBudget ends the sweep before a level that its budget cannot hold. What
// the forecast let pass may cost a tenth of the budget more: a chat template is
// no reason to stop before the last level.
func (s *sweep) withinBudget(at step) bool {
	need, left, _ := s.fits(at.load)
	ok := at.repeat > 0 || need <= left+s.plan.TokenBudget/10
	if !ok {
		unit := "streams"
		if s.plan.Mode == capacity.Rate {
			unit = "requests/s"
		}
		s.abort("the token budget: the level of %g %s needs about %d tokens at what requests cost here, and %d are left", at.load, unit, need, left)
	}
	return ok
}
