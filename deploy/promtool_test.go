package deploy_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"tokprobe/deploy"
)

// Kinds of rule tests. Every alert has one of each, or says why not.
const (
	fires    = "fires"
	noise    = "silent on noise"
	recovers = "recovers"
	gap      = "gap in data"
	reset    = "counter reset"
	low      = "low count"
)

// ruleCase is one simulated stretch of time and what one alert does in it.
type ruleCase struct {
	alert, kind, note string
	every             string // time between two samples; empty is 30s
	series            []string
	firing            []check
}

// check lists the labels of every firing instance of the alert at a time, or
// of those that also match only.
type check struct {
	at, only string
	labels   []string
}

func at(when string, labels ...string) check { return check{at: when, labels: labels} }

// among is at for the instances with some label: long="1h".
func among(only, when string, labels ...string) check { return check{when, only, labels} }

// testFile is a file of rule cases that are evaluated at one pace against the
// groups they are about: all rules for all cases take ten times as long.
type testFile struct {
	name, every string
	groups      []string
	cases       []ruleCase
}

func testFiles() []testFile {
	return []testFile{
		{"slo", "1m", []string{"slo", "slo-alerts"}, burnCases()},
		{"down", "30s", []string{"down"}, downCases()},
		{"latency", "5m", []string{"latency", "latency-alerts"}, latencyCases()},
		{"outcomes", "30s", []string{"outcomes"}, outcomeCases()},
		{"sweeps", "1h", []string{"sweeps", "sweep-alerts"}, sweepCases()},
		{"prober", "1m", []string{"prober"}, proberCases()},
		{"resources", "1m", []string{"resources", "production"}, resourceCases()},
	}
}

// metric adds what every scrape adds.
func metric(name, labels string) string {
	if labels != "" {
		labels += ","
	}
	return name + "{" + labels + `instance="10.0.0.9:9816",job="tokprobe"}`
}

// Samples of one series, one after the other, in promtool's notation.
type samples struct {
	text []string
	v    float64
}

func from(v float64) *samples { return &samples{v: v} }

// flat repeats the value.
func (s *samples) flat(n int) *samples {
	s.text = append(s.text, fmt.Sprintf("%g+0x%d", s.v, n-1))
	return s
}

// up raises the value by step, n times.
func (s *samples) up(n int, step float64) *samples {
	s.text = append(s.text, fmt.Sprintf("%g%+gx%d", s.v+step, step, n-1))
	s.v += step * float64(n)
	return s
}

// to jumps.
func (s *samples) to(v float64) *samples { s.v = v; return s }

// miss leaves out n scrapes.
func (s *samples) miss(n int) *samples {
	s.text = append(s.text, fmt.Sprintf("_x%d", n))
	return s
}

// of joins a selector and its samples.
func (s *samples) of(series string) string { return series + " => " + strings.Join(s.text, " ") }

type promtoolFile struct {
	RuleFiles []string       `yaml:"rule_files"`
	Every     string         `yaml:"evaluation_interval"`
	Order     []string       `yaml:"group_eval_order"`
	Tests     []promtoolTest `yaml:"tests"`
}

type promtoolTest struct {
	Name   string           `yaml:"name"`
	Every  string           `yaml:"interval"`
	Series []promtoolSeries `yaml:"input_series"`
	Exprs  []promtoolExpr   `yaml:"promql_expr_test"`
}

type promtoolSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type promtoolExpr struct {
	Expr    string           `yaml:"expr"`
	At      string           `yaml:"eval_time"`
	Samples []promtoolSample `yaml:"exp_samples"`
}

type promtoolSample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// yaml renders the file. Cases of different alerts that tell the same story
// share one simulation.
func (f testFile) yaml(t *testing.T) []byte {
	t.Helper()
	out := promtoolFile{RuleFiles: []string{f.name + ".rules.yaml"}, Every: f.every, Order: []string{"tokprobe-targets"}}
	for _, g := range f.groups {
		out.Order = append(out.Order, "tokprobe-"+g)
	}
	place := map[string]int{}
	for _, c := range f.cases {
		if c.every == "" {
			c.every = f.every
		}
		key := c.kind + ": " + c.note + c.every
		i, ok := place[key]
		if !ok || out.Tests[i].clashes(c) {
			i = len(out.Tests)
			place[key] = i
			out.Tests = append(out.Tests, promtoolTest{Name: strings.TrimSuffix(c.alert+" "+c.kind+": "+c.note, ": "), Every: c.every})
		}
		out.Tests[i].add(c)
	}
	return encode(t, out)
}

// clashes tells whether the case has other samples for a series of the test.
func (p *promtoolTest) clashes(c ruleCase) bool {
	return slices.ContainsFunc(c.series, func(s string) bool {
		series, values, _ := strings.Cut(s, " => ")
		return slices.ContainsFunc(p.Series, func(x promtoolSeries) bool { return x.Series == series && x.Values != values })
	})
}

func (p *promtoolTest) add(c ruleCase) {
	for _, s := range c.series {
		series, values, _ := strings.Cut(s, " => ")
		if x := (promtoolSeries{series, values}); !slices.Contains(p.Series, x) {
			p.Series = append(p.Series, x)
		}
	}
	for _, k := range c.firing {
		more := ""
		if k.only != "" {
			more = "," + k.only
		}
		e := promtoolExpr{Expr: fmt.Sprintf("ALERTS{alertname=%q,alertstate=\"firing\"%s}", c.alert, more), At: k.at, Samples: []promtoolSample{}}
		for _, labels := range k.labels {
			e.Samples = append(e.Samples, promtoolSample{fmt.Sprintf("ALERTS{alertname=%q,alertstate=\"firing\",%s}", c.alert, labels), 1})
		}
		p.Exprs = append(p.Exprs, e)
	}
}

