package dashboards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	c "tokprobe/exporter/catalog"
)

// Variables as they stand in queries. Those that allow several values are
// matched as regular expressions, the single ones literally.
const (
	window = "$window"
	period = "${period}s" // its values are seconds, so that they can be calculated with
)

// location is the external label of places that watch the same targets; with
// one place there is none, which is the same as an empty one.
const location = "location"

// labels that tell one series of a probe, of an SLO and of a sweep from others.
var (
	byModel = []string{c.LabelTarget, c.LabelModel}
	byProbe = []string{c.LabelTarget, c.LabelModel, c.LabelProbe}
	bySLO   = []string{location, c.LabelTarget, c.LabelModel, c.LabelProbe, c.LabelSLO, c.LabelSLI}
	bySweep = []string{c.LabelTarget, c.LabelModel, c.LabelSweep, c.LabelScenario, c.LabelMode}
	byLevel = append(slices.Clone(bySweep), c.LabelLevel)
)

// sel selects a metric for what the board's variables choose.
type sel func(name string, more ...c.Matcher) string

// many is the selection of boards on which all variables allow several values.
func many(name string, more ...c.Matcher) string {
	return c.Sel(name, append(chosen(name, c.Re), more...)...)
}

// one is the selection of the target board: one target, one model, its probes.
func one(name string, more ...c.Matcher) string {
	return c.Sel(name, append(chosen(name, c.Eq), more...)...)
}

// chosen are the matchers of the variables for the labels the metric has.
func chosen(name string, match func(label, value string) c.Matcher) []c.Matcher {
	m, ok := c.Lookup(name)
	if !ok {
		m = c.MustLookup(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count"))
	}
	var list []c.Matcher
	for _, l := range []string{c.LabelTarget, c.LabelModel} {
		if m.HasLabel(l) {
			list = append(list, match(l, "$"+l))
		}
	}
	for _, l := range []string{c.LabelProbe, c.LabelSweep} {
		if m.HasLabel(l) {
			list = append(list, c.Re(l, "$"+l))
		}
	}
	return list
}

// share returns part / whole where whole is above 0.
func share(part, whole string) string { return part + " / (" + whole + " > 0)" }

// orZero puts a 0 where the expression has no series at all. Only for sums and
// counts, where nothing and 0 are the same.
func orZero(expr string) string { return expr + " or vector(0)" }

// badRatio is the share of bad verdicts as the alerts count it: of all
// verdicts, but at least half of those expected in that time, so that a gap
// does not inflate it. span is the range, seconds its length. Both sides are
// multiplied by the interval: in 1 h at 30 s, 4 bad of 10 verdicts are
// 120 / max(300, 1800) = 6.7 %, not 40 %.
func badRatio(span, seconds string) string {
	times := " * on (location, target, model, probe) group_left () " +
		c.Max(many(c.Interval), append([]string{location}, byProbe...)...)
	count := func(verdicts c.Matcher) string {
		return c.Sum(c.Increase(many(c.SLOEvents, verdicts), span), bySLO...) + times
	}
	return fmt.Sprintf("(%s) / clamp_min(%s, 0.5 * %s)",
		count(c.Eq(c.LabelVerdict, "bad")), count(c.Ne(c.LabelVerdict, "excluded")), seconds)
}

// allowed is the share of bad verdicts that the objective allows.
func allowed() string { return "(1 - " + c.Min(many(c.SLOObjective), bySLO...) + ")" }

// burn is how many times faster than allowed bad verdicts came: at 1 the
// budget lasts exactly its period, at 14.4 a budget of 30 days is gone in 2.
func burn(span time.Duration) string {
	return badRatio(c.Range(span), c.Number(span.Seconds())) + " / " + allowed()
}

// budgetLeft is the part of the error budget of the chosen period that is left.
func budgetLeft() string { return "1 - " + badRatio(period, "$period") + " / " + allowed() }

// quantile is a quantile from the histogram of name over the span.
func quantile(q float64, s sel, name, span string, by ...string) string {
	classic := c.Quantile(q, s(name+"_bucket"), span, by...)
	native := fmt.Sprintf("histogram_quantile(%s, %s)", c.Number(q), c.Sum(c.Rate(s(name), span), by...))
	return either(classic, native)
}

// samples is how many values the histogram of name took in over the span.
func samples(s sel, name, span string) string {
	return either(c.Sum(c.Increase(s(name+"_count"), span)), "histogram_count("+c.Sum(c.Increase(s(name), span))+")")
}

// mean is the mean of what the histogram of name took in over the span.
func mean(s sel, name, span string) string {
	native := c.Sum(c.Rate(s(name), span))
	return either(share(c.Sum(c.Rate(s(name+"_sum"), span)), c.Sum(c.Rate(s(name+"_count"), span))),
		share("histogram_sum("+native+")", "histogram_count("+native+")"))
}

// either is the classic expression or, with the switch on, the native one. A
// Prometheus that ingests native histograms may hold no _bucket, _sum and
// _count of them at all.
func either(classic, native string) string {
	return switched(classic, "0") + " or " + switched(native, "1")
}

// switched keeps expr while the native-histogram variable has that value.
func switched(expr, value string) string {
	return "(" + expr + " and on () (vector($native) == " + value + "))"
}

// since is the age in seconds of a timestamp metric.
func since(expr string) string { return "time() - " + expr }

var metricName = regexp.MustCompile(`\b(tokprobe_[a-z0-9_]+|vllm:[a-z_]+|process_[a-z_]+|go_[a-z_]+)\b`)

// metricsOf lists the metrics of the queries, each once, histograms without
// the suffix of their series.
func metricsOf(queries []query) []string {
	var names []string
	for _, q := range queries {
		for _, name := range metricName.FindAllString(q.expr, -1) {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base := strings.TrimSuffix(name, suffix)
				if m, ok := c.Lookup(base); ok && m.Type == c.Histogram || strings.HasPrefix(name, "vllm:") {
					name = base
				}
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
