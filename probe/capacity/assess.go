package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"tokprobe/probe"
)

// Settings of an assessment. The zero value has the default thresholds.
type Settings struct {
	Thresholds Thresholds
}

// Assess sorts the levels, judges them and fills in everything that follows:
// states, knee, recommended load, walls, the fitted law and warnings. Warnings
// that are there already are kept; calling it twice changes nothing.
func (r *Report) Assess(set Settings) {
	th := set.Thresholds.withDefaults()
	r.SchemaVersion = SchemaVersion
	slices.SortStableFunc(r.Levels, func(a, b Level) int { return cmp.Compare(a.Load, b.Load) })
	r.markShort(th)
	points := make([]Point, len(r.Levels))
	for i, l := range r.Levels {
		points[i] = l.point(th)
	}
	states, knee := Judge(points, th)
	r.Knee, r.PeakOutputThroughput = knee, probe.Opt[float64]{}
	r.KneeRuns = kneeRuns(r.Levels, points, knee, th)
	for i := range r.Levels {
		l := &r.Levels[i]
		l.State = states[i]
		if v := l.SteadyOutputThroughput; l.State.Valid() && v.OK && (!r.PeakOutputThroughput.OK || v.V > r.PeakOutputThroughput.V) {
			r.PeakOutputThroughput = v
		}
	}
	r.MostLoadUnderSLO = MostLoad(r.Levels, Level.MeetsSLO)
	r.recommend(th)
	r.Limits = Walls(r.Levels, r.Knee, th)
	r.USL = nil
	if r.Mode == Concurrency {
		if fit, ok := FitUSL(validPoints(points, states)); ok {
			r.USL = &fit
		}
	}
	r.warnAll()
}

// closedWindow is how much of an answer (E2E P50) the window of a closed loop
// must hold. With two requests a stream it holds one. With 10 requests at 8
// streams the last is handed out a quarter of an answer after the first stream
// had its second: what happens to fall into that is noise (1,293 to 10,145
// tok/s were seen of a server that makes 580).
const closedWindow = 0.3

// markShort sets TooShort. An open-loop window is compared with the E2E P50 of
// the level where it is smallest: beyond the knee a level's own E2E grows with
// the window, and no window would ever be long enough.
func (r *Report) markShort(th Thresholds) {
	e2e := math.Inf(1)
	for _, l := range r.Levels {
		if s := l.Stats[E2E]; s.N > 0 {
			e2e = min(e2e, s.P50)
		}
	}
	need := th.MinWindow.Seconds()
	if finite(e2e) {
		need = max(need, th.MinWindowE2E*e2e/1000)
	}
	for i := range r.Levels {
		l := &r.Levels[i]
		least := need
		if l.Mode == Concurrency {
			least = closedWindow * l.Stats[E2E].P50 / 1000
		}
		l.TooShort = l.Completed > 0 && (!l.SteadySeconds.OK || l.SteadySeconds.V < least)
		if l.TooShort && l.Mode == Rate {
			l.warn(fmt.Sprintf("too short to judge: a steady window of %.1f s where %.0f s are needed", l.SteadySeconds.V, math.Ceil(need)))
		} else if l.TooShort {
			l.warn("too short to judge: all streams were in flight together for less than 0.3 of an answer; ask at least 2 requests a stream")
		}
	}
}

func (l *Level) warn(text string) {
	if !slices.Contains(l.Warnings, text) {
		l.Warnings = append(l.Warnings, text)
	}
}

// point is what the judgement needs of a level.
func (l Level) point(th Thresholds) Point {
	bad := l.ServiceFailures + l.Outcomes[probe.RateLimited]
	total := l.Completed + l.Failed
	p := Point{Load: l.Load, Throughput: l.JudgedThroughput(), Tail: l.Stats[TTFT].At(th.TailQuantile)}
	p.Failing = total > 0 && (l.Completed == 0 || th.failing(bad, total))
	p.Skip = !l.Trusted || l.TooShort
	if l.Mode == Rate {
		p.Offered = l.SteadyOfferedRate
	}
	return p
}

// JudgedThroughput is the throughput by which a level is judged: steady output
// tokens per second in a closed loop, steady requests per second in an open one.
func (l Level) JudgedThroughput() probe.Opt[float64] {
	if l.Mode == Rate {
		return l.SteadyRequestThroughput
	}
	return l.SteadyOutputThroughput
}

// recommend applies the safety factor: knee 8 gives 6, knee 1 gives 1, a knee
// of 80 requests per second 60.
func (r *Report) recommend(th Thresholds) {
	r.Recommended = nil
	if !r.Knee.Reached {
		return
	}
	load, by := th.SafetyFactor*r.Knee.Load.V, "knee"
	if r.hasSLO() {
		most, ok := r.MostLoadUnderSLO.Get()
		if !ok {
			return
		}
		if most < load {
			load, by = most, "slo"
		}
	}
	r.Recommended = &Recommended{Load: roundDown(load, r.Mode), Factor: th.SafetyFactor, By: by}
}

func (r *Report) hasSLO() bool {
	return slices.ContainsFunc(r.Levels, func(l Level) bool { return len(l.Objectives) > 0 })
}

// roundDown rounds a load to what can be set: 8.25 streams to 8, 0.4 to 1;
// 37.5 requests per second to 37, 0.4567 to 0.45.
func roundDown(load float64, m Mode) float64 {
	const floatDust = 1e-9
	if m == Concurrency {
		return max(1, math.Floor(load+floatDust))
	}
	if load <= 0 || !finite(load) {
		return 0
	}
	exp := int(math.Floor(math.Log10(load))) - 1
	if exp < 0 {
		scale := math.Pow10(-exp) // exact, where its inverse is not
		return math.Floor(load*scale*(1+floatDust)) / scale
	}
	scale := math.Pow10(exp)
	return math.Floor(load/scale*(1+floatDust)) * scale
}

func validPoints(points []Point, states []State) []Point {
	var valid []Point
	for i, p := range points {
		if states[i].Valid() && p.Throughput.OK {
			valid = append(valid, p)
		}
	}
	return valid
}

func secondsOf(l Level) time.Duration { return time.Duration(l.Duration * float64(time.Second)) }
