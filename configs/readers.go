package configs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// secret reads a scalar that is never shown, not even in a message.
func (n node) secret() string {
	if !n.is(yaml.ScalarNode, "a text") {
		return ""
	}
	return n.y.Value
}

// text reads any scalar as the text that stands there, and shows it.
func (n node) text() string {
	if !n.is(yaml.ScalarNode, "a text") {
		return ""
	}
	n.show(n.y.Value)
	return n.y.Value
}

// line reads a text of one line that is not empty.
func (n node) line() string {
	s := n.text()
	if n.y.Kind == yaml.ScalarNode && n.y.Tag != "!!null" && strings.TrimSpace(s) == "" {
		n.bad(quote(s), "is blank; write a value or remove the key")
	} else if strings.ContainsFunc(s, isControl) {
		n.bad(quote(s), "holds control characters; write one plain line")
	}
	return s
}

func (n node) show(s string) { n.w.shown[n.y] = s }

// oneOf reads one word of a closed list.
func (n node) oneOf(words ...string) string {
	s := n.text()
	if s == "" && n.y.Kind != yaml.ScalarNode || n.y.Tag == "!!null" || slices.Contains(words, s) {
		return s
	}
	mend := "write " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	if near := nearest(s, words); near != "" {
		mend = "write " + near + "? Known: " + strings.Join(words, ", ")
	}
	n.bad(quote(s), "%s", mend)
	return ""
}

// integer reads a whole number within [low, high].
func (n node) integer(low, high int64) int64 {
	if !n.is(yaml.ScalarNode, "a whole number") {
		return 0
	}
	n.show(n.y.Value)
	v, err := strconv.ParseInt(strings.ReplaceAll(n.y.Value, "_", ""), 10, 64)
	if err != nil {
		n.bad(quote(n.y.Value), "is no whole number; write digits only")
		return 0
	}
	if v < low || v > high {
		n.bad(n.y.Value, "is out of range; write %d to %d", low, high)
		return 0
	}
	return v
}

// number reads a finite number that is at least low.
func (n node) number(low float64, want string) float64 {
	if !n.is(yaml.ScalarNode, want) {
		return 0
	}
	n.show(n.y.Value)
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.y.Value, "_", ""), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < low || v > 1e15 {
		n.bad(quote(n.y.Value), "write %s", want)
		return 0
	}
	return v
}

// boolean reads true or false.
func (n node) boolean() bool {
	if !n.is(yaml.ScalarNode, "true or false") {
		return false
	}
	n.show(n.y.Value)
	switch n.y.Value {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	n.bad(quote(n.y.Value), "write true or false")
	return false
}

// duration reads a duration within [low, high].
func (n node) duration(low, high time.Duration) time.Duration {
	if !n.is(yaml.ScalarNode, "a duration such as 30s") {
		return 0
	}
	n.show(n.y.Value)
	d, err := ParseDuration(n.y.Value)
	if err != nil {
		n.bad(quote(n.y.Value), "%v", err)
		return 0
	}
	if d < low || d > high {
		n.bad(n.y.Value, "is out of range; write %s to %s", FormatDuration(low), FormatDuration(high))
		return 0
	}
	return d
}

// ratio reads 99.5% or 0.995.
func (n node) ratio() float64 {
	if !n.is(yaml.ScalarNode, "a ratio such as 99.5%") {
		return 0
	}
	n.show(n.y.Value)
	r, err := ParseRatio(n.y.Value)
	if err != nil {
		n.bad(quote(n.y.Value), "%v", err)
	}
	return r
}

// words reads one text or a list of texts.
func (n node) words() []item {
	var items []item
	one := func(m node) {
		if s := m.line(); s != "" {
			items = append(items, item{s, m})
		}
	}
	if n.y.Kind == yaml.ScalarNode && n.y.Tag != "!!null" {
		one(n)
	} else {
		n.list(false, one)
	}
	return items
}

// item is a text with its place, for checks that come after the walk.
type item struct {
	text string
	at   node
}
