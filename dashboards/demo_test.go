package dashboards

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	c "tokprobe/exporter/catalog"
)

// absent are the metrics that a fresh demo may lack, and why. A query may come
// back empty if it reads one of them and the metric is indeed not there.
func absent() map[string]string {
	list := map[string]string{
		c.Window:        "needs 59 samples: 118 s at the demo's 2 s",
		c.Cost:          "the demo has no price",
		c.CertExpiry:    "the demo speaks plain HTTP",
		c.CanarySuccess: "the demo may have no canary",
		c.TargetHealth:  "asked once an interval",
	}
	for _, m := range c.All() {
		if m.Scope == c.ScopeSweep {
			list[m.Name] = "no sweep has run yet"
		}
	}
	return list
}

// quiet are the queries that show only what went wrong, is under way or is
// configured: on a healthy demo they are empty though their metrics exist.
var quiet = []string{
	"tokprobe-overview / Failed probes a minute by outcome / A",
	"tokprobe-target / First content / E", // no SLO on first_content
	"tokprobe-sweeps / Requests of sweeps a day by outcome / A",
	"annotation Model or tokenizer changed",
	"annotation Sweeps",
}

// TestDemo runs every query of every board against a real Prometheus that
// scrapes a fresh demo: all parse, and all return something but those that
// the two lists above excuse.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short; no dashboard query was run")
	}
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("SKIPPED: prometheus is not installed; no dashboard query was run")
	}
	dir := t.TempDir()
	d := startDemo(t, dir)
	classic := startPrometheus(t, filepath.Join(dir, "classic"), d)
	native := startPrometheus(t, filepath.Join(dir, "native"), d, "--enable-feature=native-histograms")
	start := time.Now()
	n, empty := settle(t, classic, "0", excused)
	t.Logf("%d queries on classic histograms after %.0f s, %d empty", n, time.Since(start).Seconds(), len(empty))
	checkEmpty(t, classic, n, empty)

	// With native histograms the classic buckets are gone in this Prometheus:
	// whatever reads a histogram must work by the switch.
	n, empty = settle(t, native, "1", excused)
	t.Logf("%d queries on native histograms, %d empty", n, len(empty))
	checkEmpty(t, native, n, empty)
}

// open is a query that has not returned anything yet, filled in.
type open struct {
	asked
	expr string
}

// settle runs every query until each returned something once or is excused, at
// most for 45 s. It returns how many there are and those that stayed empty.
func settle(t *testing.T, base, native string, excuse func(base string, q open) bool) (int, []open) {
	t.Helper()
	deadline := time.Now().Add(45 * time.Second)
	var pending []open
	for {
		var err error
		if pending, err = filled(t, base, native); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2)
	}
	n := len(pending)
	for {
		var still []open
		for _, q := range pending {
			series, err := ask(base, q.expr)
			if err != nil {
				t.Errorf("%s: %v in %s", q.place, err, q.expr)
				continue
			}
			if len(series) == 0 {
				still = append(still, q)
				continue
			}
			checkLegend(t, q.asked, series)
		}
		pending = still
		if time.Now().After(deadline) || !slices.ContainsFunc(pending, func(q open) bool { return !excuse(base, q) }) {
			return n, pending
		}
		time.Sleep(time.Second)
	}
}

// filled are all queries with the values of their board's variables.
func filled(t *testing.T, base, native string) ([]open, error) {
	t.Helper()
	var list []open
	for _, b := range boards(t) {
		values, err := b.values(base)
		if err != nil {
			return nil, err
		}
		values["native"] = native
		for _, q := range b.queries() {
			list = append(list, open{q, fill(q.expr, values)})
		}
	}
	return list, nil
}

// checkLegend: each label a legend shows is one that the series have.
func checkLegend(t *testing.T, q asked, series []map[string]string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(q.legend, -1) {
		if _, ok := series[0][m[1]]; !ok && m[1] != location {
			t.Errorf("%s: the legend shows %s, the series have %v", q.place, m[1], slices.Sorted(maps.Keys(series[0])))
		}
	}
}

// half is one side of the native-histogram switch as a query of its own.
var half = regexp.MustCompile(`and on \(\) \(vector\(([01])\) == ([01])\)`)

func switchedOff(_ string, q open) bool {
	m := half.FindAllStringSubmatch(q.expr, -1)
	return len(m) == 1 && m[0][1] != m[0][2]
}

// excused tells whether a query may be empty.
func excused(base string, q open) bool {
	if slices.ContainsFunc(quiet, func(place string) bool { return strings.HasSuffix(q.place, place) }) {
		return true
	}
	if switchedOff(base, q) {
		return true
	}
	for _, name := range metricsOf([]query{{expr: q.expr}}) {
		if _, ok := absent()[name]; !ok {
			continue
		}
		if series, err := ask(base, name); err == nil && len(series) == 0 {
			return true
		}
	}
	return false
}

// checkEmpty reports the empty queries without an excuse, and that the list of
// excuses has not grown into a blanket.
func checkEmpty(t *testing.T, base string, n int, empty []open) {
	t.Helper()
	for _, q := range empty {
		if !excused(base, q) {
			t.Errorf("%s: nothing came back for %s", q.place, q.expr)
		}
	}
	if len(empty) > n/2 {
		t.Errorf("%d of %d queries were empty", len(empty), n)
	}
}
