// Package slo decides what a Result means for a promise. It is pure.
package slo

import (
	"time"

	"tokprobe/probe"
)

// SLI is what a promise is about.
type SLI string

const (
	Success      SLI = "success"
	TTFT         SLI = "ttft"
	FirstContent SLI = "first_content"
	TPOT         SLI = "tpot"
	E2E          SLI = "e2e"
)

// SLIs returns the closed list.
func SLIs() []SLI { return []SLI{Success, TTFT, FirstContent, TPOT, E2E} }

// Verdict is what one probe counts as for one SLI.
type Verdict string

const (
	Good     Verdict = "good"
	Bad      Verdict = "bad"
	Excluded Verdict = "excluded"
)

// Verdicts returns the closed list.
func Verdicts() []Verdict { return []Verdict{Good, Bad, Excluded} }

// Objective is one promise: the share of probes that must be good.
type Objective struct {
	SLI   SLI
	Below time.Duration // a latency at or under this is good; 0 for Success
	Ratio float64       // 0.995
}

// Alerting says where a burning SLO rings.
type Alerting string

const (
	Page   Alerting = "page"
	Ticket Alerting = "ticket"
	Off    Alerting = "off"
)

// SLO is a named set of promises over one window.
type SLO struct {
	Name       string
	Window     time.Duration
	Objectives []Objective
	Conditions Conditions
	Alerting   Alerting // empty means Page
	// Kinds moves outcomes to another kind for this SLO.
	Kinds map[probe.Outcome]probe.Kind
}

// Conditions are what a promise assumes. Zero means not stated.
type Conditions struct {
	InputTokensP95, OutputTokensP95 int
	Rate                            float64 // requests per second
}
