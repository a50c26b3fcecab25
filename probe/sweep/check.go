package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
)

// PlanError is a plan that makes no sense: whoever wrote it is to change it.
type PlanError struct{ err error }

func (e *PlanError) Error() string { return e.err.Error() }

// Unwrap implements errors.Unwrap.
func (e *PlanError) Unwrap() error { return e.err }

// Check says what is wrong with the plan, as a *PlanError: what Run would say,
// known before an endpoint is opened.
func (p Plan) Check() error {
	p, err := p.checked()
	if err != nil {
		return err
	}
	if _, err = p.search(); err != nil {
		return &PlanError{err}
	}
	return nil
}

// checked returns the plan with its ladder sorted, or everything that is wrong
// with it, one problem a line.
func (p Plan) checked() (Plan, error) {
	var problems []string
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if p.Model == "" {
		add("no model: name one")
	}
	if p.Mode != capacity.Concurrency && p.Mode != capacity.Rate {
		add("mode %q: want %s or %s", p.Mode, capacity.Concurrency, capacity.Rate)
	}
	if len(p.Prompts) == 0 {
		add("no prompt: give a scenario, a prompt or a data set")
	}
	if p.Requests < 0 || p.Duration < 0 {
		add("requests and duration of a level cannot be negative")
	}
	if p.Requests > 0 && p.Duration > 0 {
		add("both %d requests and a duration of %s: a level ends by one of the two, keep one", p.Requests, p.Duration)
	}
	switch p.Arrival {
	case "", capacity.Poisson, capacity.Constant, capacity.Gamma:
	default:
		add("arrival %q: want %s, %s or %s", p.Arrival, capacity.Poisson, capacity.Constant, capacity.Gamma)
	}
	if p.Auto == nil {
		p.Ladder = slices.Sorted(slices.Values(p.Ladder))
		p.checkLadder(add)
	}
	if len(problems) > 0 {
		return p, &PlanError{errors.New(strings.Join(problems, "\n"))}
	}
	return p, nil
}

func (p Plan) checkLadder(add func(string, ...any)) {
	switch {
	case len(p.Ladder) == 0:
		add("the ladder has no level: write loads such as 1, 4, 8")
	case len(p.Ladder) > maxLevels:
		add("the ladder has %d levels: write at most %d", len(p.Ladder), maxLevels)
	}
	for i, load := range p.Ladder {
		switch {
		case math.IsNaN(load) || math.IsInf(load, 0) || load <= 0:
			add("load %g: want a number above 0", load)
		case i > 0 && load == p.Ladder[i-1]:
			add("load %g is there twice: write each once", load)
		case p.Mode == capacity.Concurrency && load != math.Floor(load):
			add("load %g: streams are whole numbers", load)
		case p.Mode == capacity.Concurrency && p.Requests > 0 && float64(p.Requests) < load:
			add("%d requests at %g streams: some streams would have none; want at least %g, better %g", p.Requests, load, load, 4*load)
		case p.Mode == capacity.Rate && load < 1e-4:
			add("load %g: want at least 0.0001 requests a second, one in three hours", load)
		case load > 100_000:
			add("load %g: want at most 100,000", load)
		}
	}
}

// Forecast is what one run is expected to cost at most, without the repeats
// of levels around the knee. A search is taken to double up to its largest load
// and to halve the bracket below it: to 64 streams with 5 % that is 1, 2, 4, 8,
// 16, 32, 64 and five more of at most 64.
func (p Plan) Forecast() roster.Load {
	s := roster.Sweep{Mode: string(p.Mode), Ladder: p.Ladder, Requests: p.Requests, Duration: p.Duration, MaxDuration: p.MaxDuration}
	if p.Auto != nil {
		s.Ladder = p.Auto.worst()
	}
	if len(p.Prompts) == 0 {
		return roster.Load{}
	}
	longest := p.Prompts[0] // of a data set: what the dearest prompt would cost is no forecast, the mean is
	s.Prompt = &longest
	if s.Requests == 0 && s.Duration == 0 && !p.Scheduled {
		return p.byHandForecast(s)
	}
	return p.priced(s.OneRun().Requests, s)
}

// worst are the loads of a search that goes on for as long as it can.
func (a Auto) worst() []float64 {
	var loads []float64
	for load := cmp.Or(a.Start, 1); load > 0 && load < 2*a.MaxLoad && len(loads) < maxLevels; load *= 2 {
		loads = append(loads, min(load, a.MaxLoad))
	}
	for bracket := a.MaxLoad / 2; bracket > a.tolerance()*a.MaxLoad/2 && len(loads) < maxLevels; bracket /= 2 {
		loads = append(loads, a.MaxLoad)
	}
	return loads
}

// tolerance is that of capacity.SearchConfig where none is set.
func (a Auto) tolerance() float64 { return cmp.Or(a.Tolerance, capacity.DefaultTolerance) }

// byHandForecast counts the larger default levels of a sweep by hand.
func (p Plan) byHandForecast(s roster.Sweep) roster.Load {
	n := 0.0
	for _, load := range s.Ladder {
		if p.Mode == capacity.Rate {
			n += float64(p.openRequests(load, 0)) + 1
			continue
		}
		n += float64(p.defaultRequests(load)) + min(load, maxWarmUps)
	}
	return p.priced(n, s)
}

func (p Plan) priced(requests float64, s roster.Sweep) roster.Load {
	in, out := 0.0, 0.0
	for _, q := range p.Prompts {
		in += float64(roster.EstimateInput(q)) / float64(len(p.Prompts))
		out += float64(roster.EstimateOutput(q)) / float64(len(p.Prompts))
	}
	return roster.Load{Requests: requests, InputTokens: requests * in, OutputTokens: requests * out, Minutes: s.MaxDuration.Minutes()}
}

// BudgetError is a sweep that was refused since it would cost too much.
type BudgetError struct{ Need, Budget int64 }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("the ladder needs up to %d tokens and the budget has %d: nothing was sent; ask fewer requests, take a shorter ladder or raise the budget to %d", e.Need, e.Budget, e.Need)
}

func (p Plan) checkBudget() error {
	need := int64(math.Ceil(p.Forecast().Tokens()))
	if p.TokenBudget > 0 && need > p.TokenBudget {
		return &BudgetError{Need: need, Budget: p.TokenBudget}
	}
	return nil
}