// rules are the groups that the file's cases are about.
func (f testFile) rules(t *testing.T) []byte {
	t.Helper()
	all, err := deploy.Rules(load(t, "prometheus/tests/config.yaml"), deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all.Comments = []string{"Part of the rules made from config.yaml: go test ./deploy -update"}
	all.Groups = slices.DeleteFunc(all.Groups, func(g deploy.Group) bool {
		name := strings.TrimPrefix(g.Name, "tokprobe-")
		return name != "targets" && !slices.Contains(f.groups, name)
	})
	data, err := all.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Made from the tables in deploy/*_test.go: go test ./deploy -update\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// promtools are the promtool binaries to be had: that of the machine, and one
// of Prometheus 3 if PROMTOOL3 names it or the build cache holds it.
func promtools(t *testing.T) []string {
	t.Helper()
	var list []string
	if path, err := exec.LookPath("promtool"); err == nil {
		list = append(list, path)
	}
	if path := promtool3(); path != "" && !slices.Contains(list, path) {
		list = append(list, path)
	}
	if len(list) == 0 {
		t.Skip("SKIPPED, NOTHING CHECKED: no promtool; install Debian's prometheus or set PROMTOOL3")
	}
	return list
}

func promtool3() string {
	if path := os.Getenv("PROMTOOL3"); path != "" {
		return path
	}
	if dir, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(dir, "tokprobe-tools", "bin", "promtool")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// TestRules runs every rule case through every promtool there is.
func TestRules(t *testing.T) {
	for _, f := range testFiles() {
		same(t, filepath.Join("prometheus", "tests", f.name+".rules.yaml"), f.rules(t))
		same(t, filepath.Join("prometheus", "tests", f.name+".test.yaml"), f.yaml(t))
	}
	if *update {
		return
	}
	if testing.Short() {
		t.Skip("SKIPPED: the rule cases take a minute of CPU and are left out with -short")
	}
	for _, tool := range promtools(t) {
		for _, f := range testFiles() {
			t.Run(filepath.Base(tool)+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				promtool(t, tool, "test", "rules", filepath.Join("prometheus", "tests", f.name+".test.yaml"))
			})
		}
		t.Run(filepath.Base(tool)+"/texts", func(t *testing.T) {
			promtool(t, tool, "test", "rules", filepath.Join("prometheus", "tests", "texts.test.yaml"))
		})
		t.Run(filepath.Base(tool)+"/check", func(t *testing.T) {
			out := promtool(t, tool, "check", "rules", "rules.yaml", "prometheus/tests/rules.yaml")
			if n := regexp.MustCompile(`SUCCESS: \d+ rules found`).FindAllString(out, -1); len(n) != 2 {
				t.Errorf("two good files expected:\n%s", out)
			}
		})
	}
}

func promtool(t *testing.T, tool string, args ...string) string {
	t.Helper()
	out, err := exec.Command(tool, args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// exempt says why an alert has no test of a kind.
func exempt(alert, kind string) string {
	gauges := []string{"HardDown", "TargetDown", "TTFTRegression", "TPOTRegression", "E2ERegression", "Stale", "ReloadFailed", "RulesOutdated",
		"Absent", "Down", "CanaryFailed", "SweepStale", "BudgetNearlySpent", "CertificateExpiring"}
	name := strings.TrimPrefix(alert, "Tokprobe")
	switch {
	case name == "Watchdog" && kind != fires:
		return "it always fires"
	case kind == reset && slices.Contains(gauges, name):
		return "it reads no counter that a reset could change"
	case kind == low && slices.Contains([]string{"Absent", "Down", "CanaryFailed", "ReloadFailed", "RulesOutdated", "BudgetNearlySpent", "CertificateExpiring", "Stale", "SweepStale"}, name):
		return "it counts nothing"
	}
	return ""
}

// TestEveryAlertIsTested: no alert without a test of each kind, and no test of
// an alert that does not exist.
func TestEveryAlertIsTested(t *testing.T) {
	have := map[string]bool{}
	for _, f := range testFiles() {
		for _, c := range f.cases {
			have[c.alert+" "+c.kind] = true
			if len(c.firing) == 0 {
				t.Errorf("%s, %s: checks nothing", c.alert, c.kind)
			}
		}
	}
	for _, name := range alertNames(t) {
		for _, kind := range []string{fires, noise, recovers, gap, reset, low} {
			why := exempt(name, kind)
			switch tested := have[name+" "+kind]; {
			case !tested && why == "":
				t.Errorf("%s has no test of kind %q", name, kind)
			case tested && why != "":
				t.Errorf("%s has a test of kind %q though %s", name, kind, why)
			}
			delete(have, name+" "+kind)
		}
	}
	for left := range have {
		t.Errorf("test of an alert that does not exist: %s", left)
	}
}

// alertNames are the names of all alerts there are.
func alertNames(t *testing.T) []string {
	t.Helper()
	f, err := deploy.Rules(load(t, "prometheus/tests/config.yaml"), deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, r := range f.Alerts() {
		set[r.Alert] = true
	}
	var names []string
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
