package capacity

import (
	"math"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// Level is one step of a load ladder: what was asked, what came back and, once
// a report is assessed, how it is judged. Its JSON has the keys of
// `vllm bench serve` beside our own; see MarshalJSON for the flat statistics.
type Level struct {
	Load float64 `json:"load"` // streams in flight, or requests per second
	Mode Mode    `json:"mode"`
	// State is the judgement; empty until the report is assessed.
	State   State `json:"state,omitempty"`
	Trusted bool  `json:"trusted"` // our own lag cannot explain what was seen

	// RequestRate is "inf" in a closed loop and MaxConcurrency null in an open
	// one, as vllm writes them.
	RequestRate    LoadNumber `json:"request_rate"`
	MaxConcurrency *int       `json:"max_concurrency"`

	Duration  float64 `json:"duration"` // seconds of wall time
	Completed int     `json:"completed"`
	Failed    int     `json:"failed"`
	Cut       int     `json:"cut,omitempty"` // ended by us, neither completed nor failed
	// ServiceFailures are the failures of kind service; refusals (429) are in
	// Outcomes.
	ServiceFailures int `json:"service_failures,omitempty"`

	// Totals and throughputs count completed requests over wall time. Token
	// counts are absent unless every completed request reported them.
	TotalInputTokens     probe.Opt[int64]   `json:"total_input_tokens,omitzero"`
	TotalOutputTokens    probe.Opt[int64]   `json:"total_output_tokens,omitzero"`
	RequestThroughput    probe.Opt[float64] `json:"request_throughput,omitzero"`
	OutputThroughput     probe.Opt[float64] `json:"output_throughput,omitzero"`
	TotalTokenThroughput probe.Opt[float64] `json:"total_token_throughput,omitzero"`
	TokensPerMinute      probe.Opt[float64] `json:"tokens_per_minute,omitzero"`

	// Attainment is the share of requests that met every objective, failures
	// being misses; RequestGoodput the number of those per second.
	Attainment     probe.Opt[float64] `json:"attainment,omitzero"`
	RequestGoodput probe.Opt[float64] `json:"request_goodput,omitzero"`
	Objectives     []Objective        `json:"objectives,omitempty"`

	Outcomes      map[probe.Outcome]int `json:"outcomes"`
	FinishReasons map[string]int        `json:"finish_reasons,omitempty"`
	// ErrorRatio is failed / (completed + failed).
	ErrorRatio probe.Opt[float64] `json:"error_ratio,omitzero"`

	Steady
	// AchievedRate is the offered rate as it was really sent, open loop only.
	AchievedRate probe.Opt[float64] `json:"achieved_rate,omitzero"`

	// MaxConcurrentRequests is the most that were in flight at once.
	MaxConcurrentRequests int `json:"max_concurrent_requests"`

	ClientLagP99MS probe.Opt[float64] `json:"client_lag_p99_ms,omitzero"`

	TooShort       bool `json:"too_short,omitempty"`        // too short to judge
	FewRequests    bool `json:"few_requests,omitempty"`     // closed loop, under 2 requests a stream
	EndedEarly     bool `json:"ended_early,omitempty"`      // many answers were shorter than asked: TPS flatters
	InFlightCapped bool `json:"in_flight_capped,omitempty"` // an open loop hit our cap of requests in flight
	EarlyAnswers   int  `json:"early_answers,omitempty"`
	Coalesced      int  `json:"coalesced,omitempty"`
	CacheSuspect   int  `json:"cache_suspect,omitempty"`

	// Repeats is how often the level was run (0 and 1 both mean once) and
	// Spread how far the runs' steady throughputs lie apart:
	// (largest − smallest) / median.
	Repeats int                `json:"repeats,omitempty"`
	Spread  probe.Opt[float64] `json:"spread,omitzero"`
	// Runs are the steady throughputs of the runs, if there were several.
	Runs []float64 `json:"run_throughputs,omitempty"`

	Throttle *Throttle   `json:"throttle,omitempty"`
	Server   *ServerLoad `json:"server,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
	// Samples are the requests themselves, in saved reports only.
	Samples []Sample `json:"samples,omitempty"`

	// Stats are the statistics of each metric, flat in JSON.
	Stats map[Metric]Summary `json:"-"`
}

// Run is what happened at one level: the input of NewLevel.
type Run struct {
	Mode    Mode
	Load    float64
	Samples []Sample // measured requests only, without warm-up
	// Duration is the wall time of the level; 0 takes the time from the first
	// request (or the level's clock, in an open loop) to the last answer.
	Duration time.Duration
	// WantTokens is the output length asked for where it is fixed; 0 if not.
	WantTokens     int
	InFlightCapped bool
	SLO            *slo.SLO
	Server         *ServerLoad
	Thresholds     Thresholds
}

// NewLevel computes the statistics of one level. State stays empty: a level is
// judged against the others, by Report.Assess.
func NewLevel(r Run) Level {
	th := r.Thresholds.withDefaults()
	l := Level{Load: r.Load, Mode: r.Mode, Trusted: true, InFlightCapped: r.InFlightCapped,
		Server: r.Server, Samples: r.Samples, RequestRate: LoadNumber(math.Inf(1))}
	if r.Mode == Rate {
		l.RequestRate = LoadNumber(r.Load)
	} else {
		n := int(math.Round(r.Load))
		l.MaxConcurrency = &n
	}
	l.Duration = wallTime(r).Seconds()
	l.count(r)
	l.totals()
	l.Stats = make(map[Metric]Summary)
	for _, m := range Metrics() {
		if s := Summarize(collect(m, r.Samples, r.Mode)); s.N > 0 {
			l.Stats[m] = s
		}
	}
	l.Steady = steadyOf(r)
	l.AchievedRate = achievedRate(r)
	l.MaxConcurrentRequests = peakInFlight(r.Samples)
	l.audit(r.Samples, th)
	l.attain(r)
	l.Throttle = throttleOf(r.Samples)
	l.flag(r, th)
	return l
}
