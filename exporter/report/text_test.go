package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// TestTextFitsTerminal holds the table to 140 columns, also with six-digit
// latencies in every cell and every flag up.
func TestTextFitsTerminal(t *testing.T) {
	wide := rates()
	big := capacity.Summary{N: 5000, Mean: 163840, P50: 163840, P90: 163840, P95: 163840, P99: 163840}
	for i := range wide.Levels {
		l := &wide.Levels[i]
		l.Completed, l.Failed, l.TokensPerMinute, l.Attainment = 5000, 1000, probe.Some(7_654_321.0), probe.Some(1.0)
		l.State, l.Repeats, l.Cut, l.Coalesced, l.CacheSuspect = capacity.NearSaturation, 3, 1, 1, 1
		l.Trusted, l.TooShort, l.FewRequests, l.EndedEarly, l.InFlightCapped = false, true, true, true, true
		l.Stats = map[capacity.Metric]capacity.Summary{capacity.TTFT: big, capacity.E2E: big, capacity.SendDelay: big,
			capacity.TPOT: {N: 5000, P50: 999.9, P95: 999.9}}
	}
	for name, r := range map[string]capacity.Report{"gateway": gateway(), "rates": rates(), "wide": wide, "hostile": hostile()} {
		for line := range bytes.Lines(render(t, "text", r)) {
			if n := utf8.RuneCount(bytes.TrimRight(line, "\n")); n > maxWidth {
				t.Errorf("%s: a line of %d columns, at most %d wanted: %s", name, n, maxWidth, line)
			}
		}
	}
	text := string(render(t, "text", wide))
	for _, flag := range []string{"untrusted", "short", "few", "early", "capped", "cached", "coalesced", "cut", "3x"} {
		if n := strings.Count(text, flag); n < len(wide.Levels) {
			t.Errorf("flag %s is shown %d times of %d in\n%s", flag, n, len(wide.Levels), text)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		give float64
		want string
	}{
		{0, "0"}, {0.29, "0.290"}, {0.9996, "1.00"}, {0.9994, "0.999"}, {0.00001234, "0.0000123"}, {0.0999, "0.100"}, {1.05, "1.05"}, {9.996, "10.0"}, {41.2, "41.2"},
		{999.96, "1000"}, {3400.4, "3400"}, {-0.5, "-0.500"}, {math.NaN(), "-"}, {math.Inf(1), "-"},
	} {
		if got := number(c.give); got != c.want {
			t.Errorf("number(%g) = %s, want %s", c.give, got, c.want)
		}
	}
	for _, c := range []struct {
		give float64
		want string
	}{{0, "0.0%"}, {0.00001, "0.1%"}, {0.9996, "99.9%"}, {1, "100.0%"}, {0.025, "2.5%"}, {math.NaN(), "-"}} {
		if got := percent(c.give); got != c.want {
			t.Errorf("percent(%g) = %s, want %s", c.give, got, c.want)
		}
	}
}

func TestHeld(t *testing.T) {
	for _, c := range []struct {
		give float64
		want string
	}{{0, "0.0%"}, {0.00001, "0.1%"}, {0.9946, "99.4%"}, {0.995, "99.5%"}, {0.9996, "99.9%"}, {1, "100.0%"}, {math.NaN(), "-"}} {
		if got := held(c.give); got != c.want {
			t.Errorf("held(%g) = %s, want %s", c.give, got, c.want)
		}
	}
}

func TestWrapWords(t *testing.T) {
	for _, c := range []struct {
		give string
		want string
	}{{"", ""}, {"one", "one"}, {"one two three", "one two\nthree"}, {"muchtoolong a", "muchtoolong\na"}, {"äöü xyz ab", "äöü xyz\nab"}} {
		if got := strings.Join(wrapWords(c.give, 8), "\n"); got != c.want {
			t.Errorf("wrapWords(%q) = %q, want %q", c.give, got, c.want)
		}
	}
}
