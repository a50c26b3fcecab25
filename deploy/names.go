package deploy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"tokprobe/probe/roster"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// plainText is text that may stand in a label, a comment, a PromQL string and a
// template: one line, printable, no template braces. Quotes and Unicode are
// fine, they are quoted where they stand.
func plainText(s string) bool {
	return utf8.ValidString(s) && !strings.Contains(s, "{{") && !strings.Contains(s, "}}") &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkNames refuses a roster whose names would break a rule, a text or a
// comment. configs refuses most of these long before; a roster built by hand
// has only this.
func checkNames(r roster.Roster) error {
	var errs []error
	name := func(what, s string) {
		if s == "" || !plainText(s) || len(s) > 200 {
			errs = append(errs, fmt.Errorf("%s %q: write one line of at most 200 printable bytes without {{ and }}", what, s))
		}
	}
	slos, targets := map[string]bool{}, map[string]bool{}
	for _, s := range r.SLOs {
		name("name of SLO", s.Name)
		if slos[s.Name] {
			errs = append(errs, fmt.Errorf("two SLOs have the name %q; rename one", s.Name))
		}
		slos[s.Name] = true
	}
	for _, t := range r.Targets {
		name("name of target", t.Name)
		if targets[t.Name] {
			errs = append(errs, fmt.Errorf("two targets have the name %q; rename one", t.Name))
		}
		targets[t.Name] = true
		errs = append(errs, checkTargetLabels(t)...)
		if err := checkSelector(t.ServerMetrics.Selector); err != nil {
			errs = append(errs, fmt.Errorf("server_metrics.selector of target %q: %w", t.Name, err))
		}
	}
	for _, w := range r.Watches {
		name("target of a probe", w.ID.Target)
		name("model of a probe", w.ID.Model)
		name("name of probe", w.ID.Probe)
		for _, s := range w.SLOs {
			if !slos[s.Name] {
				errs = append(errs, fmt.Errorf("probe %q is held to SLO %q, which the roster does not list", w.ID.Probe, s.Name))
			}
		}
	}
	for _, s := range r.Sweeps {
		name("name of sweep", s.Name)
		name("target of sweep "+s.Name, s.Target)
		name("model of sweep "+s.Name, s.Model)
	}
	return errors.Join(errs...)
}

func checkTargetLabels(t roster.Target) []error {
	var errs []error
	for key, value := range t.Labels {
		switch {
		case !labelName.MatchString(key) || strings.HasPrefix(key, "__"):
			errs = append(errs, fmt.Errorf("label %q of target %q: write letters, digits and _ and do not begin with a digit or __", key, t.Name))
		case ownLabels[key]:
			errs = append(errs, fmt.Errorf("label %q of target %q: the rules set it; choose another name", key, t.Name))
		case !plainText(value):
			errs = append(errs, fmt.Errorf("label %s of target %q: %q is not one line of printable text without {{ and }}", key, t.Name, value))
		}
	}
	return errs
}

// ownLabels are those that metrics and alerts already have.
var ownLabels = map[string]bool{
	"alertname": true, "severity": true, "location": true, "instance": true, "job": true, "target": true, "model": true, "probe": true,
	"sweep": true, "scenario": true, "mode": true, "level": true, "slo": true, "sli": true, "long": true, "short": true,
	"outcome": true, "reason": true, "kind": true, "canary": true, "quantile": true,
}

var matcherList = regexp.MustCompile(`^\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"\s*(,\s*[a-zA-Z_][a-zA-Z0-9_]*\s*(=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"\s*)*,?\s*$`)

// checkSelector takes the inside of a PromQL selector: job="vllm",zone="a".
func checkSelector(s string) error {
	if s == "" || matcherList.MatchString(s) && plainText(s) {
		return nil
	}
	return fmt.Errorf(`%q is no list of matchers; write job="vllm" or job="vllm",zone="a"`, s)
}
