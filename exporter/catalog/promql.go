package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Matcher is one condition of a selector. Value is taken literally but for
// =~ and !~, where it is a regular expression.
type Matcher struct {
	Label, Op, Value string
}

// Eq matches a label's exact value.
func Eq(label, value string) Matcher { return Matcher{label, "=", value} }

// Ne matches every other value.
func Ne(label, value string) Matcher { return Matcher{label, "!=", value} }

// Re matches a regular expression, anchored at both ends as PromQL does.
func Re(label, expr string) Matcher { return Matcher{label, "=~", expr} }

// NotRe matches what Re does not.
func NotRe(label, expr string) Matcher { return Matcher{label, "!~", expr} }

// In matches any of the values, each taken literally.
func In(label string, values ...string) Matcher {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = QuoteRegexp(v)
	}
	return Re(label, strings.Join(quoted, "|"))
}

// scrapeLabels come from the scrape and may be matched on any metric.
var scrapeLabels = []string{"job", "instance", "location"}

// Sel builds a selector: name{label="value",…}. The name is one of the
// catalogue's, for histograms also with _bucket, _sum or _count; a name or
// label the catalogue does not have is a mistake of the generator and panics.
func Sel(name string, matchers ...Matcher) string {
	labels := labelsOf(name)
	parts := make([]string, 0, len(matchers))
	for _, m := range matchers {
		if !slices.Contains(labels, m.Label) && !slices.Contains(scrapeLabels, m.Label) && name != TargetInfo {
			panic(fmt.Sprintf("catalog: %s has no label %q", name, m.Label))
		}
		parts = append(parts, m.Label+m.Op+Quote(m.Value))
	}
	if len(parts) == 0 {
		return name
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

func labelsOf(name string) []string {
	if m, ok := Lookup(name); ok {
		return m.Labels
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		base, cut := strings.CutSuffix(name, suffix)
		if !cut {
			continue
		}
		if m, ok := Lookup(base); ok && m.Type == Histogram {
			return append(slices.Clone(m.Labels), LabelLe)
		}
	}
	panic(fmt.Sprintf("catalog: no metric %q", name))
}

// Quote returns s as a PromQL string.
func Quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	return `"` + r.Replace(s) + `"`
}

// QuoteRegexp escapes the special characters of RE2 in s.
func QuoteRegexp(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Rate returns rate(selector[window]).
func Rate(selector, window string) string { return "rate(" + selector + "[" + window + "])" }

// Increase returns increase(selector[window]).
func Increase(selector, window string) string { return "increase(" + selector + "[" + window + "])" }

// Sum returns sum by (labels) (expr), or sum(expr) without labels.
func Sum(expr string, by ...string) string { return aggregate("sum", expr, by) }

// Max returns max by (labels) (expr), or max(expr) without labels.
func Max(expr string, by ...string) string { return aggregate("max", expr, by) }

// Min returns min by (labels) (expr), or min(expr) without labels.
func Min(expr string, by ...string) string { return aggregate("min", expr, by) }

func aggregate(op, expr string, by []string) string {
	if len(by) == 0 {
		return op + "(" + expr + ")"
	}
	return op + " by (" + strings.Join(by, ", ") + ") (" + expr + ")"
}

// Quantile returns histogram_quantile over classic buckets. selector must be
// of the _bucket name; by are the labels to keep beside le.
func Quantile(q float64, selector, window string, by ...string) string {
	return fmt.Sprintf("histogram_quantile(%s, %s)", Number(q),
		Sum(Rate(selector, window), append([]string{LabelLe}, by...)...))
}

// Bound returns a bucket bound as it stands in label le.
func Bound(seconds float64) string { return Number(seconds) }

// Number returns the shortest decimal of v: 8, 0.5, 14.4.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Range returns a duration as PromQL spells it: 5m, 1h, 3d, 90s. Parts of a
// second are given in milliseconds.
func Range(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for _, u := range units {
		if d >= u.size && d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
