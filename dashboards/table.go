package dashboards

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

// sortState is how the SDK spells one column to sort by.
type sortState = cog.Builder[common.TableSortByFieldState]

// column is one value column of a table: a query of its own, joined with the
// others by their labels.
type column struct {
	title, unit, expr string
	none              string                // in cells without a value; empty: as the table says
	count             bool                  // no decimals
	colour            []dashboard.Threshold // of the cell's text; none: plain
	words             []dashboard.ValueMapping
}

// grid draws a table: label columns first, in the order of labels, then the
// value columns. sortBy names a column; desc puts its largest on top.
func grid(p panel, labels []string, columns []column, sortBy string, desc bool) *table.PanelBuilder {
	for _, col := range columns {
		p.queries = append(p.queries, query{expr: col.expr})
	}
	b := dress(table.NewPanelBuilder(), p, prometheus.PromQueryFormatTable, true).
		CellHeight(common.TableCellHeightSm).ShowHeader(true).
		Footer(common.NewTableFooterOptionsBuilder().Show(false).Reducer([]string{})).
		SortBy([]sortState{common.NewTableSortByFieldStateBuilder().DisplayName(sortBy).Desc(desc)}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(organize(labels, columns))
	for _, col := range columns {
		b.OverrideByName(col.title, col.properties())
	}
	return b
}

// organize hides the time, puts the columns in order and names them.
func organize(labels []string, columns []column) dashboard.DataTransformerConfig {
	index, rename := map[string]int{}, map[string]string{}
	for i, l := range labels {
		index[l] = i
	}
	for i, col := range columns {
		field := valueField(i, len(columns))
		index[field] = len(labels) + i
		rename[field] = col.title
	}
	return dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
		"excludeByName": map[string]bool{"Time": true}, "indexByName": index, "renameByName": rename,
	}}
}

// valueField is what Grafana calls the value of query i of n.
func valueField(i, n int) string {
	if n == 1 {
		return "Value"
	}
	return "Value #" + string(rune('A'+i))
}

func (col column) properties() []dashboard.DynamicConfigValue {
	list := []dashboard.DynamicConfigValue{{Id: "unit", Value: col.unit}}
	if col.none != "" {
		list = append(list, dashboard.DynamicConfigValue{Id: "noValue", Value: col.none})
	}
	if col.count {
		list = append(list, dashboard.DynamicConfigValue{Id: "decimals", Value: 0})
	}
	if len(col.colour) > 0 {
		list = append(list,
			dashboard.DynamicConfigValue{Id: "thresholds", Value: map[string]any{"mode": "absolute", "steps": col.colour}},
			dashboard.DynamicConfigValue{Id: "custom.cellOptions", Value: map[string]any{"type": "color-text"}})
	}
	if len(col.words) > 0 {
		list = append(list, dashboard.DynamicConfigValue{Id: "mappings", Value: col.words})
	}
	return list
}

// drill makes the cells of the label columns open the target board on what
// the row stands for, with the time kept.
func drill(b *table.PanelBuilder, labels ...string) *table.PanelBuilder {
	url := "/d/" + TargetUID + "?${datasource:queryparam}&${window:queryparam}&${__url_time_range}"
	for _, l := range labels {
		url += "&var-" + l + "=${__data.fields." + l + ":percentencode}"
	}
	for _, l := range labels {
		b.OverrideByName(l, []dashboard.DynamicConfigValue{{Id: "links", Value: []map[string]any{
			{"title": "Show " + strconv.Quote("${__value.text}") + " in detail", "url": url},
		}}})
	}
	return b
}
