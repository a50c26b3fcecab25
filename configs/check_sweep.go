package configs

import (
	"math"
	"slices"
	"strconv"
	"time"

	"tokprobe/probe/roster"
)

// checkRuns warns of sweeps that can give no result, as far as the file alone
// shows it: better said by check than by a run at night. sw is what one place
// runs.
func (s *sweep) checkRuns(sw roster.Sweep) {
	if len(sw.Ladder) == 0 || slices.Min(sw.Ladder) <= 0 { // a problem already
		return
	}
	if sw.Mode == "rate" {
		s.checkWindow(sw)
	}
	s.checkLongest(sw)
}

// rateRequests is how many requests a level of a rate has, as package sweep
// counts them.
func rateRequests(sw roster.Sweep, rate float64) float64 {
	switch {
	case sw.Requests > 0:
		return float64(sw.Requests)
	case sw.Duration > 0:
		return max(1, math.Floor(rate*sw.Duration.Seconds()+0.5))
	}
	return max(20, math.Floor(rate*roster.RateLevel.Seconds()+0.5))
}

// checkWindow: a level of a rate is judged from its first answer to its last
// arrival, and that must take min_window. With T2, whose answers the forecast
// takes for 1.5 s, and 30 s, arrivals must spread over 31.5 s: at 2 a second
// that are 64 requests, the first of which begins the spread.
func (s *sweep) checkWindow(sw roster.Sweep) {
	window, answer := s.Thresholds.Window(), sw.Answer()
	need := (window + answer).Seconds()
	least := func(rate float64) float64 { return math.Ceil(need*rate) + 1 }
	seconds, short := 0.0, 0.0
	for _, rate := range sw.Ladder {
		seconds = max(seconds, math.Ceil(least(rate)/rate))
		if (rateRequests(sw, rate)-1)/rate < need {
			short = rate // the highest is the shortest if requests are given
		}
	}
	if short == 0 {
		return
	}
	spread := tenths((rateRequests(sw, short) - 1) / short)
	at, value, or := s.places.ladder, "", ""
	switch {
	case sw.Requests > 0:
		at, value, or = s.places.requests, strconv.Itoa(sw.Requests), " instead, or requests: "+strconv.FormatFloat(least(slices.Max(sw.Ladder)), 'f', 0, 64)
	case sw.Duration > 0:
		at, value = s.places.duration, FormatDuration(sw.Duration)
	}
	at.warn(value, "level %g would be too short to judge: its arrivals spread over %s, and after the first answer (some %s by the forecast) they must go on for %s (thresholds.min_window); write duration: %s%s",
		short, spread, tenths(answer.Seconds()), FormatDuration(window), tenths(seconds), or)
}

// checkLongest: a ladder that takes longer than max_duration is aborted each
// time. Answers and warm-ups come on top, so even an equal time is too short.
func (s *sweep) checkLongest(sw roster.Sweep) {
	pause := sw.CoolDown
	if pause == 0 {
		pause = roster.DefaultCoolDown
	}
	total := float64(len(sw.Ladder)-1) * max(pause, 0).Seconds()
	for _, load := range sw.Ladder {
		switch {
		case sw.Mode == "rate":
			total += rateRequests(sw, load) / load
		case sw.Duration > 0:
			total += sw.Duration.Seconds()
		default:
			return // ends by answers, and nobody knows how long these take
		}
	}
	if sw.MaxDuration <= 0 || total < sw.MaxDuration.Seconds() {
		return
	}
	at := node{s.at.w, s.at.y, join(s.at.path, "max_duration")} // the default
	if s.places.longest != nil {
		at = *s.places.longest
	}
	at.warn(FormatDuration(sw.MaxDuration), "is over before the %d levels are, which take %s with their cool-downs and some more for the last answers, so every run would be aborted; raise it to %s, or shorten the ladder or its levels",
		len(sw.Ladder), tenths(total), tenths(60*math.Ceil(1.1*total/60)))
}

// checkBudget: a run that alone needs more than the budget of a day is skipped
// each time.
func (s *sweep) checkBudget(sw roster.Sweep, budget int64) {
	need := math.Ceil(sw.OneRun().Tokens())
	if budget > 0 && need > float64(budget) {
		s.at.warn("", "one run on %s is forecast at %.0f tokens, and its budget.sweep_tokens_per_day is %d, so each is skipped (reason budget); ask fewer requests, shorten the ladder or raise the budget to %.0f", sw.Target, need, budget, need)
	}
}

// tenths writes seconds as a duration to a tenth of a second.
func tenths(seconds float64) string {
	const most = 200 * 365 * 24 * 3600 // what a duration holds, and nobody waits
	return FormatDuration(time.Duration(math.Round(min(seconds, most)*10)) * (time.Second / 10))
}
