package catalog

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestShape pins the size of the list and the rules every entry obeys.
func TestShape(t *testing.T) {
	all := All()
	if got, want := len(all), 71; got != want {
		t.Errorf("%d metrics, want %d: change this number together with the list", got, want)
	}
	name := regexp.MustCompile(`^tokprobe_[a-z0-9]+(_[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		if !name.MatchString(m.Name) {
			t.Errorf("%s: not a name of ours", m.Name)
		}
		if (m.Type == Counter) != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s: type %s does not go with the suffix", m.Name, m.Type)
		}
		if (m.Type == Histogram) != (len(m.Buckets) > 0) {
			t.Errorf("%s: type %s with %d buckets", m.Name, m.Type, len(m.Buckets))
		}
		if !slices.IsSorted(m.Buckets) {
			t.Errorf("%s: buckets not ascending: %v", m.Name, m.Buckets)
		}
		if !strings.HasSuffix(m.Help, ".") || strings.Contains(m.Help, "\n") {
			t.Errorf("%s: help is not one line that ends in a full stop: %q", m.Name, m.Help)
		}
		for label, values := range m.Enum {
			if !m.HasLabel(label) || len(values) == 0 {
				t.Errorf("%s: list of %q has no label or no values", m.Name, label)
			}
		}
	}
}

// TestSeriesPerProbe holds the size that capacity planning is built on: what
// one probe with one full SLO and a price costs in series.
func TestSeriesPerProbe(t *testing.T) {
	series := 0
	for _, m := range All() {
		if m.Scope != ScopeProbe {
			continue
		}
		n := 1
		if m.Type == Histogram {
			n = len(m.Buckets) + 3 // +Inf, _sum, _count
		}
		for _, values := range m.Enum {
			n *= len(values)
		}
		series += n
	}
	if series != 181 {
		t.Errorf("one probe has %d series, want 181", series)
	}
}

func TestLookup(t *testing.T) {
	m, ok := Lookup("tokprobe_slo_events_total")
	want := []string{"target", "model", "probe", "slo", "sli", "verdict"}
	if !ok || !slices.Equal(m.Labels, want) {
		t.Errorf("labels %v, want %v", m.Labels, want)
	}
	if _, ok := Lookup("tokprobe_nonsense"); ok {
		t.Error("found a metric that does not exist")
	}
}

// TestAllIsACopy: a caller that changes what it got changes nothing for others.
func TestAllIsACopy(t *testing.T) {
	All()[0].Labels[0] = "changed"
	if got := All()[0].Labels[0]; got != "target" {
		t.Errorf("label %q after a caller changed its copy, want target", got)
	}
}

func TestPromQL(t *testing.T) {
	tests := []struct{ give, want string }{
		{Sel(Probes), `tokprobe_probes_total`},
		{Sel(Probes, Eq("outcome", "ok"), Ne("target", "a")), `tokprobe_probes_total{outcome="ok",target!="a"}`},
		{Sel(Probes, Eq("model", "a\"b\\c\nd")), `tokprobe_probes_total{model="a\"b\\c\nd"}`},
		{Sel(Probes, In("model", "gpt-4.1", "a|b")), `tokprobe_probes_total{model=~"gpt-4\\.1|a\\|b"}`},
		{Sel(Probes, NotRe("job", "x.*")), `tokprobe_probes_total{job!~"x.*"}`},
		{Sel(TTFT+"_bucket", Eq("le", Bound(0.64))), `tokprobe_ttft_seconds_bucket{le="0.64"}`},
		{Sum(Rate(Sel(Probes), "5m"), "target", "model"), `sum by (target, model) (rate(tokprobe_probes_total[5m]))`},
		{Sum(Increase("x", "1h")), `sum(increase(x[1h]))`},
		{Max("x", "target"), `max by (target) (x)`},
		{Min("x"), `min(x)`},
		{Quantile(0.95, Sel(TTFT+"_bucket"), "30m", "model"),
			`histogram_quantile(0.95, sum by (le, model) (rate(tokprobe_ttft_seconds_bucket[30m])))`},
		{Range(5 * time.Minute), "5m"},
		{Range(72 * time.Hour), "3d"},
		{Range(90 * time.Second), "90s"},
		{Range(1500 * time.Millisecond), "1500ms"},
		{Number(163.84), "163.84"},
		{Number(1), "1"},
	}
	for _, tt := range tests {
		if tt.give != tt.want {
			t.Errorf("got  %s\nwant %s", tt.give, tt.want)
		}
	}
}

func TestSelPanics(t *testing.T) {
	for _, give := range []func(){
		func() { Sel("tokprobe_nonsense") },
		func() { Sel(Probes, Eq("outcom", "ok")) },
		func() { Sel(Probes + "_bucket") },
		func() { MustLookup("nonsense") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for a name or label that does not exist")
				}
			}()
			give()
		}()
	}
}

func TestMarkdown(t *testing.T) {
	table := Markdown()
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if len(lines) != len(All())+2 {
		t.Errorf("%d lines for %d metrics", len(lines), len(All()))
	}
	want := "| `tokprobe_probe_timeout_seconds` | gauge | `target`, `model`, `probe`, `limit` (connect, first_token, stall, total) | Limits of one probe in seconds:"
	if !strings.Contains(table, want) {
		t.Errorf("table lacks %s\n%s", want, table)
	}
	cell := regexp.MustCompile(`[^\\]\|`)
	for _, line := range lines {
		if n := len(cell.FindAllString(line, -1)); n != 4 {
			t.Errorf("%d cells, want 4: %s", n, line)
		}
	}
}
