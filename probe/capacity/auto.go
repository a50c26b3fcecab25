package capacity

import (
	"fmt"
	"math"

	"tokprobe/probe"
)

// SearchConfig describes a search for the most load that is still good.
type SearchConfig struct {
	Mode Mode
	// Start is the first load tried; 0 means 1.
	Start float64
	// Max is never exceeded.
	Max float64
	// Tolerance ends the search when the bracket is no wider than this share
	// of the good load (or one stream); 0 means DefaultTolerance.
	Tolerance float64
}

// DefaultTolerance of a search, a share.
const DefaultTolerance = 0.05

// Search doubles the load until it is bad and then halves the bracket. It
// knows no clock and no network: ask Next, try that load, Report how it went.
//
// With 11 streams good and 12 bad it asks for 1, 2, 4, 8, 16, 12, 10, 11.
type Search struct {
	cfg      SearchConfig
	lo, hi   float64 // the most load known good, the least known bad; 0 unknown
	next     float64
	steps    int
	finished bool
}

// maxSearchSteps bounds a search whose answers contradict one another.
const maxSearchSteps = 64

// NewSearch starts a search.
func NewSearch(cfg SearchConfig) (*Search, error) {
	if cfg.Start == 0 {
		cfg.Start = 1
	}
	if cfg.Tolerance == 0 {
		cfg.Tolerance = DefaultTolerance
	}
	switch {
	case cfg.Mode != Concurrency && cfg.Mode != Rate:
		return nil, fmt.Errorf("mode %q: want %s or %s", cfg.Mode, Concurrency, Rate)
	case !finite(cfg.Start) || cfg.Start <= 0 || cfg.Mode == Concurrency && cfg.Start != math.Floor(cfg.Start):
		return nil, fmt.Errorf("start %g: want a load above 0, whole for streams", cfg.Start)
	case !finite(cfg.Max) || cfg.Max < cfg.Start || cfg.Mode == Concurrency && cfg.Max != math.Floor(cfg.Max):
		return nil, fmt.Errorf("maximum load %g: want at least the start of %g, whole for streams", cfg.Max, cfg.Start)
	case !finite(cfg.Tolerance) || cfg.Tolerance < 0 || cfg.Tolerance >= 1:
		return nil, fmt.Errorf("tolerance %g: want a share between 0 and 1", cfg.Tolerance)
	}
	return &Search{cfg: cfg, next: cfg.Start}, nil
}

// Next is the load to try, or done. It changes nothing.
func (s *Search) Next() (load float64, done bool) { return s.next, s.finished }

// Best is the most load found good so far.
func (s *Search) Best() probe.Opt[float64] { return probe.Opt[float64]{V: s.lo, OK: s.lo > 0} }

// Bad is the least load found bad so far.
func (s *Search) Bad() probe.Opt[float64] { return probe.Opt[float64]{V: s.hi, OK: s.hi > 0} }

// Report says how a load went. A good result at or above a load known to be
// bad, or a bad one at or below a load known to be good, is taken as noise:
// the earlier answer stands.
func (s *Search) Report(load float64, ok bool) {
	if s.finished || !finite(load) || load <= 0 {
		return
	}
	s.steps++
	if ok && (s.hi == 0 || load < s.hi) {
		s.lo = max(s.lo, load)
	}
	if !ok && load > s.lo && (s.hi == 0 || load < s.hi) {
		s.hi = load
	}
	s.advance()
}

func (s *Search) advance() {
	switch {
	case s.steps >= maxSearchSteps:
		s.finished = true
	case s.hi == 0 && s.lo >= s.cfg.Max:
		s.finished = true
	case s.hi == 0:
		s.next = min(s.cfg.Max, 2*s.lo)
		if s.lo == 0 {
			s.next = s.cfg.Start
		}
	case s.hi-s.lo <= s.width():
		s.finished = true
	default:
		s.next = s.middle()
		if s.next <= s.lo || s.next >= s.hi {
			s.finished = true
		}
	}
}

// width is how wide the bracket may stay: a share of the good load, at least
// one stream. Where no rate was good, the search gives up at 1/64 of the start.
func (s *Search) width() float64 {
	w := s.cfg.Tolerance * s.lo
	if s.cfg.Mode == Concurrency {
		return max(1, w)
	}
	if s.lo == 0 {
		return s.cfg.Start / 64
	}
	return w
}

// middle halves the bracket: to whole streams, or to a rate of three digits.
func (s *Search) middle() float64 {
	m := (s.lo + s.hi) / 2
	if s.cfg.Mode == Concurrency {
		return math.Floor(m)
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(m)))
	return math.Round(m*scale) / scale
}
