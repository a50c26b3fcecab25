package sweep

import (
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// Plan is what a sweep is to do. Model, Prompts, and either Mode and Ladder or
// Auto are needed; every other zero value is a sensible default.
type Plan struct {
	Target, Model string
	Protocol      string // a wire dialect's name; empty means openai-chat

	Mode   capacity.Mode
	Ladder []float64 // streams or requests per second; sorted before use
	// Auto searches for the most load instead of climbing Ladder.
	Auto *Auto

	// Requests of every level; 0 takes Duration, or the default by rule.
	Requests int
	// Duration during which a level hands out requests; 0 takes Requests.
	Duration time.Duration
	// Scheduled takes the smaller defaults of sweeps that run by themselves.
	Scheduled bool

	// Arrival, Burstiness and Seed shape an open loop. Seed also orders the
	// prompts where there are several.
	Arrival    capacity.Arrival
	Burstiness float64
	Seed       uint64

	// Prompts are asked in turn, in an order given by Seed that is the same
	// for every level, so that levels differ in nothing but load.
	Prompts []probe.Prompt
	Limits  probe.Limits // zero takes probe.SweepLimits

	// LevelDeadline ends a level whatever happens, warm-up included; 0 gives
	// the warm-up 5 minutes and derives the rest from it: five times what the
	// level should take, at least 5 minutes.
	LevelDeadline time.Duration
	CoolDown      time.Duration // between levels; 0 means 5 s, less means none
	MaxDuration   time.Duration // of the whole sweep; 0 is no limit
	Abort         roster.Abort
	// TokenBudget refuses a sweep whose forecast exceeds it, before the
	// first request; 0 is no limit.
	TokenBudget int64

	// Repeats is how often the levels around the knee are run in all; 0 and
	// 1 repeat nothing.
	Repeats     int
	SLO         *slo.SLO
	Thresholds  capacity.Thresholds
	MaxInFlight int // of an open loop; 0 means 1,000

	// Conditions are what the caller knows: names, versions, place. What Run
	// knows better it fills in.
	Conditions capacity.Conditions
}

// Auto describes a search: double the load until it saturates, fails or misses
// the SLO, then halve the bracket.
type Auto struct {
	Start     float64 // first load; 0 means 1
	MaxLoad   float64 // never exceeded
	Tolerance float64 // width of the bracket at the end, a share; 0 means 0.05
}

const (
	defaultCoolDown    = roster.DefaultCoolDown
	refusedCoolDown    = time.Minute // after a 429, at least
	defaultMaxInFlight = 1000
	maxWarmUps         = 8
	searchSamples      = 20 // requests of a search's rate, at least
	maxLevels          = 64
)

// defaultRequests is how many requests a level gets if nobody says: 50 or
// four a stream by hand, 20 or two a stream if scheduled. An open loop gets
// as many as its judgement needs: see openRequests.
func (p Plan) defaultRequests(load float64) int {
	least, each := 50, 4.0
	if p.Scheduled {
		least, each = 20, 2
	}
	return max(least, int(each*load+0.5))
}

// openRequests is the number of requests of an open-loop level without
// settings. Its steady window must last 30 s and five answers, and begins
// when the first answer ends: 45 s of arrivals, or seven answers and a half
// (by warm-up) where that is longer. At 2 requests per second that is 90.
// A scheduled sweep keeps to 45 s, which is what its forecast counts. A search
// begins low, where 50 requests take long: at 0.06 a second 14 minutes. 20 do
// for it.
func (p Plan) openRequests(rate float64, answer time.Duration) int {
	span := max(roster.RateLevel, answer*15/2)
	if p.Scheduled {
		span = roster.RateLevel
	}
	least := p.defaultRequests(rate)
	if p.Auto != nil {
		least = searchSamples
	}
	return max(least, int(rate*span.Seconds()+0.5))
}

func (p Plan) coolDown() time.Duration {
	if p.CoolDown == 0 {
		return defaultCoolDown
	}
	return max(p.CoolDown, 0)
}

func (p Plan) limits() probe.Limits {
	if p.Limits == (probe.Limits{}) {
		return probe.SweepLimits()
	}
	return p.Limits
}

func (p Plan) maxInFlight() int {
	if p.MaxInFlight > 0 {
		return p.MaxInFlight
	}
	return defaultMaxInFlight
}

// wantTokens is the output length that every prompt asks for; 0 if they differ.
func (p Plan) wantTokens() int {
	want := roster.EstimateOutput(p.Prompts[0])
	for _, q := range p.Prompts {
		if roster.EstimateOutput(q) != want {
			return 0
		}
	}
	return want
}
