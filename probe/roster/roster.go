// Package roster says what is watched: targets, probes and sweeps, as plain
// values that a configuration builds and everything else reads. It is pure.
package roster

import (
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/slo"
)

// Roster is one complete, validated plan.
type Roster struct {
	Targets []Target
	Watches []Watch
	Sweeps  []Sweep
	SLOs    []slo.SLO
	// SLOHash is stable over everything that generated rules depend on; it
	// is the slo_hash label of tokprobe_config_info.
	SLOHash string
}

// Target is one endpoint.
type Target struct {
	Name     string
	Provider string // taotoken, vllm, openai, anthropic
	Protocol string // wire dialect
	BaseURL  string // normalised: no trailing slash, no /v1, no user info
	Models   []string
	Labels   map[string]string
	Budget   Budget
	Price    *Price
	// HealthURL is the target's own health endpoint, asked once an
	// interval; empty if it has none.
	HealthURL string
	// ServerMetrics is where the target serves its own metrics.
	ServerMetrics ServerMetrics
	Maintenance   []Window
	// Hash changes when anything about the connection to the target does.
	Hash string
}

// Budget bounds tokens per UTC day. 0 is no bound. Probes and sweeps never
// borrow from one another.
type Budget struct {
	ProbeTokensPerDay int64
	SweepTokensPerDay int64
	Hard              bool // stop at the bound instead of slowing to a tenth
}

// Price is money per million tokens.
type Price struct {
	Currency      string // ISO 4217: USD
	Input, Output float64
	Cached        *float64 // price of cached input; nil: as Input
}

// ServerMetrics names the /metrics page of a target and the selector under
// which Prometheus knows it.
type ServerMetrics struct {
	URL      string
	Selector string
}

// Window is a recurring maintenance window.
type Window struct {
	Cron     string
	Duration time.Duration
	Zone     string // IANA name; empty is UTC
	TagOnly  bool   // probe on, but outside the SLO
}

// Watch is one scheduled probe. Exactly one of Every and Cron is set.
type Watch struct {
	ID           probe.ID
	Spec         probe.Spec
	Every        time.Duration
	Cron         string
	Zone         string // IANA name for Cron; empty is UTC
	AllowOverlap bool
	SLOs         []slo.SLO
	// Hash changes when anything about this watch does.
	Hash string
}

// Sweep is one scheduled load ladder on one model of one target.
type Sweep struct {
	Name, Target, Model string
	Cron, Zone          string
	Scenario            string // T1 … T4, or empty with Prompt
	Language            string // of the scenario's prompt; empty with Prompt
	Prompt              *probe.Prompt
	// Params of the target go into the prompt of a scenario; a Prompt has them
	// in its own.
	Params   map[string]any
	Protocol string
	// Mode is "concurrency" or "rate"; Ladder its loads, ascending.
	Mode        string
	Ladder      []float64
	Requests    int           // per level; 0: by rule
	Duration    time.Duration // per level, instead of Requests
	Repeats     int           // runs of the levels around the knee in all
	Arrival     string        // poisson, constant, gamma
	Burstiness  float64       // shape of gamma; 0 with the others
	Seed        uint64
	CoolDown    time.Duration // between levels; 0: DefaultCoolDown, less: none
	MaxDuration time.Duration
	SLO         *slo.SLO
	KeyEnv      string // own key, if any
	Locations   []string
	Limits      probe.Limits // Total 0: the level's deadline
	Abort       Abort
	Thresholds  capacity.Thresholds // of the judgement
	Hash        string
}

// DefaultCoolDown is how long the endpoint is left alone between two levels.
const DefaultCoolDown = 5 * time.Second

// Languages of the scenarios' prompts, the default first. They stand here, and
// not beside the prompts, for the configuration to know them.
func Languages() []string { return []string{"en", "zh"} }

// Abort says when a scheduled sweep gives up. With the zero value only its
// bystander can end it.
type Abort struct {
	// ErrorRatio of service-kind failures and 429s over at least max(10, N)
	// finished requests of a level; 0 is no limit.
	ErrorRatio float64
	// TTFT bounds the median of the last 10 answers; 0 is no limit.
	TTFT time.Duration
	// BystanderTTFT is by which factor the TTFT of the probe that goes on
	// beside the sweep may exceed its median from before; 0 means 5.
	BystanderTTFT float64
}

// Key names a sweep of one model of one target.
func (s Sweep) Key() SweepKey { return SweepKey{s.Target, s.Model, s.Name} }

// SweepKey is the base label set of a sweep's metrics.
type SweepKey struct {
	Target, Model, Sweep string
}
