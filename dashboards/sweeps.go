package dashboards

import (
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/xychart"

	c "tokprobe/exporter/catalog"
)

// xySeries is how the SDK spells one series of an XY chart.
type xySeries = cog.Builder[xychart.XYSeriesConfig]

const noSweep = "none yet"

// sweeps answers: how much load does each endpoint take, and did that change.
func sweeps(o Options) *dashboard.DashboardBuilder {
	b := frame(o, SweepsUID, "tokprobe / Sweeps",
		"Capacity as measured by scheduled sweeps: throughput against latency by level, the knee and the recommended load over time, and what limits each endpoint. Empty until the first sweep has run.").
		Time("now-30d", "now").WithVariable(datasourceVariable())
	for _, v := range append(probeVariables(true), sweepVariable(), windowVariable(), serverVariable()) {
		b.WithVariable(v)
	}
	sweepsNow(b)
	sweepsCurve(b)
	sweepsOverTime(b)
	sweepsLoad(b)
	return b
}

func sweepVariable() variable {
	return labelVariable(c.LabelSweep, "Sweep", c.SweepInProgress, true, c.Re(c.LabelTarget, "$target"), c.Re(c.LabelModel, "$model"))
}

func sweepsNow(b *dashboard.DashboardBuilder) {
	each := []string{c.LabelTarget, c.LabelModel, c.LabelSweep}
	b.WithRow(dashboard.NewRowBuilder("Last runs")).
		WithPanel(figure(panel{title: "Running now", unit: "short", w: 4, h: 4, none: noSweep,
			about:   "Sweeps in progress. Never more than one per daemon.",
			queries: []query{{expr: orZero(c.Sum(many(c.SweepInProgress)))}}}).Thresholds(steps("text", 1.0, "purple"))).
		WithPanel(figure(panel{title: "Runs of the last 30 days", unit: "short", w: 10, h: 4, none: noSweep,
			about:   "Finished runs by outcome. untrusted runs never overwrite a knee; aborted ones were stopped by a limit, a guard or a person.",
			queries: []query{{expr: c.Sum(c.Increase(many(c.SweepRuns), "30d"), c.LabelOutcome), legend: "{{outcome}}"}}}).Decimals(0)).
		WithPanel(figure(panel{title: "Since the last good run", unit: "s", w: 5, h: 4, none: noSweep,
			about:   "Age of the newest ok run. What is older than the last engine or model upgrade says little.",
			queries: []query{{expr: since(c.Max(many(c.SweepLastSuccess)))}}}).Decimals(0)).
		WithPanel(figure(panel{title: "Skipped, last 30 days", unit: "short", w: 5, h: 4, none: noSweep,
			about:   "Due sweeps that did not run, all reasons.",
			queries: []query{{expr: orZero(c.Sum(c.Increase(many(c.SweepsSkipped), "30d")))}}}).Decimals(0)).
		WithPanel(grid(panel{title: "Capacity", w: 16, h: 8, none: "–",
			about: "What the last trusted run of each sweep found. Knee: the load beyond which throughput no longer grows; where the ladder ended before it there is none, and no recommendation either. Load is streams in flight or requests a second, by mode."},
			bySweep, []column{
				{title: "Knee reached", unit: "short", expr: c.Max(many(c.KneeReached), bySweep...), words: words("1", "yes", "green", "0", "no", "orange")},
				{title: "Knee", unit: "short", expr: c.Max(many(c.KneeLoad), bySweep...)},
				{title: "Recommended", unit: "short", expr: c.Max(many(c.RecommendedLoad), bySweep...)},
				{title: "Peak tok/s", unit: "short", expr: c.Max(many(c.PeakOutputTokenRate), bySweep...)},
			}, c.LabelTarget, false).Decimals(1)).
		WithPanel(grid(panel{title: "Walls", w: 8, h: 8, none: noSweep,
			about: "What limited each endpoint in the last trusted run: a quota, the queue, decoding, errors, our own machine (client), or none."},
			append(slices.Clone(each), c.LabelLimit), []column{
				{title: "Met", unit: "short", expr: c.Max(many(c.LimitInfo), append(slices.Clone(each), c.LabelLimit)...), words: words("1", "yes", "text")},
			}, c.LabelTarget, false))
}

