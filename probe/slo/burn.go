package slo

import (
	"fmt"
	"math"
	"time"
)

// Pair is one multi-window burn-rate alert: it fires while the share of bad
// probes exceeds Factor × (1 − objective) in the long and the short window.
type Pair struct {
	Long, Short time.Duration
	Factor      float64
	Severity    Alerting // Page or Ticket
}

// String names a pair: "1h/5m ×14.4".
func (p Pair) String() string {
	return fmt.Sprintf("%s/%s ×%g", hours(p.Long), hours(p.Short), p.Factor)
}

func hours(d time.Duration) string {
	switch {
	case d >= 24*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", int64(math.Ceil(d.Seconds())))
}

// LeftOut is a pair that cannot work for an objective and an interval.
type LeftOut struct {
	Pair
	Reason string
}

// allPairs are those of a 30-day budget: 14.4 spends 2 % of it in 1 h, 6 spends
// 5 % in 6 h, 3 and 1 spend 10 % in 1 and 3 days.
func allPairs() []Pair {
	return []Pair{
		{time.Hour, 5 * time.Minute, 14.4, Page},
		{6 * time.Hour, 30 * time.Minute, 6, Page},
		{24 * time.Hour, 2 * time.Hour, 3, Ticket},
		{72 * time.Hour, 6 * time.Hour, 1, Ticket},
	}
}

const (
	// minLongSamples is how many probes a long window must hold.
	minLongSamples = 12
	// shortIntervals is how many intervals a short window has at least.
	shortIntervals = 6
	// minPageBad is how many bad probes a page needs.
	minPageBad = 3
)

// Pairs says which burn-rate pairs can fire for an objective (0.995) that is
// probed once an interval, with the short window stretched to 6 intervals, and
// which are left out and why. With 99.5 % at 30 s all four work; at 10 min the
// first does not (6 probes an hour); for 90 % neither of the first can be
// reached by 14.4 (14.4 × 10 % > 100 %).
func Pairs(objective float64, interval time.Duration) (usable []Pair, left []LeftOut) {
	for _, p := range allPairs() {
		p.Short = max(p.Short, shortIntervals*interval)
		switch {
		case objective <= 0 || objective >= 1 || interval <= 0:
			left = append(left, LeftOut{p, "no objective between 0 and 1, or no interval"})
		case objective <= 1-1/p.Factor:
			left = append(left, LeftOut{p, fmt.Sprintf("%g times the %.4g%% that may fail is over 100%%; the objective must exceed %.4g%%", p.Factor, 100*(1-objective), 100*(1-1/p.Factor))})
		case p.Long < minLongSamples*interval:
			left = append(left, LeftOut{p, fmt.Sprintf("%s holds %d probes, %d are needed; probe every %s or more often", hours(p.Long), int(p.Long/interval), minLongSamples, p.Long/minLongSamples)})
		default:
			usable = append(usable, p)
		}
	}
	return usable, left
}

// Detection is what one pair sees with the samples it has.
type Detection struct {
	Pair
	Samples int     // probes in the long window
	Ratio   float64 // a share of bad probes that lasts is seen above this
	MinBad  int     // fewest bad probes within the long window that fire it
	// Outage is how long every probe must fail, after a clean long window,
	// until it fires.
	Outage time.Duration
}

// Detect says what each usable pair sees. At 99.5 % and 30 s the pair 1h/5m has
// 120 samples, fires above 7.2 %, so from 9 bad ones on, 4.5 minutes into an
// outage.
func Detect(objective float64, interval time.Duration) []Detection {
	usable, _ := Pairs(objective, interval)
	var list []Detection
	for _, p := range usable {
		d := Detection{Pair: p, Samples: int(p.Long / interval), Ratio: p.Factor * (1 - objective)}
		d.MinBad = above(d.Ratio, d.Samples)
		short := above(d.Ratio, int(p.Short/interval))
		if p.Severity == Page {
			d.MinBad = max(d.MinBad, minPageBad)
		}
		d.Outage = time.Duration(max(d.MinBad, short)) * interval
		list = append(list, d)
	}
	return list
}

// above is the smallest count of n that is a greater share than ratio.
func above(ratio float64, n int) int {
	// 1e-9 forgives 14.4 × (1 − 0.995) = 0.07200000000000006.
	return int(math.Floor(ratio*float64(n)+1e-9)) + 1
}
