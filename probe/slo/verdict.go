package slo

import (
	"time"

	"tokprobe/probe"
)

// KindOf returns the kind of a result under this SLO: the result's own, unless
// the SLO moves its outcome. What makes one result ours whatever its class
// (our own lag, an answer all of hidden thinking) is not moved.
func (s SLO) KindOf(r probe.Result) probe.Kind {
	kind := r.Kind()
	if r.LagSuspect || kind != r.Outcome.Kind() {
		return kind
	}
	if moved, ok := s.Kinds[r.Outcome]; ok {
		return moved
	}
	return kind
}

// Verdict says what a finished probe counts as for one objective:
//
//   - ok: good for success; for a latency good at or under the objective's
//     limit, else bad, and excluded where the latency was not measured (no
//     visible text, one token) or means nothing (TPOT of a coalesced stream).
//   - service: bad for every SLI. A user who got no answer did not get it in
//     time either.
//   - answer: bad for success. Excluded for latencies: an answer cut short
//     ends early and would flatter them.
//   - ours: excluded.
func (s SLO) Verdict(o Objective, r probe.Result) Verdict {
	switch s.KindOf(r) {
	case probe.KindOK:
		if o.SLI == Success {
			return Good
		}
		return compare(o, r)
	case probe.KindService:
		return Bad
	case probe.KindAnswer:
		if o.SLI == Success {
			return Bad
		}
	}
	return Excluded
}

func compare(o Objective, r probe.Result) Verdict {
	latency, ok := Latency(o.SLI, r).Get()
	switch {
	case !ok:
		return Excluded
	case latency <= o.Below:
		return Good
	}
	return Bad
}

// Latency returns what an SLI compares: not OK if it was not measured, for
// Success, and for the TPOT of a coalesced stream.
func Latency(sli SLI, r probe.Result) probe.Opt[time.Duration] {
	switch sli {
	case TTFT:
		return r.TTFT
	case FirstContent:
		return r.FirstContent
	case E2E:
		return r.E2E
	case TPOT:
		if !r.Coalesced {
			return r.TPOT
		}
	}
	return probe.Opt[time.Duration]{}
}

// VerdictOfTick is Verdict for a finished tick, which also knows where its
// probe ran: in a maintenance window it is excluded altogether; beside a sweep
// its latencies are excluded, since our own load made them.
//
// A tick that was skipped because its probe was still busy has no verdict of
// its own. Where a watch allows overlap it takes the verdict of the probe it
// waited for: that probe then counts once more for each such tick.
func (s SLO) VerdictOfTick(o Objective, t probe.Tick) Verdict {
	if t.Maintenance || t.Bystander && o.SLI != Success {
		return Excluded
	}
	return s.Verdict(o, t.Result)
}
