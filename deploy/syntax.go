package deploy

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"text/template"

	"tokprobe/exporter/catalog"
)

// checkGroups compares what was read back with what was meant, and looks at
// every expression and text for what would make Prometheus refuse the file or,
// worse, take it and never fire: a name that does not exist.
func checkGroups(want, got []Group) error {
	if !reflect.DeepEqual(want, got) {
		return errors.New("rules: the file reads back differently from what was meant")
	}
	recorded := map[string]bool{}
	for _, g := range want {
		for _, r := range g.Rules {
			recorded[r.Record] = true
		}
	}
	var errs []error
	seen := map[string]bool{}
	for _, g := range want {
		if seen[g.Name] {
			errs = append(errs, fmt.Errorf("rules: two groups are named %s", g.Name))
		}
		seen[g.Name] = true
		for _, r := range g.Rules {
			name := r.Record + r.Alert
			if err := checkExpr(r.Expr, recorded); err != nil {
				errs = append(errs, fmt.Errorf("rules: %s in group %s: %w", name, g.Name, err))
			}
			for _, texts := range []map[string]string{r.Labels, r.Annotations} {
				for key, text := range texts {
					if err := checkTemplate(text); err != nil {
						errs = append(errs, fmt.Errorf("rules: %s of %s: %w", key, name, err))
					}
				}
			}
		}
	}
	return errors.Join(errs...)
}

var (
	metricName = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_:]*`)
	stringText = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
)

// checkExpr is no parser: it finds strings that do not end, brackets that do
// not match, and names of ours that neither the catalogue nor a recording rule
// has. promtool, in the tests, does the rest.
func checkExpr(expr string, recorded map[string]bool) error {
	bare := stringText.ReplaceAllString(expr, "0")
	if strings.ContainsAny(bare, "\"'`\\") {
		return errors.New("a quote that does not end")
	}
	var open []rune
	closer := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for _, c := range bare {
		switch c {
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != closer[c] {
				return fmt.Errorf("a %q too many", c)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("a %q that is not closed", open[0])
	}
	for _, name := range metricName.FindAllString(bare, -1) {
		ours := strings.HasPrefix(name, catalog.Prefix) || strings.Contains(name, ":"+catalog.Prefix)
		if ours && !recorded[name] && !inCatalogue(name) {
			return fmt.Errorf("no metric %s", name)
		}
	}
	return nil
}

func inCatalogue(name string) bool {
	if _, ok := catalog.Lookup(name); ok {
		return true
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if base, cut := strings.CutSuffix(name, suffix); cut {
			if m, ok := catalog.Lookup(base); ok && m.Type == catalog.Histogram {
				return true
			}
		}
	}
	return false
}

// templateFuncs are those of Prometheus' templates that our texts use.
func templateFuncs() template.FuncMap {
	number := func(float64) string { return "" }
	return template.FuncMap{
		"humanize": number, "humanizePercentage": number, "humanizeDuration": number, "humanizeTimestamp": number,
		"query": func(string) []int { return nil }, "first": func([]int) int { return 0 }, "value": func(int) float64 { return 0 },
	}
}

// checkTemplate tells whether Prometheus could expand a label or annotation.
func checkTemplate(text string) error {
	t, err := template.New("").Funcs(templateFuncs()).Parse("{{$labels := .Labels}}{{$value := .Value}}" + text)
	if err != nil {
		return fmt.Errorf("%q does not parse: %w", text, err)
	}
	return t.Execute(io.Discard, struct {
		Labels map[string]string
		Value  float64
	}{map[string]string{}, 1})
}
