package deploy_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"tokprobe/deploy"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// small is a roster of one target, model, probe and SLO.
func small(change func(*roster.Roster)) roster.Roster {
	s := slo.SLO{Name: "s", Window: 30 * 24 * time.Hour, Objectives: []slo.Objective{{SLI: slo.Success, Ratio: 0.995}, {SLI: slo.TTFT, Below: time.Second, Ratio: 0.95}}}
	r := roster.Roster{
		Targets: []roster.Target{{Name: "t", Models: []string{"m"}}},
		SLOs:    []slo.SLO{s},
		Watches: []roster.Watch{{ID: probe.ID{Target: "t", Model: "m", Probe: "p"}, Every: 30 * time.Second, SLOs: []slo.SLO{s}}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

// TestBadNames: what could break PromQL, a template or YAML is refused, and the
// error says what to write.
func TestBadNames(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*roster.Roster)
		want   string
	}{
		{"template in an SLO", func(r *roster.Roster) { r.SLOs[0].Name = "{{ .Boom }}" }, "without {{ and }}"},
		{"line feed in a probe", func(r *roster.Roster) { r.Watches[0].ID.Probe = "a\nb" }, "one line"},
		{"broken UTF-8 in a model", func(r *roster.Roster) { r.Watches[0].ID.Model = "\xff" }, "printable"},
		{"two SLOs of one name", func(r *roster.Roster) { r.SLOs = append(r.SLOs, r.SLOs[0]) }, "rename one"},
		{"two targets of one name", func(r *roster.Roster) { r.Targets = append(r.Targets, r.Targets[0]) }, "rename one"},
		{"an SLO nobody lists", func(r *roster.Roster) { r.SLOs = nil }, "does not list"},
		{"label that the rules set", func(r *roster.Roster) { r.Targets[0].Labels = map[string]string{"severity": "page"} }, "choose another name"},
		{"label that is no name", func(r *roster.Roster) { r.Targets[0].Labels = map[string]string{"a-b": "x"} }, "letters, digits and _"},
		{"template in a label", func(r *roster.Roster) { r.Targets[0].Labels = map[string]string{"team": "{{ $value }}"} }, "without {{ and }}"},
		{"selector that closes the braces", func(r *roster.Roster) { r.Targets[0].ServerMetrics.Selector = `job="a"} or up{` }, `job="vllm"`},
		{"selector without quotes", func(r *roster.Roster) { r.Targets[0].ServerMetrics.Selector = `job=vllm` }, `job="vllm"`},
		{"no interval", func(r *roster.Roster) { r.Watches[0].Every = 0 }, "write every or a cron"},
		{"one probe at two intervals", func(r *roster.Roster) {
			w := r.Watches[0]
			w.ID.Model, w.Every = "n", time.Minute
			r.Watches = append(r.Watches, w)
		}, "two different names"},
	} {
		f, err := deploy.Rules(small(tt.change), deploy.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
		if len(f.Groups) > 0 {
			t.Errorf("%s: rules in spite of the error", tt.name)
		}
	}
}

// TestOddNames: quotes, slashes, backslashes, colons and Unicode are quoted
// where they stand. promtool reads the result.
func TestOddNames(t *testing.T) {
	for _, odd := range []string{`a"b`, `a'b`, `a\b`, `org/model:8b`, "模型", "a # b", "yes", "- a", "*x", `a.b|c`, "`x`"} {
		r := small(func(r *roster.Roster) {
			r.SLOs[0].Name, r.Targets[0].Name = odd, odd
			r.Targets[0].Labels = map[string]string{"team": odd}
			r.Targets[0].ServerMetrics.Selector = `job="a\"b"`
			w := &r.Watches[0]
			w.ID, w.SLOs = probe.ID{Target: odd, Model: odd, Probe: odd}, r.SLOs
			slow := *w
			slow.ID.Probe, slow.Every = odd+" slow", 10*time.Minute
			r.Watches = append(r.Watches, slow)
			r.Sweeps = []roster.Sweep{{Name: odd, Target: odd, Model: odd, Cron: "0 3 * * *", Mode: "rate", Ladder: []float64{1, 2}}}
		})
		f, err := deploy.Rules(r, deploy.Options{})
		if err != nil {
			t.Errorf("%q: %v", odd, err)
			continue
		}
		data, err := f.YAML()
		if err != nil {
			t.Errorf("%q: %v", odd, err)
			continue
		}
		path := t.TempDir() + "/rules.yaml"
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tool := range promtools(t) {
			promtool(t, tool, "check", "rules", "--lint-fatal", path)
		}
	}
}

// TestUndetected: a promise that no window can see, and one whose threshold the
// probe's own limit cuts, are warnings in the file and of the command.
func TestUndetected(t *testing.T) {
	daily := small(func(r *roster.Roster) {
		r.Watches[0].Every = 12 * time.Hour
	})
	f, err := deploy.Rules(daily, deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "no window can see SLO s, success 99.5% with probe p every 12h0m0s: probe at least every 6h0m0s, lower the objective, or write alerting: off"
	if len(f.Warnings) != 2 || f.Warnings[0] != want {
		t.Errorf("warnings %q, want two, the first %q", f.Warnings, want)
	}
	comments := strings.Join(f.Comments, "\n")
	if !strings.Contains(comments, "WARNING: "+want) || !strings.Contains(comments, "3d/3d ×1") {
		t.Errorf("the head of the file does not name it:\n%s", comments)
	}
	cut := small(func(r *roster.Roster) { r.Watches[0].Spec.Limits.FirstToken = 500 * time.Millisecond })
	if f, err = deploy.Rules(cut, deploy.Options{}); err != nil {
		t.Fatal(err)
	}
	want = "SLO s, ttft: the threshold 1s is above the limit 500ms of probe p, which cuts such answers first: lower the threshold or raise the limit"
	if len(f.Warnings) != 1 || f.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", f.Warnings, want)
	}
}

// TestAlerting: ticket makes tickets of all pages, off leaves the alerts out
// and keeps the series.
func TestAlerting(t *testing.T) {
	count := func(a slo.Alerting) (pages, tickets, records int) {
		f, err := deploy.Rules(small(func(r *roster.Roster) { r.SLOs[0].Alerting = a }), deploy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				switch {
				case strings.HasPrefix(r.Record, "probe_sli:tokprobe_slo_bad:ratio"):
					records++
				case strings.HasSuffix(r.Alert, "BudgetBurn") && r.Labels["severity"] == "page":
					pages++
				case strings.HasSuffix(r.Alert, "BudgetBurn"):
					tickets++
				}
			}
		}
		return pages, tickets, records
	}
	for _, tt := range []struct {
		give slo.Alerting
		want [3]int
	}{{slo.Page, [3]int{4, 4, 7}}, {"", [3]int{4, 4, 7}}, {slo.Ticket, [3]int{0, 8, 7}}, {slo.Off, [3]int{0, 0, 7}}} {
		p, k, r := count(tt.give)
		if got := [3]int{p, k, r}; got != tt.want {
			t.Errorf("alerting %q: pages, tickets, ratios %v, want %v", tt.give, got, tt.want)
		}
	}
}

// TestScale: the same rules with windows of seconds, for probes that are as
// much faster.
func TestScale(t *testing.T) {
	fast := small(func(r *roster.Roster) { r.Watches[0].Every = time.Second })
	f, err := deploy.Rules(fast, deploy.Options{Scale: 1.0 / 30, Regression: deploy.Regression{Past: [2]time.Duration{time.Hour, 2 * time.Hour}, Over: 30 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"probe_sli:tokprobe_slo_bad:ratio2m{", "probe_sli:tokprobe_slo_bad:ratio10s{", "interval: 1s", "> 0.072", "for: 30s", "[1m] offset 2m)", "[1m] offset 4m)"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("rules of seconds lack %q", want)
		}
	}
	path := t.TempDir() + "/rules.yaml"
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range promtools(t) {
		promtool(t, tool, "check", "rules", "--lint-fatal", path)
	}
}

func TestBadOptions(t *testing.T) {
	for _, tt := range []struct {
		give deploy.Options
		want string
	}{
		{deploy.Options{Scale: -1}, "scale -1"},
		{deploy.Options{Quorum: -1}, "quorum -1"},
		{deploy.Options{GrafanaURL: "http://x/{{ a }}"}, "Grafana URL"},
		{deploy.Options{Job: "a\nb"}, "job"},
		{deploy.Options{Regression: deploy.Regression{Ratio: 0.5}}, "regression ratio"},
	} {
		if _, err := deploy.Rules(small(nil), tt.give); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.give, err, tt.want)
		}
	}
}

