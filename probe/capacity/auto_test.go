package capacity

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tokprobe/probe"
)

// search runs a search on an endpoint that is good up to a load.
func search(t *testing.T, cfg SearchConfig, good float64) (*Search, []float64) {
	t.Helper()
	s, err := NewSearch(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var asked []float64
	for {
		load, done := s.Next()
		if done {
			return s, asked
		}
		if asked = append(asked, load); len(asked) > 100 {
			t.Fatalf("no end: %v", asked)
		}
		s.Report(load, load <= good)
	}
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		cfg   SearchConfig
		good  float64
		asked string
		best  float64 // 0 for none
	}{
		{SearchConfig{Mode: Concurrency, Max: 64}, 11, "[1 2 4 8 16 12 10 11]", 11},
		{SearchConfig{Mode: Concurrency, Max: 64}, 1000, "[1 2 4 8 16 32 64]", 64},
		{SearchConfig{Mode: Concurrency, Max: 50}, 1000, "[1 2 4 8 16 32 50]", 50},
		{SearchConfig{Mode: Concurrency, Max: 64}, 0, "[1]", 0},
		{SearchConfig{Mode: Concurrency, Max: 64, Start: 8}, 3, "[8 4 2 3]", 3},
		{SearchConfig{Mode: Concurrency, Max: 1000, Tolerance: 0.25}, 150, "[1 2 4 8 16 32 64 128 256 192 160]", 128},
		{SearchConfig{Mode: Rate, Max: 8, Tolerance: 0.2}, 3.3, "[1 2 4 3 3.5]", 3},
		{SearchConfig{Mode: Rate, Max: 8, Tolerance: 0.5}, 0.3, "[1 0.5 0.25 0.375]", 0.25},
		{SearchConfig{Mode: Rate, Max: 8}, 0, "[1 0.5 0.25 0.125 0.0625 0.0313 0.0157 0.00785]", 0},
	} {
		s, asked := search(t, c.cfg, c.good)
		if got := fmt.Sprint(asked); got != c.asked {
			t.Errorf("%+v, good up to %g: asked %s, want %s", c.cfg, c.good, got, c.asked)
		}
		want := &c.best
		if c.best == 0 {
			want = nil
		}
		same(t, "best", s.Best(), want)
	}
}

// TestSearchFindsAnyLimit tries every limit: the answer is exact for streams
// and within the tolerance for rates.
func TestSearchFindsAnyLimit(t *testing.T) {
	for good := 1.0; good <= 300; good++ {
		s, _ := search(t, SearchConfig{Mode: Concurrency, Max: 256, Tolerance: 1e-9}, good)
		if want := min(good, 256); s.Best() != probe.Some(want) {
			t.Errorf("streams good up to %g: best %+v", good, s.Best())
		}
		s, _ = search(t, SearchConfig{Mode: Rate, Max: 1000, Start: 0.1}, good/7)
		if b := s.Best().V; b > good/7 || b < good/7/1.05-1e-9 {
			t.Errorf("rates good up to %g: best %g, want within 5 %% below", good/7, b)
		}
	}
}

func TestSearchEndsOnContradictions(t *testing.T) {
	rng := newRand(3)
	for range 200 {
		s, err := NewSearch(SearchConfig{Mode: Rate, Max: 64, Tolerance: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			load, done := s.Next()
			if done {
				break
			}
			if n++; n > maxSearchSteps || load <= 0 || load > 64 {
				t.Fatalf("step %d asks for %g", n, load)
			}
			s.Report(load, rng.IntN(2) == 0)
		}
	}
}

func TestBadSearch(t *testing.T) {
	for _, c := range []struct {
		give SearchConfig
		want string
	}{
		{SearchConfig{Max: 4}, "mode"},
		{SearchConfig{Mode: Concurrency}, "maximum load 0"},
		{SearchConfig{Mode: Concurrency, Max: 4.5}, "maximum load 4.5"},
		{SearchConfig{Mode: Rate, Max: math.NaN()}, "maximum load NaN"},
		{SearchConfig{Mode: Rate, Max: 4, Start: -1}, "start -1"},
		{SearchConfig{Mode: Rate, Max: 4, Tolerance: 1}, "tolerance 1"},
	} {
		if _, err := NewSearch(c.give); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want an error with %q", c.give, err, c.want)
		}
	}
}
