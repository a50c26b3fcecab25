package sweep

import (
	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
)

// FromRoster is the plan of a scheduled sweep: smaller levels, none repeated
// (the next run is the repetition), the abort limits of the configuration. The
// caller adds to Conditions what it knows: versions, host, endpoint, location.
func FromRoster(s roster.Sweep) (Plan, error) {
	p := Plan{
		Target: s.Target, Model: s.Model, Protocol: s.Protocol,
		Mode: capacity.Mode(s.Mode), Ladder: s.Ladder, Requests: s.Requests, Duration: s.Duration, Scheduled: true,
		Arrival: capacity.Arrival(s.Arrival), Seed: s.Seed, Limits: s.Limits,
		MaxDuration: s.MaxDuration, Abort: s.Abort, SLO: s.SLO,
		Conditions: capacity.Conditions{Sweep: s.Name, Scenario: s.Scenario},
	}
	if s.Prompt != nil {
		p.Prompts = []probe.Prompt{*s.Prompt}
		return p, nil
	}
	prompt, err := ScenarioPrompt(or(s.Scenario, "T2"), "")
	if err != nil {
		return Plan{}, err
	}
	p.Prompts = []probe.Prompt{prompt}
	p.Conditions.Scenario, p.Conditions.Language = prompt.Name, Languages()[0]
	return p, nil
}