// TestOperator: the PrometheusRule holds the very same groups.
func TestOperator(t *testing.T) {
	f, err := deploy.Rules(load(t, "../configs/example.yaml"), deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Operator()
	plain, err2 := f.YAML()
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	var rule struct {
		APIVersion, Kind string
		Spec             struct{ Groups []any }
	}
	var file struct{ Groups []any }
	if err := errors.Join(yaml.Unmarshal(data, &rule), yaml.Unmarshal(plain, &file)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n") {
		t.Errorf("head of the PrometheusRule:\n%.300s", data)
	}
	a, _ := yaml.Marshal(rule.Spec.Groups)
	b, _ := yaml.Marshal(file.Groups)
	if string(a) != string(b) || len(file.Groups) == 0 {
		t.Error("the PrometheusRule has other groups than the rule file")
	}
}

// TestNothingBrokenIsWritten: a file that would not work gives no bytes.
func TestNothingBrokenIsWritten(t *testing.T) {
	for _, tt := range []struct {
		rule deploy.Rule
		want string
	}{
		{deploy.Rule{Alert: "A", Expr: `up{job="x`}, "does not end"},
		{deploy.Rule{Alert: "A", Expr: `sum(up`}, "not closed"},
		{deploy.Rule{Alert: "A", Expr: `up)`}, "too many"},
		{deploy.Rule{Alert: "A", Expr: `tokprobe_no_such_total > 0`}, "no metric tokprobe_no_such_total"},
		{deploy.Rule{Alert: "A", Expr: `up`, Annotations: map[string]string{"summary": "{{ .Nope"}}, "does not parse"},
		{deploy.Rule{Alert: "A", Expr: `up`, Annotations: map[string]string{"summary": "{{ $labels.a | nope }}"}}, "does not parse"},
	} {
		f := deploy.RuleFile{Groups: []deploy.Group{{Name: "g", Rules: []deploy.Rule{tt.rule}}}}
		if data, err := f.YAML(); err == nil || !strings.Contains(err.Error(), tt.want) || data != nil {
			t.Errorf("%+v: %d bytes, error %v, want %q", tt.rule, len(data), err, tt.want)
		}
	}
}
