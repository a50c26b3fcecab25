package report

import (
	"fmt"
	"strconv"
	"strings"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// column is one column of the table of levels.
type column struct {
	group string // first line of the header; equal neighbours share it
	sub   string // second line: the unit or the quantile
	title string // both in one, for Markdown
	left  bool   // words, not numbers
	cell  func(capacity.Level) string
}

// columns of the table of levels. The throughput by which levels are judged is
// shown as steady; QPS, output and TPM are over wall time, ramp and drain
// included, as vllm counts them. An open loop has two columns more: the rate
// that was really sent and how late requests left.
func columns(m capacity.Mode) []column {
	unit, steadyUnit := "streams", "tok/s"
	if m == capacity.Rate {
		unit, steadyUnit = "req/s", "req/s"
	}
	cols := []column{
		{group: "load", title: "load (" + unit + ")", cell: func(l capacity.Level) string { return load(l.Load) }},
		{group: "ok", sub: "req", title: "ok", cell: func(l capacity.Level) string { return strconv.Itoa(l.Completed) }},
		{group: "fail", sub: "req", title: "failed", cell: func(l capacity.Level) string { return strconv.Itoa(l.Failed) }},
	}
	if m == capacity.Rate {
		cols = append(cols, column{group: "sent", sub: "req/s", title: "sent (req/s)",
			cell: func(l capacity.Level) string { return optNumber(l.AchievedRate) }})
	}
	cols = append(cols,
		column{group: "QPS", sub: "req/s", title: "QPS (req/s)", cell: func(l capacity.Level) string { return optNumber(l.RequestThroughput) }},
		column{group: "output", sub: "tok/s", title: "output (tok/s)", cell: func(l capacity.Level) string { return optNumber(l.OutputThroughput) }},
		column{group: "TPM", sub: "tok/min", title: "TPM (tok/min)", cell: func(l capacity.Level) string { return whole(l.TokensPerMinute) }},
		column{group: "steady", sub: steadyUnit, title: "steady (" + steadyUnit + ")", cell: func(l capacity.Level) string { return optNumber(l.JudgedThroughput()) }},
	)
	if m == capacity.Rate {
		late := latency("late", capacity.SendDelay, 1, "p95")
		late.group, late.sub = "late", "P95 ms" // narrower than its title
		cols = append(cols, late)
	}
	cols = append(cols, latency("TTFT", capacity.TTFT, 1, "p50"), latency("TTFT", capacity.TTFT, 1, "p90"),
		latency("TTFT", capacity.TTFT, 1, "p95"), latency("TTFT", capacity.TTFT, 1, "p99"),
		latency("TPOT", capacity.TPOT, 1, "p50"), latency("TPOT", capacity.TPOT, 1, "p95"),
		latency("E2E", capacity.E2E, 1000, "p50"), latency("E2E", capacity.E2E, 1000, "p95"))
	return append(cols,
		column{group: "SLO", sub: "met", title: "SLO met", cell: func(l capacity.Level) string { return optHeld(l.Attainment) }},
		column{group: "state", title: "state", left: true, cell: stateCell},
		column{group: "flags", title: "flags", left: true, cell: func(l capacity.Level) string { return strings.Join(flags(l), " ") }})
}

// caption says what the columns mean that a reader could take for another.
func caption(m capacity.Mode) string {
	const wall = "QPS, output and TPM are over wall time, ramp and drain included."
	if m == capacity.Rate {
		return "Levels are judged by steady throughput: from the end of the first answer to the last arrival. Latencies count from the intended " +
			"send time, so a backlog shows; late is the send delay in them. " + wall
	}
	return "Levels are judged by steady throughput: from all streams in flight to the last request handed out. " + wall
}

// latency is a column of one statistic in milliseconds (per 1) or seconds (per
// 1000).
func latency(name string, m capacity.Metric, per float64, stat string) column {
	unit, q := "ms", strings.ToUpper(stat)
	if per == 1000 {
		unit = "s"
	}
	return column{group: name + " " + unit, sub: q, title: name + " " + q + " (" + unit + ")", cell: func(l capacity.Level) string {
		v := l.Stats[m].At(stat)
		return optNumber(probe.Opt[float64]{V: v.V / per, OK: v.OK})
	}}
}

func stateCell(l capacity.Level) string {
	if l.State == "" {
		return absent
	}
	return short(string(l.State), len(capacity.NearSaturation))
}

// flags are the words for what limits the worth of a level; the notes below the
// table explain each.
func flags(l capacity.Level) []string {
	var words []string
	for _, f := range []struct {
		on   bool
		word string
	}{
		{!l.Trusted, "untrusted"}, {l.TooShort, "short"}, {l.FewRequests, "few"}, {l.EndedEarly, "early"},
		{l.InFlightCapped, "capped"}, {l.CacheSuspect > 0, "cached"}, {l.Coalesced > 0, "coalesced"}, {l.Cut > 0, "cut"},
	} {
		if f.on {
			words = append(words, f.word)
		}
	}
	if l.Repeats > 1 {
		words = append(words, fmt.Sprintf("%dx", l.Repeats))
	}
	return words
}