func sweepsCurve(b *dashboard.DashboardBuilder) {
	at := func(metric, q string) string {
		return c.Max(many(metric, c.Eq(c.LabelQuantile, q)), byLevel...)
	}
	b.WithRow(dashboard.NewRowBuilder("Throughput against latency, by level of load")).
		WithPanel(curve(panel{title: "TTFT P95 by throughput", unit: "s", w: 12, h: 10, none: noSweep,
			about: "One point for each level of the last trusted run: output tokens a second to the right, TTFT P95 upwards. The knee is where the curve turns up.",
			queries: []query{
				{expr: c.Max(many(c.LevelOutputRate), byLevel...)}, {expr: at(c.LevelTTFT, "0.95")},
			}}, "TTFT P95")).
		WithPanel(curve(panel{title: "TPOT P50 by throughput", unit: "s", w: 12, h: 10, none: noSweep,
			about: "One point for each level of the last trusted run: output tokens a second to the right, TPOT P50 upwards. A rising TPOT means that decoding is the limit; a flat one with a rising TTFT means the queue.",
			queries: []query{
				{expr: c.Max(many(c.LevelOutputRate), byLevel...)}, {expr: at(c.LevelTPOT, "0.5")},
			}}, "TPOT P50")).
		WithPanel(grid(panel{title: "Levels of the last trusted run", w: 24, h: 10, none: "–",
			about: "The numbers behind the curves, with the samples of each level. Met SLO needs an SLO on the sweep."},
			byLevel, []column{
				{title: "Samples", unit: "short", count: true, expr: c.Max(many(c.LevelSamples), byLevel...)},
				{title: "Requests/s", unit: "short", expr: c.Max(many(c.LevelRequestRate), byLevel...)},
				{title: "Output tok/s", unit: "short", expr: c.Max(many(c.LevelOutputRate), byLevel...)},
				{title: "Tokens/min", unit: "short", expr: c.Max(many(c.LevelTokensPerMinute), byLevel...)},
				{title: "TTFT P50", unit: "s", expr: at(c.LevelTTFT, "0.5")},
				{title: "TTFT P95", unit: "s", expr: at(c.LevelTTFT, "0.95")},
				{title: "TPOT P50", unit: "s", expr: at(c.LevelTPOT, "0.5")},
				{title: "E2E P95", unit: "s", expr: at(c.LevelE2E, "0.95")},
				{title: "Errors", unit: "percentunit", expr: c.Max(many(c.LevelErrorRatio), byLevel...), colour: stepList("green", 0.01, "red")},
				{title: "Met SLO", unit: "percentunit", expr: c.Max(many(c.LevelAttainment), byLevel...)},
			}, "Output tok/s", false).Decimals(2))
}

// curve draws the second query over the first, a line for each sweep that joins
// its points in the order of the level: past the knee throughput falls again.
func curve(p panel, y string) *xychart.PanelBuilder {
	x := "Output tok/s"
	byName := func(name string) cog.Builder[xychart.MatcherConfig] {
		return xychart.NewMatcherConfigBuilder().Id("byName").Options(name)
	}
	columns := []column{{title: x}, {title: y}}
	return dress(xychart.NewPanelBuilder(), p, prometheus.PromQueryFormatTable, true).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(organize(byLevel, columns)).
		WithTransformation(dashboard.DataTransformerConfig{Id: "convertFieldType", Options: map[string]any{
			"fields": map[string]any{}, "conversions": []map[string]any{{"targetField": c.LabelLevel, "destinationType": "number"}},
		}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "sortBy", Options: map[string]any{
			"fields": map[string]any{}, "sort": []map[string]any{{"field": c.LabelLevel}},
		}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "partitionByValues", Options: map[string]any{
			"fields": bySweep, "keepFields": false, "naming": map[string]any{"asLabels": false},
		}}).
		Mapping(xychart.SeriesMappingAuto).
		Series([]xySeries{xychart.NewXYSeriesConfigBuilder().
			X(xychart.NewXychartXYSeriesConfigXBuilder().Matcher(byName(x))).
			Y(xychart.NewXychartXYSeriesConfigYBuilder().Matcher(byName(y)))}).
		Show(xychart.XYShowModePointsAndLines).AxisSoftMin(0).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		OverrideByName(x, []dashboard.DynamicConfigValue{{Id: "unit", Value: "suffix: tok/s"}, {Id: "custom.axisLabel", Value: x}})
}

