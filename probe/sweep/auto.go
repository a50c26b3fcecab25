package sweep

import (
	"slices"

	"tokprobe/probe/capacity"
)

// search prepares the search of --auto; nil for a ladder.
func (p Plan) search() (*capacity.Search, error) {
	if p.Auto == nil {
		return nil, nil
	}
	return capacity.NewSearch(capacity.SearchConfig{Mode: p.Mode, Start: p.Auto.Start, Max: p.Auto.MaxLoad, Tolerance: p.Auto.Tolerance})
}

// seek runs the levels that the search asks for.
func (s *sweep) seek(search *capacity.Search) {
	for n := 1; ; n++ {
		load, done := search.Next()
		if done || !s.step(step{load: load, at: n}) {
			return
		}
		search.Report(load, s.good(load))
	}
}

// good says whether more load than this is worth a try: with an SLO if its
// promises hold, without one if the load still pays. A level that could not be
// judged is not good.
func (s *sweep) good(load float64) bool {
	r := s.report()
	i := slices.IndexFunc(r.Levels, func(l capacity.Level) bool { return l.Load == load })
	if i < 0 {
		return false
	}
	switch l := r.Levels[i]; l.State {
	case capacity.Failing, capacity.NotJudged:
		return false
	case capacity.Saturated, capacity.Overloaded:
		return s.plan.SLO != nil && l.MeetsSLO()
	default:
		return s.plan.SLO == nil || l.MeetsSLO()
	}
}
