package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"tokprobe/probe/capacity"
)

// comparisonTitles head the table of what moved.
func comparisonTitles() ([]string, []bool) {
	return []string{"load", "metric", "unit", "baseline", "new", "change", "95% interval", "noise", "broken gates"},
		[]bool{false, true, true, false, false, false, false, true, true}
}

// moved are the rows to show: those beyond noise, those that broke a gate, and
// those whose noise nobody can tell (reports without samples, the knee) if they
// changed at all.
func moved(c capacity.Comparison) []capacity.Row {
	var rows []capacity.Row
	for _, r := range c.Rows {
		changed := r.Base != r.New
		if r.Noise == capacity.BeyondNoise || len(r.FailedBy) > 0 || r.Noise == capacity.UnknownNoise && changed {
			rows = append(rows, r)
		}
	}
	return rows
}

func comparisonCells(r capacity.Row) []string {
	unit, share := unitOf(r.Metric)
	value := optNumber
	switch {
	case share:
		value = optPercent
	case unit == "load":
		value = optLoad
	}
	change, interval := absent, absent
	switch {
	case share && r.Base.OK && r.New.OK:
		change = points(r.New.V - r.Base.V)
	case r.Change.OK:
		change = signedPercent(r.Change.V)
	}
	if r.Interval != nil && share {
		interval = points(r.Interval.Low) + " … " + points(r.Interval.High)
	} else if r.Interval != nil {
		interval = signedPercent(r.Interval.Low) + " … " + signedPercent(r.Interval.High)
	}
	at := "all"
	if v, ok := r.Load.Get(); ok {
		at = load(v)
	}
	gates := absent
	if len(r.FailedBy) > 0 {
		gates = clean(strings.Join(r.FailedBy, ", "))
	}
	return []string{at, clean(r.Metric), unit, value(r.Base), value(r.New), change, interval, clean(string(r.Noise)), gates}
}

// unitOf is the unit of a metric by its name; shares are compared by their
// difference.
func unitOf(metric string) (unit string, share bool) {
	switch metric {
	case "error_ratio", "attainment":
		return "share", true
	case "output_tps":
		return "tok/s", false
	case "request_tps":
		return "req/s", false
	case "knee":
		return "load", false
	}
	return "ms", false
}

func signedPercent(v float64) string { return fmt.Sprintf("%+.1f%%", 100*v) }

// points prints a difference of shares: +2.5 pp is from 1 % to 3.5 %.
func points(v float64) string { return fmt.Sprintf("%+.1f pp", 100*v) }

// comparisonLines are the sentences below the table.
func comparisonLines(c capacity.Comparison, shown int) []line {
	var out []line
	for _, s := range c.Failures {
		out = append(out, line{"gate", clean(s), true})
	}
	for _, s := range c.Warnings {
		out = append(out, line{"warning", clean(s), true})
	}
	if slices.ContainsFunc(moved(c), func(r capacity.Row) bool { return r.Noise == capacity.UnknownNoise && r.Load.OK }) {
		out = append(out, line{label: "noise", text: "unknown: the number changed, but the reports cannot tell whether by chance " +
			"(they hold no single requests, or it is the throughput of an open loop)"})
	}
	if rest := len(c.Rows) - shown; rest > 0 {
		out = append(out, line{label: "unmoved", text: fmt.Sprintf("%d of %d numbers stayed within noise or did not change", rest, len(c.Rows))})
	}
	verdict := line{label: "verdict", text: "no gate is broken"}
	if c.Failed() {
		verdict = line{"verdict", fmt.Sprintf("failed: %d broken", len(c.Failures)), true}
	}
	return append(out, verdict)
}

func comparisonText(b *bytes.Buffer, c capacity.Comparison) {
	rows := moved(c)
	if len(rows) == 0 {
		b.WriteString("Nothing moved beyond noise against the baseline.\n\n")
	} else {
		b.WriteString("What moved against the baseline\n\n")
		titles, left := comparisonTitles()
		cols := make([]column, len(titles))
		widths := make([]int, len(titles))
		for i := range titles {
			cols[i], widths[i] = column{left: left[i]}, len(titles[i])
		}
		table := [][]string{titles}
		for _, r := range rows {
			table = append(table, comparisonCells(r))
		}
		for _, row := range table[1:] {
			for i, s := range row {
				widths[i] = max(widths[i], len([]rune(s)))
			}
		}
		for _, row := range table {
			textRow(b, cols, row, widths, "  ")
		}
		b.WriteByte('\n')
	}
	labelled(b, comparisonLines(c, len(rows)))
}

func comparisonMarkdown(b *bytes.Buffer, c capacity.Comparison) {
	rows := moved(c)
	b.WriteString("## Against the baseline\n\n")
	if len(rows) == 0 {
		b.WriteString("Nothing moved beyond noise.\n")
	} else {
		titles, left := comparisonTitles()
		markdownHead(b, titles, left)
		for _, r := range rows {
			markdownRow(b, comparisonCells(r))
		}
	}
	b.WriteByte('\n')
	markdownLines(b, comparisonLines(c, len(rows)))
}