func sweepsOverTime(b *dashboard.DashboardBuilder) {
	name := "{{target}} {{model}} {{sweep}}"
	b.WithRow(dashboard.NewRowBuilder("Over time")).
		WithPanel(lines(panel{title: "Knee and recommended load", unit: "short", w: 12, h: 8, none: noSweep,
			about: "Last trusted runs over time. A step down of the knee after an upgrade is lost capacity; one run alone is no proof.",
			queries: []query{
				{expr: c.Max(many(c.KneeLoad), bySweep...), legend: name + " knee"},
				{expr: c.Max(many(c.RecommendedLoad), bySweep...), legend: name + " recommended"},
			}})).
		WithPanel(lines(panel{title: "Peak output", unit: "suffix: tok/s", w: 12, h: 8, none: noSweep,
			about:   "Highest steady output tokens a second of any valid level, last trusted run.",
			queries: []query{{expr: c.Max(many(c.PeakOutputTokenRate), bySweep...), legend: name}}})).
		WithPanel(lines(panel{title: "TTFT P95 at each level", unit: "s", w: 12, h: 8, none: noSweep,
			about:   "The same load, run after run: compare one level with itself only.",
			queries: []query{{expr: c.Max(many(c.LevelTTFT, c.Eq(c.LabelQuantile, "0.95")), byLevel...), legend: name + " at {{level}}"}}})).
		WithPanel(lines(panel{title: "Output at each level", unit: "suffix: tok/s", w: 12, h: 8, none: noSweep,
			about:   "Output tokens a second at the same load, run after run.",
			queries: []query{{expr: c.Max(many(c.LevelOutputRate), byLevel...), legend: name + " at {{level}}"}}})).
		WithPanel(states(panel{title: "Walls over time", unit: "short", w: 24, h: 6, none: noSweep,
			about:   "What limited each endpoint, run after run.",
			queries: []query{{expr: c.Max(many(c.LimitInfo), append(slices.Clone(bySweep), c.LabelLimit)...), legend: name + " {{limit}}"}}}).
			Mappings(words("1", "met", "orange")))
}

func sweepsLoad(b *dashboard.DashboardBuilder) {
	b.WithRow(dashboard.NewRowBuilder("Production load and what sweeps cost")).
		WithPanel(limit(lines(panel{title: "Production load against the recommended", unit: "short", w: 8, h: 8, none: noSweep + ", no vLLM metrics",
			about: "Sequences in the batches of the vLLM servers (variable vLLM instances) against the recommended concurrency of the last trusted run.",
			queries: []query{
				{expr: c.Sum(vllmRunning+`{instance=~"$server"}`, "model_name"), legend: "{{model_name}} running"},
				{expr: c.Max(many(c.RecommendedLoad, c.Eq(c.LabelMode, "concurrency")), bySweep...), legend: "{{target}} {{model}} recommended"},
			}}), "B")).
		WithPanel(lines(panel{title: "Requests of sweeps a day by outcome", unit: "short", w: 8, h: 8, none: noSweep,
			about:   "Measured requests over the last day, warm-up not counted; classes that did not happen are left out.",
			queries: []query{{expr: c.Sum(c.Increase(many(c.SweepRequests), "1d"), c.LabelOutcome) + " > 0", legend: "{{outcome}}"}}})).
		WithPanel(lines(panel{title: "Tokens of sweeps a day", unit: "short", w: 8, h: 8, none: noSweep,
			about:   "Tokens over the last day as billed, warm-up included. cached is part of input, reasoning of output.",
			queries: []query{{expr: c.Sum(c.Increase(many(c.SweepTokens), "1d"), c.LabelType), legend: "{{type}}"}}}))
}
