package capacity

import (
	"cmp"
	"slices"
	"time"

	"tokprobe/probe"
)

// Steady is what a level delivered while it was neither ramping up nor
// draining. Levels are judged by it: over wall time, ramp and drain invent a
// knee on a server that has none.
//
// With 50 requests of 1 s each over 32 streams of an ideal server, 18 streams
// send two and 14 send one: 50 in 2 s of wall time are 25 a second. The steady
// window is the first second, and its figure the true 32.
type Steady struct {
	SteadySeconds           probe.Opt[float64] `json:"steady_seconds,omitzero"`
	SteadyOutputThroughput  probe.Opt[float64] `json:"steady_output_throughput,omitzero"`
	SteadyRequestThroughput probe.Opt[float64] `json:"steady_request_throughput,omitzero"`
	// SteadyOfferedRate is the arrival rate of the very requests behind
	// SteadyRequestThroughput, open loop only.
	SteadyOfferedRate probe.Opt[float64] `json:"steady_offered_rate,omitzero"`
}

// steadyOf finds the steady window and measures in it. A token event inside it
// counts as usage/events of its request. Everything is unknown without a
// window: too few requests, or none answered.
func steadyOf(r Run) Steady {
	from, to, ok := steadyWindow(r)
	if !ok {
		return Steady{}
	}
	s := Steady{SteadySeconds: probe.Some((to - from).Seconds())}
	tokens, answered := 0.0, 0.0
	for _, x := range r.Samples {
		if x.OK() {
			tokens += float64(x.eventsIn(from, to)) * x.tokensPerEvent()
			answered += shareIn(x, from, to)
		}
	}
	s.SteadyOutputThroughput = per(tokens, (to - from).Seconds())
	if r.Mode == Rate {
		s.SteadyRequestThroughput, s.SteadyOfferedRate = openRates(r.Samples, from, to)
	} else {
		s.SteadyRequestThroughput = per(answered, (to - from).Seconds())
	}
	return s
}

// steadyWindow is (from, to] on the level's clock. Closed loop: from all N in
// flight to the last request handed out. Open loop: from the end of the first
// answer to the last arrival.
func steadyWindow(r Run) (from, to time.Duration, ok bool) {
	if r.Mode == Rate {
		first := false
		for _, s := range r.Samples {
			if s.OK() && (!first || s.end() < from) {
				from, first = s.end(), true
			}
			to = max(to, s.Intended)
		}
		return from, to, first && to > from
	}
	from, ok = allInFlight(r.Samples, int(r.Load+0.5))
	for _, s := range r.Samples {
		to = max(to, s.Sent)
	}
	return from, to, ok && to > from
}

// allInFlight is the first moment at which n requests were in flight.
func allInFlight(samples []Sample, n int) (time.Duration, bool) {
	flying := 0
	for _, e := range edges(samples) {
		flying += e.step
		if flying >= n && n > 0 {
			return e.at, true
		}
	}
	return 0, false
}

// peakInFlight is the most requests that were in flight at once.
func peakInFlight(samples []Sample) int {
	flying, most := 0, 0
	for _, e := range edges(samples) {
		flying += e.step
		most = max(most, flying)
	}
	return most
}

// edge is a request sent (+1) or ended (−1).
type edge struct {
	at   time.Duration
	step int
}

// edges are all of them in order, an end before the start that it lets in.
func edges(samples []Sample) []edge {
	list := make([]edge, 0, 2*len(samples))
	for _, s := range samples {
		list = append(list, edge{s.Sent, 1}, edge{max(s.end(), s.Sent+1), -1})
	}
	slices.SortFunc(list, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
	})
	return list
}

// shareIn is the share of a request's life that lies in the window. In a
// closed loop the shares add up to the requests answered in it, without the
// jumps that whole requests make in a short window.
func shareIn(s Sample, from, to time.Duration) float64 {
	begin, end := s.Sent, s.end()
	if end <= begin {
		return 0
	}
	inside := min(end, to) - max(begin, from)
	return max(0, float64(inside)/float64(end-begin))
}

// openRates compares what came out of an open loop with what the very same
// requests asked for: those that ended in the window, after the first answer.
// On an ideal server both are equal whatever the arrivals' luck; on one that
// falls behind the answers are spread wider than the arrivals.
//
// Arrivals at 1, 2, 3, 4 s answered at 1.5, 3.5, 5.5, 7.5 s: from the first
// answer 3 answers take 6 s, 0.5/s, and 3 arrivals 3 s, 1/s.
func openRates(samples []Sample, from, to time.Duration) (out, offered probe.Opt[float64]) {
	var ended, answered int
	last, low, high := from, time.Duration(-1), time.Duration(0)
	for _, s := range samples {
		end := s.end()
		if s.Cut || end < from || end > to {
			continue
		}
		if low < 0 || s.Intended < low {
			low = s.Intended
		}
		high = max(high, s.Intended)
		if end > from {
			ended++
			answered += toInt(s.OK())
			last = max(last, end)
		}
	}
	return per(float64(answered), (last - from).Seconds()), per(float64(ended), (high - low).Seconds())
}

// achievedRate is the rate at which an open loop was really sent: R requests
// whose last left T after the level's clock started make R/T.
func achievedRate(r Run) probe.Opt[float64] {
	if r.Mode != Rate {
		return probe.Opt[float64]{}
	}
	var last time.Duration
	for _, s := range r.Samples {
		last = max(last, s.Sent)
	}
	return per(float64(len(r.Samples)), last.Seconds())
}
