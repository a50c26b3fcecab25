package configs

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isControl(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// name reads the name of a target, prompt, probe, sweep or SLO. Names become
// label values, file names and parts of rule names, so they are plain: 1 to 63
// of A–Z a–z 0–9 _ . -, the first a letter or digit.
func (n node) name() item {
	s := n.text()
	if n.y.Kind == yamlScalar && n.y.Tag != "!!null" && !plainName(s) {
		n.bad(quote(s), "is no name; write 1 to 63 of the characters A-Z a-z 0-9 _ . - and begin with a letter or digit")
	}
	return item{s, n}
}

func plainName(s string) bool {
	if len(s) == 0 || len(s) > 63 {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '_' && r != '.' && r != '-') {
			return false
		}
	}
	return true
}

// model reads a model id. The endpoint chooses those, so they are free, but fit
// to stand in a label, a rule and a table.
func (n node) model() item {
	s := n.text()
	switch {
	case n.y.Kind != yamlScalar || n.y.Tag == "!!null":
	case s == "":
		n.bad(`""`, "is empty; write the id as GET /v1/models lists it")
	case len(s) > 200:
		n.bad(quote(s), "is longer than 200 bytes; write the id as GET /v1/models lists it")
	case s != strings.TrimSpace(s):
		n.bad(quote(s), "begins or ends with a blank; write the id as GET /v1/models lists it")
	case !printable(s) || strings.ContainsAny(s, "\"'`\\") || strings.Contains(s, "{{"):
		n.bad(quote(s), "holds quotes, backslashes, {{ or unprintable characters; write the id as GET /v1/models lists it")
	}
	return item{s, n}
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// reserved are the labels that tokprobe, its rules or Prometheus set.
var reserved = []string{
	"target", "model", "probe", "sweep", "slo", "sli", "verdict", "outcome", "reason", "limit", "quantile", "le", "type", "kind",
	"level", "mode", "scenario", "phase", "currency", "severity", "alertname", "alertstate", "job", "instance", "location", "long", "short", "provider", "protocol",
}

// labels reads the labels of a target, which go to target_info and the alerts.
func (n node) labels() map[string]string {
	m := map[string]string{}
	n.entries(func(key string, value node) {
		v := value.text()
		switch {
		case !labelName.MatchString(key) || strings.HasPrefix(key, "__") || len(key) > 63:
			value.bad(quote(key), "is no label name; write letters, digits and _ and do not begin with a digit or __")
		case slices.Contains(reserved, key):
			value.bad("", "is a label that tokprobe or Prometheus sets; choose another name")
		case !printable(v) || strings.Contains(v, "{{") || len(v) > 128:
			value.bad(quote(v), "holds {{ or unprintable characters or is longer than 128 bytes; write plain text")
		default:
			m[key] = v
		}
	})
	if len(m) > 16 {
		n.bad("", "has %d labels; keep at most 16", len(m))
	}
	return m
}

// unique records a problem for every name that came before.
func unique(what string, names []item) {
	seen := map[string]item{}
	for _, it := range names {
		if first, ok := seen[it.text]; ok && it.text != "" {
			it.at.bad(quote(it.text), "two %s have this name, the other is %s; rename one", what, strings.TrimSuffix(first.at.path, ".name"))
			continue
		}
		seen[it.text] = it
	}
}

// glob matches * (any run of characters, also /) and ? (one character). Model
// ids hold slashes, hence not path.Match.
func glob(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
