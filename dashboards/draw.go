package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// lines draws time series with a legend of last and largest values, which is
// what people read off when they are woken up.
func lines(p panel) *timeseries.PanelBuilder {
	b := dress(timeseries.NewPanelBuilder(), p, prometheus.PromQueryFormatTimeSeries, false)
	if p.log {
		b.ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(2))
	} else {
		b.Min(0)
	}
	return b.LineWidth(1).FillOpacity(0).ShowPoints(common.VisibilityModeNever).
		SpanNulls(common.BoolOrFloat64{Bool: new(false)}).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementBottom).ShowLegend(true).Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
}

// stacked draws parts of a whole over time.
func stacked(p panel) *timeseries.PanelBuilder {
	return lines(p).FillOpacity(60).LineWidth(0).
		Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
}

// figure draws one number, coloured by thresholds.
func figure(p panel) *stat.PanelBuilder {
	return dress(stat.NewPanelBuilder(), p, prometheus.PromQueryFormatTimeSeries, true).
		ColorMode(common.BigValueColorModeValue).GraphMode(common.BigValueGraphModeNone).
		TextMode(common.BigValueTextModeAuto).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Thresholds(steps("text"))
}

// states draws what state each series was in over time.
func states(p panel) *statetimeline.PanelBuilder {
	return dress(statetimeline.NewPanelBuilder(), p, prometheus.PromQueryFormatTimeSeries, false).
		ShowValue(common.VisibilityModeNever).MergeValues(true).PerPage(20).FillOpacity(70).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false).
			DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom))
}

// heat draws a histogram of seconds over time, from classic buckets or the native form.
func heat(p panel) *heatmap.PanelBuilder {
	return dress(heatmap.NewPanelBuilder(), p, prometheus.PromQueryFormatHeatmap, false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit("s").AxisPlacement(common.AxisPlacementLeft)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).
			Scheme("Oranges").Steps(64).Exponent(0.5)).
		HideLegend()
}

// dots draws the series of that query as points without a line: single
// measurements, of which nothing is known in between.
func dots(b *timeseries.PanelBuilder, letter string) *timeseries.PanelBuilder {
	return b.OverrideByQuery(letter, []dashboard.DynamicConfigValue{
		{Id: "custom.drawStyle", Value: "points"}, {Id: "custom.pointSize", Value: 4},
		{Id: "custom.showPoints", Value: "always"},
	})
}

// limit draws the series of that query as a dashed red line.
func limit(b *timeseries.PanelBuilder, letter string) *timeseries.PanelBuilder {
	return b.OverrideByQuery(letter, []dashboard.DynamicConfigValue{
		{Id: "custom.lineStyle", Value: map[string]any{"fill": "dash", "dash": []int{10, 10}}},
		{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": "red"}},
	})
}

// counts puts the series of that query, numbers of samples, on a hidden axis of
// their own: the legend and the tooltip show them beside the quantiles.
func counts(b *timeseries.PanelBuilder, letter string) *timeseries.PanelBuilder {
	return b.OverrideByQuery(letter, []dashboard.DynamicConfigValue{
		{Id: "unit", Value: "short"}, {Id: "custom.axisPlacement", Value: "hidden"},
		{Id: "custom.lineWidth", Value: 0}, {Id: "decimals", Value: 0},
	})
}

// burnLines draws the factors at which the alerts page.
func burnLines(b *timeseries.PanelBuilder) *timeseries.PanelBuilder {
	return b.AxisSoftMax(15).Decimals(1).Thresholds(steps("transparent", 1.0, "yellow", 6.0, "orange", 14.4, "red")).
		ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
}
