package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	c "tokprobe/exporter/catalog"
)

// latency is one of the four times a user feels.
type latency struct {
	sli, title, about string
	last              string // metric of single measurements; empty if there is none
	histogram         string
}

func latencies() []latency {
	return []latency{
		{"ttft", "TTFT", "Time to first token: from the ready connection to the first piece of reasoning, text or tool call.", c.LastTTFT, c.TTFT},
		{"first_content", "First content", "Time to the first visible text; later than TTFT where the model thinks first. The dots are of TTFT, for comparison.", c.LastTTFT, c.FirstContent},
		{"tpot", "TPOT", "Time per output token after the first. Absent for streams that a proxy buffered.", c.LastTPOT, c.TPOT},
		{"e2e", "E2E", "Time to the end of the answer.", c.LastE2E, c.E2E},
	}
}

// few stands where a quantile has too few samples to be shown.
const few = "under 59 samples"

func targetLatency(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("What users feel")).WithPanel(quantileTable())
	for _, l := range latencies() {
		b.WithPanel(l.panel())
	}
}

// quantileTable shows each quantile beside the samples it is computed from.
func quantileTable() panelBuilder {
	by := []string{c.LabelProbe, c.LabelSLI}
	at := func(q string) string { return c.Max(one(c.Window, c.Eq(c.LabelQuantile, q)), by...) }
	return grid(panel{title: "Exact quantiles with their sample counts", w: 24, h: 7, none: "none set",
		about: "Quantiles over the last 120 ok probes of at most 2 h, absent under 59 samples: fewer do not even contain a P95. Threshold is the strictest of the probe's SLOs."},
		by, []column{
			{title: "P50", unit: "s", none: few, expr: at("0.5")},
			{title: "P95", unit: "s", none: few, expr: at("0.95")},
			{title: "Samples", unit: "short", count: true, expr: c.Max(one(c.WindowSamples), by...), colour: stepList("orange", 59.0, "green")},
			{title: "Threshold", unit: "s", expr: c.Min(one(c.SLOThreshold), by...)},
		}, c.LabelProbe, false)
}

// panel draws dots, exact quantiles, their sample count and the thresholds.
func (l latency) panel() *timeseries.PanelBuilder {
	at := func(q string) string { return one(c.Window, c.Eq(c.LabelSLI, l.sli), c.Eq(c.LabelQuantile, q)) }
	b := lines(panel{title: l.title, unit: "s", log: true, w: 12, h: 10, none: "no ok probe yet",
		about: l.about + " Dots: single probes. Lines: exact P50 and P95 of the last 120 ok probes of at most 2 h, from 59 samples on; the legend has their number. Dashed: the thresholds of the SLOs. The axis is logarithmic.",
		queries: []query{
			{expr: one(l.last), legend: "{{probe}}"},
			{expr: at("0.5"), legend: "{{probe}} P50"},
			{expr: at("0.95"), legend: "{{probe}} P95"},
			{expr: one(c.WindowSamples, c.Eq(c.LabelSLI, l.sli)), legend: "{{probe}} samples"},
			{expr: c.Max(one(c.SLOThreshold, c.Eq(c.LabelSLI, l.sli)), c.LabelSLO), legend: "SLO {{slo}}"},
		}})
	return limit(counts(dots(b, "A"), "D"), "E")
}

// targetHistograms show the same from histograms: coarser, but they can be
// summed over probes, places and weeks.
func targetHistograms(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("Histograms: for fleets and long times"))
	for _, l := range latencies() {
		var queries []query
		for _, q := range []float64{0.5, 0.95} {
			queries = append(queries, query{expr: quantile(q, one, l.histogram, window), legend: "P" + strings.TrimPrefix(c.Number(q*100), "0.")})
		}
		queries = append(queries, query{expr: samples(one, l.histogram, window), legend: "samples"})
		b.WithPanel(counts(lines(panel{title: l.title + " over the window", unit: "s", w: 6, h: 7, none: "no ok probe in the window",
			about:   "Quantiles from the histogram over the window, all chosen probes together, and the samples behind them. Classic buckets are a factor of 2 apart (TPOT finer), so a value is good to that; native ones to 5 %.",
			queries: queries}), "C"))
	}
	b.WithPanel(heat(heatPanel("TTFT", c.TTFT))).WithPanel(heat(heatPanel("E2E", c.E2E)))
}

func heatPanel(title, metric string) panel {
	return panel{title: title + " heat map", unit: "short", w: 12, h: 8, none: "no ok probe yet",
		about: "How many ok probes took how long, over 5 minutes each.",
		queries: []query{
			{expr: switched(c.Sum(c.Increase(one(metric+"_bucket"), "5m"), c.LabelLe), "0"), legend: "{{le}}"},
			{expr: switched(c.Sum(c.Increase(one(metric), "5m")), "1")},
		}}
}
