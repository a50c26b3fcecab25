package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tokprobe/probe"
)

// Wall is what stops more load from helping, with the evidence in a sentence.
type Wall struct {
	Limit    WallName           `json:"limit"`
	Evidence string             `json:"evidence"`
	FromLoad probe.Opt[float64] `json:"from_load,omitzero"` // absent for none
}

// WallName is what a wall is made of.
type WallName string

// The closed list of walls.
const (
	TPMQuota         WallName = "tpm_quota"         // refused: tokens a minute
	RPMQuota         WallName = "rpm_quota"         // refused: requests a minute
	ConcurrencyLimit WallName = "concurrency_limit" // refused: requests in flight
	Queue            WallName = "queue"             // requests wait before their first token
	Decode           WallName = "decode"            // tokens come slower
	Errors           WallName = "errors"            // requests fail
	Client           WallName = "client"            // we are too slow ourselves
	None             WallName = "none"              // no wall was seen
)

// WallNames returns the closed list.
func WallNames() []WallName {
	return []WallName{TPMQuota, RPMQuota, ConcurrencyLimit, Queue, Decode, Errors, Client, None}
}

// Walls names every wall that assessed levels ran into, the one nearest to the
// cause first: ourselves, refusals, failures, then queue or decode. It returns
// one wall, None, if there was none.
func Walls(levels []Level, knee Knee, th Thresholds) []Wall {
	th = th.withDefaults()
	levels = slices.Clone(levels)
	slices.SortStableFunc(levels, func(a, b Level) int { return cmp.Compare(a.Load, b.Load) })
	var walls []Wall
	for _, find := range []func([]Level, Knee, Thresholds) (Wall, bool){clientWall, refusalWall, errorWall, growthWall} {
		if w, ok := find(levels, knee, th); ok {
			walls = append(walls, w)
		}
	}
	if len(walls) == 0 {
		walls = []Wall{{Limit: None, Evidence: noWall(levels, knee)}}
	}
	return walls
}

func clientWall(levels []Level, _ Knee, _ Thresholds) (Wall, bool) {
	for _, l := range levels {
		w := Wall{Limit: Client, FromLoad: probe.Some(l.Load)}
		switch {
		case l.InFlightCapped:
			w.Evidence = fmt.Sprintf("our own cap of requests in flight ended level %g", l.Load)
			return w, true
		case !l.Trusted:
			w.Evidence = fmt.Sprintf("our own scheduling lag could explain the TTFT of %s at level %g", showMS(l.Stats[TTFT].P50), l.Load)
			if lag, ok := l.ClientLagP99MS.Get(); ok {
				w.Evidence += fmt.Sprintf(" (lag P99 %s", showMS(lag))
				if late := l.Stats[SendDelay]; l.Mode == Rate && late.N > 0 {
					w.Evidence += fmt.Sprintf(", sent late by up to %s at P95", showMS(late.P95))
				}
				w.Evidence += ")"
			}
			return w, true
		}
	}
	return Wall{}, false
}

func errorWall(levels []Level, _ Knee, th Thresholds) (Wall, bool) {
	for _, l := range levels {
		total, bad := l.Completed+l.Failed, l.ServiceFailures
		if l.Completed == 0 { // whoever's fault: no request succeeded
			bad = l.Failed - l.Outcomes[probe.RateLimited]
		}
		if !th.failing(bad, total) && (l.Completed > 0 || bad == 0) {
			continue
		}
		worst, most := probe.Outcome(""), 0
		for _, o := range probe.Outcomes() {
			if n := l.Outcomes[o]; o != probe.OK && o != probe.RateLimited && n > most {
				worst, most = o, n
			}
		}
		return Wall{Limit: Errors, FromLoad: probe.Some(l.Load),
			Evidence: fmt.Sprintf("failures from level %g on: %d of %d requests, most often %s (%d)%s",
				l.Load, bad, total, worst, most, l.Server.says())}, true
	}
	return Wall{}, false
}

// failing says that so many bad ones of all are too many.
func (t Thresholds) failing(bad, total int) bool {
	return bad >= t.FailureCount && float64(bad) > t.FailureRatio*float64(total)
}

