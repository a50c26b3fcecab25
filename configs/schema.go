package configs

import (
	"regexp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"tokprobe/probe/roster"
)

const (
	day        = 24 * time.Hour
	longest    = 366 * day
	minEvery   = 100 * time.Millisecond
	maxLimit   = 24 * time.Hour
	maxTokens  = 10_000_000
	tokenRange = 1_000_000_000_000_000
)

// file is a configuration as it stands in the file: checked one by one, not
// yet against each other.
type file struct {
	targets   []*target
	prompts   []*prompt
	probes    []*schedule
	sweeps    []*sweep
	slos      []*promise
	hasProbes bool
	canary    Canary
	history   History
	state     string
	kill      string
}

func (f *file) read(n node) {
	n.object(keys{
		"targets":          func(n node) { n.list(false, f.readTarget) },
		"prompts":          func(n node) { n.list(true, f.readPrompt) },
		"probes":           func(n node) { f.hasProbes = true; n.list(true, f.readProbe) },
		"sweeps":           func(n node) { n.list(true, f.readSweep) },
		"slos":             func(n node) { n.list(true, f.readSLO) },
		"canary":           f.readCanary,
		"history":          f.readHistory,
		"state_file":       func(n node) { f.state = n.line() },
		"kill_switch_file": func(n node) { f.kill = n.line() },
	}, "targets")
}

func (f *file) readCanary(n node) {
	n.object(keys{"url": func(n node) { f.canary.URL = n.pageURL() }}, "url")
}

func (f *file) readHistory(n node) {
	n.object(keys{
		"results":  func(n node) { f.history.Results = int(n.integer(1, 100_000)) },
		"failures": func(n node) { f.history.Failures = int(n.integer(1, 100_000)) },
	})
}

// target is one element of targets.
type target struct {
	name        item
	provider    item
	protocol    string
	baseURL     string
	baseAt      *node
	models      []item
	labels      map[string]string
	budget      roster.Budget
	price       *roster.Price
	params      map[string]any
	reuse       bool
	http2       bool
	health      string
	healthSet   bool
	metrics     roster.ServerMetrics
	maintenance []roster.Window
	auth        auth
	at          node
}

func (f *file) readTarget(n node) {
	t := &target{at: n}
	schema := keys{
		"name":     func(n node) { t.name = n.name() },
		"provider": func(n node) { t.provider = item{n.oneOf(providers()...), n} },
		"protocol": func(n node) { t.protocol = n.oneOf(protocols()...) },
		"base_url": func(n node) { t.baseURL, t.baseAt = n.baseURL(), &n },
		"models":   func(n node) { n.list(false, func(n node) { t.models = append(t.models, n.model()) }) },
		"labels":   func(n node) { t.labels = n.labels() },
		"budget":   t.readBudget,
		"price":    t.readPrice,
		"params":   func(n node) { t.params = n.params() },
		"connection": func(n node) {
			t.reuse = n.oneOf("fresh", "reuse") == "reuse"
		},
		"http2":            func(n node) { t.http2 = n.boolean() },
		"health_url":       t.readHealth,
		"server_metrics":   t.readMetrics,
		"maintenance":      func(n node) { n.list(true, t.readWindow) },
		"follow_redirects": readRedirects,
	}
	t.auth.schema(schema)
	if n.object(schema, "name", "provider", "models") {
		unique("models of this target", t.models)
		f.targets = append(f.targets, t)
	}
}

func readRedirects(n node) {
	if n.boolean() {
		n.bad("true", "a redirect would carry the key to another host, so none is ever followed; remove the key and write the final base_url")
	}
}

func (t *target) readHealth(n node) {
	t.healthSet = true
	if n.y.Kind == yaml.ScalarNode && n.y.Value == "none" {
		n.show("none")
		return
	}
	t.health = n.pageURL()
}

func (t *target) readBudget(n node) {
	n.object(keys{
		"probe_tokens_per_day": func(n node) { t.budget.ProbeTokensPerDay = n.integer(1, tokenRange) },
		"sweep_tokens_per_day": func(n node) { t.budget.SweepTokensPerDay = n.integer(1, tokenRange) },
		"hard":                 func(n node) { t.budget.Hard = n.boolean() },
	})
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

func (t *target) readPrice(n node) {
	p := &roster.Price{}
	const want = "the money for a million tokens, 0 or more"
	ok := n.object(keys{
		"currency": func(n node) {
			if p.Currency = n.text(); !currency.MatchString(p.Currency) {
				n.bad(quote(p.Currency), "is no currency; write three capital letters such as USD, EUR or CNY")
			}
		},
		"input":  func(n node) { p.Input = n.number(0, want) },
		"output": func(n node) { p.Output = n.number(0, want) },
		"cached": func(n node) { v := n.number(0, want); p.Cached = &v },
	}, "currency", "input", "output")
	if ok {
		t.price = p
	}
}

// selector is a list of label matchers, as between the braces of a query.
var selector = regexp.MustCompile(`^\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(=|!=|=~|!~)\s*"([^"\\]|\\.)*"(\s*,\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(=|!=|=~|!~)\s*"([^"\\]|\\.)*")*\s*$`)

func (t *target) readMetrics(n node) {
	n.object(keys{
		"url": func(n node) { t.metrics.URL = n.pageURL() },
		"selector": func(n node) {
			t.metrics.Selector = n.text()
			if !selector.MatchString(t.metrics.Selector) || !printable(t.metrics.Selector) || strings.Contains(t.metrics.Selector, "{{") {
				n.bad(quote(t.metrics.Selector), `is no label selector; write matchers without braces: 'job="vllm"'`)
			}
		},
	})
}

func (t *target) readWindow(n node) {
	var win roster.Window
	var at node
	ok := n.object(keys{
		"cron":     func(n node) { win.Cron, at = n.line(), n },
		"duration": func(n node) { win.Duration = n.duration(time.Minute, 31*day) },
		"timezone": func(n node) { win.Zone = n.zone() },
		"probes": func(n node) {
			win.TagOnly = n.oneOf("stop", "tag") == "tag"
		},
	}, "cron", "duration")
	if ok && checkCron(at, win.Cron, win.Zone) {
		t.maintenance = append(t.maintenance, win)
	}
}

func (n node) zone() string {
	z := n.line()
	if _, err := roster.ParseZone(z); err != nil && z != "" {
		n.bad(quote(z), "%v", err)
		return ""
	}
	return z
}

func checkCron(at node, expr, zone string) bool {
	if expr == "" {
		return false
	}
	if _, err := roster.ParseCron(expr, zone); err != nil {
		at.bad(quote(expr), "%v", err)
		return false
	}
	return true
}
