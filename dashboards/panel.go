package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// panel is what every panel needs, whatever draws it.
type panel struct {
	title string
	about string // what it shows and how to read it; its metrics are added
	none  string // what stands there when there is nothing to show
	unit  string // Grafana's id of the unit
	w, h  uint32 // of 24 columns, in rows
	log   bool   // logarithmic axis, for time series without zeros
	// queries in the order of their letters: the first is A.
	queries []query
}

// query is one expression of a panel.
type query struct {
	expr   string
	legend string
}

type panelBuilder = cog.Builder[dashboard.Panel]

// basics are the methods all panel builders of the SDK share.
type basics[B any] interface {
	Title(string) B
	Description(string) B
	Datasource(common.DataSourceRef) B
	Unit(string) B
	NoValue(string) B
	Span(uint32) B
	Height(uint32) B
	WithTarget(cog.Builder[variants.Dataquery]) B
}

// dress puts on a builder what every panel needs. The format says how the
// queries are asked: as time series, or once for a table or a number.
func dress[B basics[B]](b B, p panel, format prometheus.PromQueryFormat, instant bool) B {
	b = b.Title(p.title).Description(p.description()).Datasource(source()).
		Unit(p.unit).NoValue(p.none).Span(p.w).Height(p.h)
	for i, q := range p.queries {
		t := prometheus.NewDataqueryBuilder().Expr(q.expr).RefId(string(rune('A' + i))).
			Datasource(source()).Format(format).EditorMode(prometheus.QueryEditorModeCode)
		if q.legend != "" {
			t.LegendFormat(q.legend)
		}
		if instant {
			t.Instant()
		} else {
			t.Range()
		}
		b = b.WithTarget(t)
	}
	return b
}

// description is what the panel's (i) shows: meaning, then metrics.
func (p panel) description() string {
	return p.about + "\n\nMetrics: `" + strings.Join(metricsOf(p.queries), "`, `") + "`."
}

// source is the data source that the board's variable chooses.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

// steps are thresholds for colours: the first colour below the first value,
// then value, colour, value, colour, …
func steps(first string, more ...any) cog.Builder[dashboard.ThresholdsConfig] {
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(stepList(first, more...))
}

func stepList(first string, more ...any) []dashboard.Threshold {
	list := []dashboard.Threshold{{Color: first}}
	for i := 0; i+1 < len(more); i += 2 {
		value := more[i].(float64)
		list = append(list, dashboard.Threshold{Value: &value, Color: more[i+1].(string)})
	}
	return list
}

// words maps numbers to text and colour: "1", "ok", "green".
func words(triples ...string) []dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for i := 0; i+2 < len(triples); i += 3 {
		options[triples[i]] = dashboard.ValueMappingResult{Text: &triples[i+1], Color: &triples[i+2]}
	}
	return []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}}
}