// growthWall compares the levels beyond the knee with the knee: TTFT that
// doubles while TPOT stays is a queue, TPOT that grows by a quarter is decode.
func growthWall(levels []Level, knee Knee, th Thresholds) (Wall, bool) {
	at := slices.IndexFunc(levels, func(l Level) bool { return knee.Reached && l.Load == knee.Load.V && l.State.Valid() })
	if at < 0 || levels[at].Stats[TTFT].N == 0 {
		return Wall{}, false
	}
	k := levels[at]
	for _, l := range levels[at+1:] {
		ttft, tpot := l.Stats[TTFT], l.Stats[TPOT]
		if ttft.N == 0 || l.State == NotJudged || l.Load == k.Load {
			continue
		}
		slower := tpot.N > 0 && k.Stats[TPOT].N > 0 && tpot.P50 >= th.DecodeTPOT*k.Stats[TPOT].P50
		w := Wall{FromLoad: probe.Some(l.Load)}
		switch {
		case slower:
			w.Limit = Decode
			w.Evidence = fmt.Sprintf("TPOT P50 rose from %s at %g to %s at %g%s",
				showMS(k.Stats[TPOT].P50), k.Load, showMS(tpot.P50), l.Load, l.Server.says())
		case ttft.P50 >= th.QueueTTFT*k.Stats[TTFT].P50:
			w.Limit = Queue
			w.Evidence = fmt.Sprintf("TTFT P50 rose from %s at %g to %s at %g while %s%s",
				showMS(k.Stats[TTFT].P50), k.Load, showMS(ttft.P50), l.Load, tpotStayed(k, l), l.Server.says())
		default:
			continue
		}
		return w, true
	}
	return Wall{}, false
}

// latenciesBeyond tells how far TTFT and TPOT went beyond the knee: not far
// enough for a wall, and perhaps far from the lowest load, where the knee lies
// in a queue already.
func latenciesBeyond(levels []Level, knee Knee) string {
	at := slices.IndexFunc(levels, func(l Level) bool { return l.Load == knee.Load.V })
	if at < 0 || at == len(levels)-1 || levels[at].Stats[TTFT].N == 0 || levels[len(levels)-1].Stats[TTFT].N == 0 {
		return ""
	}
	low, k, l := levels[0], levels[at], levels[len(levels)-1]
	text := fmt.Sprintf("; TTFT P50 went from %s to %s at %g and %s", showMS(k.Stats[TTFT].P50), showMS(l.Stats[TTFT].P50), l.Load, tpotStayed(k, l))
	if low.Load != k.Load && low.Stats[TTFT].N > 0 {
		text += fmt.Sprintf(", from a TTFT P50 of %s at %g", showMS(low.Stats[TTFT].P50), low.Load)
	}
	return text
}

func tpotStayed(k, l Level) string {
	if k.Stats[TPOT].N == 0 || l.Stats[TPOT].N == 0 {
		return "TPOT is not known"
	}
	return fmt.Sprintf("TPOT P50 went from %s to %s", showMS(k.Stats[TPOT].P50), showMS(l.Stats[TPOT].P50))
}

func noWall(levels []Level, knee Knee) string {
	switch {
	case knee.Reached:
		return fmt.Sprintf("throughput stopped rising after %g, but neither refusals nor failures were seen%s", knee.Load.V, latenciesBeyond(levels, knee))
	case knee.AtLeast.OK:
		return fmt.Sprintf("no wall was seen up to %g", knee.AtLeast.V)
	}
	return "no level could be judged"
}

// says adds what the server's own metrics said, or nothing.
func (s *ServerLoad) says() string {
	if s == nil {
		return ""
	}
	var parts []string
	for _, f := range []struct {
		v      probe.Opt[float64]
		format string
		times  float64
	}{
		{s.WaitingMax, "%.0f waiting", 1}, {s.RunningMax, "%.0f running", 1},
		{s.KVUseMax, "%.0f %% of the KV cache used", 100}, {s.Preemptions, "%.0f preemptions", 1},
	} {
		if f.v.OK {
			parts = append(parts, fmt.Sprintf(f.format, f.v.V*f.times))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; the server reported at most " + strings.Join(parts, ", ")
}
