package capacity

import (
	"slices"

	"tokprobe/probe"
)

// State is how a level is judged against the lower ones.
type State string

// The closed list of states.
const (
	Baseline       State = "baseline"        // the first valid level
	Scaling        State = "scaling"         // more load gives about as much more throughput
	NearSaturation State = "near_saturation" // it gives clearly less, or the next level gives nothing
	Saturated      State = "saturated"       // more load gave nothing
	Overloaded     State = "overloaded"      // more load took something away
	Failing        State = "failing"         // requests failed
	// NotJudged: untrusted, too short, or without a throughput. Such a level
	// is neither a step nor a reference.
	NotJudged State = "not_judged"
)

// States returns the closed list.
func States() []State {
	return []State{Baseline, Scaling, NearSaturation, Saturated, Overloaded, Failing, NotJudged}
}

// Valid says that the level's throughput may be compared with others.
func (s State) Valid() bool { return s != "" && s != Failing && s != NotJudged }

// bad says that the level lies beyond the knee, if confirmed.
func (s State) bad() bool { return s == Saturated || s == Overloaded || s == Failing }

// Knee is the last load that still paid. Load is known if Reached; AtLeast is
// the highest valid load if not.
type Knee struct {
	Load    probe.Opt[float64] `json:"load,omitzero"`
	Reached bool               `json:"reached"`
	AtLeast probe.Opt[float64] `json:"at_least,omitzero"`
}

// Judge gives every point its state, in the order given, and finds the knee.
// The order does not matter; points of equal load get the same state, that of
// their median.
//
// Throughput 4,210, 15,200, 27,800, 30,100, 30,500 at loads 1, 4, 8, 16, 32:
// at 16 the gain over the best lower level is 30,100/27,800 − 1 = 8.3 % for
// 100 % more load, an efficiency of 0.083: saturated. No higher level beats
// 30,100 by 5 %, so the knee is 8.
func Judge(points []Point, th Thresholds) ([]State, Knee) {
	th = th.withDefaults()
	steps := steps(points)
	states := make([]State, len(steps))
	for i := range steps {
		states[i] = stateOf(steps, states, i, th)
	}
	for i := range states {
		if states[i] == Scaling && nextBad(states, i) {
			states[i] = NearSaturation
		}
	}
	out := make([]State, len(points))
	for i, p := range points {
		out[i] = NotJudged
		if at := slices.IndexFunc(steps, func(s Point) bool { return s.Load == p.Load }); at >= 0 {
			out[i] = states[at]
		}
	}
	return out, kneeOf(steps, states, th)
}

// stateOf judges step i, the states of lower steps being known.
func stateOf(steps []Point, states []State, i int, th Thresholds) State {
	p := steps[i]
	switch {
	case p.Failing:
		return Failing
	case p.Skip || !p.Throughput.OK:
		return NotJudged
	}
	best, before := -1, -1
	for j := range i {
		if states[j].Valid() {
			before = j
			if best < 0 || steps[j].Throughput.V > steps[best].Throughput.V {
				best = j
			}
		}
	}
	if best < 0 {
		return Baseline
	}
	gain, efficiency, step := gainOver(steps[best], p)
	grown := p.Tail.OK && steps[before].Tail.OK && p.Tail.V >= th.TailGrowth*steps[before].Tail.V
	beyond := states[before] == Saturated || states[before] == Overloaded
	switch {
	case gain < th.Decline, beyond && grown:
		return Overloaded
	case efficiency < th.SaturatedEfficiency, gain < th.SaturatedGain && step >= th.MinStep:
		return Saturated
	case efficiency < th.NearEfficiency:
		return NearSaturation
	}
	return Scaling
}

// undelivered: below this share of the step in load that was asked for, the
// step that was really applied counts.
const undelivered = 0.95

// gainOver compares a step with the best lower one: the gain in throughput,
// the efficiency (gain per gain in load) and the step in load as a factor.
// Where no more load was really applied, efficiency and step are 1: nothing
// can be held against the server.
func gainOver(best, p Point) (gain, efficiency, step float64) {
	step = p.Load / best.Load
	applied := step
	if p.Offered.OK && best.Offered.OK && best.Offered.V > 0 {
		applied = p.Offered.V / best.Offered.V
	}
	switch {
	case best.Throughput.V > 0:
		gain = p.Throughput.V/best.Throughput.V - 1
	case p.Throughput.V > 0:
		gain = step - 1 // from nothing to something: as good as can be
	}
	switch {
	case applied <= 1:
		return gain, 1, 1
	case applied < undelivered*step:
		step = applied
	}
	return gain, gain / (applied - 1), step
}

// nextBad says whether the next judged step after i is bad.
func nextBad(states []State, i int) bool {
	for _, s := range states[i+1:] {
		if s != NotJudged {
			return s.bad()
		}
	}
	return false
}

// kneeOf finds the last good step before the first bad one that no higher valid
// step refutes. With 348, 190 and 272 tok/s at 4, 8 and 16 the step to 8 is
// refuted by 16, the one to 16 by nothing: the knee is at 4, since 8 is itself
// past it.
func kneeOf(steps []Point, states []State, th Thresholds) Knee {
	var last probe.Opt[float64]
	for i, s := range states {
		if last.OK && s.bad() && !refuted(steps, states, i, th) {
			return Knee{Load: last, Reached: true}
		}
		if s.Valid() && !s.bad() { // a refuted dip is no load to recommend
			last = probe.Some(steps[i].Load)
		}
	}
	return Knee{AtLeast: last}
}

func refuted(steps []Point, states []State, i int, th Thresholds) bool {
	for j := i + 1; j < len(steps); j++ {
		if states[j].Valid() && steps[j].Throughput.V > steps[i].Throughput.V*(1+th.Confirm) {
			return true
		}
	}
	return false
}
