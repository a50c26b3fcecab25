package capacity

import (
	"errors"
	"fmt"
	"math"
)

// Demand is what a plan has to carry.
type Demand struct {
	PeakRPS float64 // requests per second at the peak
	// Headroom is the share of instances added on top: 0.15.
	Headroom float64
	// PerInstanceRPS is what one instance carries; 0 takes it from Report.
	PerInstanceRPS float64
	Report         *Report
	// Instances is how many instances the report measured; 0 means 1.
	Instances int
	// Limit bounds the load taken from the report; nil takes the knee (and
	// the SLO the report was made with, if any).
	Limit *Limit
}

// Plan is how many instances a peak needs.
type Plan struct {
	PeakRPS        float64  `json:"peak_rps"`
	PerInstanceRPS float64  `json:"per_instance_rps"`
	Instances      int      `json:"instances"`
	WithHeadroom   int      `json:"instances_with_headroom"`
	Headroom       float64  `json:"headroom"`
	Basis          string   `json:"basis"` // where the figure per instance comes from
	Warnings       []string `json:"warnings,omitempty"`
}

// NewPlan computes instances = ⌈peak / per instance⌉ and ⌈that × (1+headroom)⌉.
//
// 1,000 requests a second at 60 each need 17; with 15 % headroom 17 × 1.15 =
// 19.55, so 20. 20 × 1.15 is 23 exactly and stays 23.
func NewPlan(d Demand) (Plan, error) {
	p := Plan{PeakRPS: d.PeakRPS, Headroom: d.Headroom}
	switch {
	case !finite(d.PeakRPS) || d.PeakRPS <= 0:
		return Plan{}, fmt.Errorf("peak of %g requests per second: want a number above 0", d.PeakRPS)
	case !finite(d.Headroom) || d.Headroom < 0:
		return Plan{}, fmt.Errorf("headroom %g: want a share of 0 or more, such as 0.15 or 15%%", d.Headroom)
	case d.Instances < 0:
		return Plan{}, fmt.Errorf("%d instances in the report: want at least 1", d.Instances)
	}
	if err := p.perInstance(d); err != nil {
		return Plan{}, err
	}
	n := ceil(d.PeakRPS / p.PerInstanceRPS)
	withHeadroom := ceil(n * (1 + d.Headroom))
	if withHeadroom > math.MaxInt32 {
		return Plan{}, fmt.Errorf("a peak of %g at %g each needs more instances than can be counted", d.PeakRPS, p.PerInstanceRPS)
	}
	p.Instances, p.WithHeadroom = int(n), int(withHeadroom)
	return p, nil
}

// ceil rounds up, but not for the dust of binary fractions: 100 × 1.1 is
// 110.00000000000001 and means 110.
func ceil(x float64) float64 { return math.Ceil(x * (1 - 1e-9)) }

func (p *Plan) perInstance(d Demand) error {
	if d.PerInstanceRPS != 0 {
		if !finite(d.PerInstanceRPS) || d.PerInstanceRPS < 0 {
			return fmt.Errorf("%g requests per second per instance: want a number above 0", d.PerInstanceRPS)
		}
		p.PerInstanceRPS, p.Basis = d.PerInstanceRPS, "given"
		return nil
	}
	if d.Report == nil {
		return errors.New("neither a report nor a figure per instance was given")
	}
	load, basis, err := p.loadOf(*d.Report, d.Limit)
	if err != nil {
		return err
	}
	rps, err := p.requestsAt(*d.Report, load)
	if err != nil {
		return err
	}
	instances := max(1, d.Instances)
	p.PerInstanceRPS = rps / float64(instances)
	p.Basis = fmt.Sprintf("%s: %.4g requests per second over %d instance(s)", basis, rps, instances)
	return nil
}

// loadOf picks the load: the most under the limit, but never beyond a knee;
// else the knee; else the highest load that was still fine.
func (p *Plan) loadOf(r Report, limit *Limit) (load float64, basis string, err error) {
	knee, bound := r.Knee.Load, "knee"
	if !r.Knee.Reached {
		knee, bound = r.Knee.AtLeast, "highest load measured (the knee was not reached)"
		if knee.OK {
			p.Warnings = append(p.Warnings, "the knee was not reached: an instance may carry more, and fewer instances may do")
		}
	}
	most, what := r.MostLoadUnderSLO, "the SLO"
	if limit != nil {
		most, what = MostLoad(r.Levels, limit.Holds), limit.String()
		if !most.OK {
			return 0, "", fmt.Errorf("no level of the report has %s: nothing to plan with", what)
		}
	} else if r.hasSLO() && !most.OK {
		return 0, "", errors.New("no level of the report met the SLO it was made with: nothing to plan with")
	}
	switch {
	case most.OK && (!knee.OK || most.V <= knee.V):
		return most.V, fmt.Sprintf("load %g, the most with %s", most.V, what), nil
	case knee.OK:
		return knee.V, fmt.Sprintf("load %g, the %s", knee.V, bound), nil
	}
	return 0, "", errors.New("the report has neither a knee nor a level that could be judged: nothing to plan with")
}

// requestsAt turns a load into requests per second: a rate is one, a number of
// streams is worth what the level delivered.
func (p *Plan) requestsAt(r Report, load float64) (float64, error) {
	for _, l := range r.Levels {
		if l.Load != load {
			continue
		}
		got := l.SteadyRequestThroughput
		if !got.OK {
			got = l.RequestThroughput
		}
		switch {
		case r.Mode == Rate:
			if got.OK && got.V < 0.9*load {
				p.Warnings = append(p.Warnings, fmt.Sprintf("of %g requests per second offered only %.3g came out: plan with less", load, got.V))
			}
			return load, nil
		case got.OK && got.V > 0:
			return got.V, nil
		}
	}
	if r.Mode == Rate {
		return load, nil
	}
	return 0, fmt.Errorf("the report does not say how many requests per second %g streams are", load)
}
