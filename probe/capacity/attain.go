package capacity

import (
	"fmt"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

// Objective is how a level did on one promise.
type Objective struct {
	SLI     slo.SLI            `json:"sli"`
	BelowMS probe.Opt[float64] `json:"below_ms,omitzero"` // absent for success
	Ratio   float64            `json:"ratio"`             // promised share
	// Attained is the share of requests that were good, Counted how many had
	// a verdict, Met whether the promise held.
	Attained probe.Opt[float64] `json:"attained,omitzero"`
	Counted  int                `json:"counted"`
	Met      bool               `json:"met"`
}

// attain judges every request against the SLO. Unlike the verdicts of probes,
// every failure is a miss here, refusals (429) included: a server that sheds
// load would look good otherwise. A wrong or short answer is a miss as a whole
// but has no verdict on latency, which it would flatter; nor has an answer
// without the latency asked for (one token has no TPOT). Latencies are those of the
// mode, so in an open loop a backlog counts.
//
// 6 good, 2 slow and 2 refused requests in 5 s: attainment 0.6, goodput 1.2/s.
func (l *Level) attain(r Run) {
	if r.SLO == nil || len(r.SLO.Objectives) == 0 {
		return
	}
	good, counted := 0, 0
	objectives := make([]Objective, len(r.SLO.Objectives))
	hits := make([]int, len(objectives))
	for _, s := range r.Samples {
		if s.Cut || r.SLO.Kinds[s.Outcome] == probe.KindOurs {
			continue
		}
		all := true
		for i, o := range r.SLO.Objectives {
			hit, verdict := meets(s, o, r)
			objectives[i].Counted += toInt(verdict)
			hits[i] += toInt(verdict && hit)
			all = all && (hit || !verdict)
		}
		all = all && !failed(s, r)
		counted++
		good += toInt(all)
	}
	for i, o := range r.SLO.Objectives {
		x := &objectives[i]
		x.SLI, x.Ratio = o.SLI, o.Ratio
		if o.SLI != slo.Success {
			x.BelowMS = probe.Some(millis(o.Below))
		}
		x.Attained = per(float64(hits[i]), float64(x.Counted))
		x.Met = x.Attained.OK && x.Attained.V >= o.Ratio-1e-9
	}
	l.Objectives = objectives
	l.Attainment = per(float64(good), float64(counted))
	l.RequestGoodput = per(float64(good), l.Duration)
}

// meets says whether a request is good for one promise, and whether it has a
// verdict at all.
func meets(s Sample, o slo.Objective, r Run) (hit, verdict bool) {
	switch {
	case failed(s, r):
		return false, o.SLI == slo.Success || s.Outcome.Kind() != probe.KindAnswer
	case o.SLI == slo.Success:
		return true, true
	}
	d := latencyOf(s, o.SLI, r.Mode)
	return d.OK && d.V <= o.Below, d.OK
}

// failed says that a request was not answered as it should be, in the eyes of
// this SLO.
func failed(s Sample, r Run) bool { return !s.OK() && r.SLO.Kinds[s.Outcome] != probe.KindOK }

func latencyOf(s Sample, sli slo.SLI, m Mode) probe.Opt[time.Duration] {
	switch sli {
	case slo.TTFT:
		return s.Latency(m, s.TTFT)
	case slo.FirstContent:
		return s.Latency(m, s.FirstContent)
	case slo.E2E:
		return s.Latency(m, s.E2E)
	case slo.TPOT:
		if !s.Coalesced {
			return s.TPOT
		}
	}
	return probe.Opt[time.Duration]{}
}

// MeetsSLO says whether every promise held at the level; false where nothing
// was measured or no SLO was given.
func (l Level) MeetsSLO() bool {
	for _, o := range l.Objectives {
		if !o.Met {
			return false
		}
	}
	return len(l.Objectives) > 0
}

// Limit is a bound on one statistic of a level: TTFT p99 of at most 500 ms.
type Limit struct {
	Metric Metric
	Stat   string  // mean, median, p50, p90, p95 or p99
	Most   float64 // in the metric's unit, milliseconds for latencies
}

// String prints "ttft p99 ≤ 500 ms".
func (x Limit) String() string { return fmt.Sprintf("%s %s ≤ %s", x.Metric, x.Stat, showMS(x.Most)) }

// Holds says whether a level was measured and stays within the limit.
func (x Limit) Holds(l Level) bool {
	v, ok := l.Stats[x.Metric].At(x.Stat).Get()
	return ok && v <= x.Most
}

// MostLoad is the highest load among valid levels for which ok holds: of loads
// 40, 60, 80 with a TTFT P99 of 413, 680 and 1,120 ms, 60 is the most under
// 700 ms. It is unknown if none does. Valid levels were judged and are not
// failing.
func MostLoad(levels []Level, ok func(Level) bool) probe.Opt[float64] {
	var most probe.Opt[float64]
	for _, l := range levels {
		if l.State.Valid() && ok(l) && (!most.OK || l.Load > most.V) {
			most = probe.Some(l.Load)
		}
	}
	return most
}
