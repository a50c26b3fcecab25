package dashboards

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	c "tokprobe/exporter/catalog"
)

// exposition writes every metric of the catalogue and of vLLM's old spelling
// with all values of their closed labels. Counters grow with n, so that rates
// and shares have something to show.
func exposition(w io.Writer, n int) {
	for _, m := range c.All() {
		fmt.Fprintf(w, "# TYPE %s %s\n", m.Name, m.Type)
		for i, labels := range labelSets(m) {
			switch m.Type {
			case c.Gauge:
				fmt.Fprintf(w, "%s{%s} %d\n", m.Name, labels, 1)
			case c.Counter:
				fmt.Fprintf(w, "%s{%s} %d\n", m.Name, labels, n*(i+1))
			case c.Histogram:
				for _, le := range m.Buckets {
					fmt.Fprintf(w, "%s_bucket{%s,le=%q} %d\n", m.Name, labels, c.Bound(le), n)
				}
				fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[3]d\n%[1]s_count{%[2]s} %[3]d\n", m.Name, labels, n)
			}
		}
	}
	for _, name := range []string{vllmTTFT, vllmTPOTOld} {
		fmt.Fprintf(w, "%s_sum{model_name=\"model-x\"} %d\n%[1]s_count{model_name=\"model-x\"} %[2]d\n", name, n)
	}
	for _, name := range []string{vllmRunning, vllmWaiting, vllmCacheOld} {
		fmt.Fprintf(w, "%s{model_name=\"model-x\"} 1\n", name)
	}
	for _, name := range []string{processCPU, processMemory, processFiles, processThreads} {
		fmt.Fprintf(w, "%s %d\n", name, n)
	}
}

// labelSets are all combinations of the metric's label values; open labels
// have one value, but probe, of which there is a cold and a warm one.
func labelSets(m c.Metric) []string {
	sets := []string{`x=""`}
	for _, label := range m.Labels {
		values := m.Enum[label]
		switch {
		case label == c.LabelProbe:
			values = []string{"cold", "warm"}
		case label == c.LabelLevel:
			values = []string{"1", "8"}
		case len(values) == 0:
			values = []string{label + "-x"}
		}
		var next []string
		for _, set := range sets {
			for _, v := range values {
				next = append(next, fmt.Sprintf("%s,%s=%q", set, label, v))
			}
		}
		sets = next
	}
	return sets
}

// TestEverything runs every query against a Prometheus that scrapes all the
// metrics there are: each returns something, those of sweeps, prices and
// certificates too. That is where a join on labels that never match shows.
func TestEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short; no dashboard query was run")
	}
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("SKIPPED: prometheus is not installed; no dashboard query was run")
	}
	var scrapes atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		exposition(w, int(scrapes.Add(1)))
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	base := startPrometheus(t, t.TempDir(), demo{metrics: address, simulator: address})
	_, empty := settle(t, base, "0", switchedOff)
	for _, q := range empty {
		if !switchedOff(base, q) {
			t.Errorf("%s: nothing came back for %s", q.place, q.expr)
		}
	}
}
