package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	c "tokprobe/exporter/catalog"
)

// tag marks all boards; the links between them go by it.
const tag = "tokprobe"

type variable = cog.Builder[dashboard.VariableModel]

// frame is an empty board with what all boards have in common.
func frame(o Options, uid, title, about string) *dashboard.DashboardBuilder {
	return dashboard.NewDashboardBuilder(title).Uid(uid).Description(about).
		Tags([]string{tag}).Timezone("browser").Readonly().
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Refresh("1m").Time("now-3h", "now").
		Link(dashboard.NewDashboardLinkBuilder("tokprobe").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{tag}).AsDropdown(false).IncludeVars(true).KeepTime(true)).
		Link(dashboard.NewDashboardLinkBuilder("Runbook").Type(dashboard.DashboardLinkTypeLink).
			Url(o.RunbookURL).Icon("doc").Tooltip("What each alert means and what to do. Set its address with: tokprobe dashboards --runbook-url").TargetBlank(true)).
		Annotation(annotation("Configuration loads", "blue", c.Sel(c.ReloadTimestamp)+" * 1000",
			"configuration loaded by {{instance}}").UseValueForTime(true)).
		Annotation(annotation("Sweeps", "purple", c.Sel(c.SweepInProgress, c.Re(c.LabelTarget, "$target"))+" == 1",
			"sweep {{sweep}} of {{target}} {{model}}")).
		Annotation(annotation("Versions of tokprobe", "green", newVersion(), "tokprobe {{version}} {{revision}}")).
		Annotation(annotation("Model or tokenizer changed", "orange",
			c.Increase(c.Sel(c.PromptTokenChange, c.Re(c.LabelTarget, "$target")), "1m")+" > 0",
			"prompt tokens of {{target}} {{model}} {{probe}} changed"))
}

// newVersion is 1 for the first minute in which a version runs.
func newVersion() string {
	by := "count by (version, revision) (" + c.Sel(c.BuildInfo)
	return by + ") unless on (version, revision) " + by + " offset 1m)"
}

// annotation marks times at which the expression has a value above 0.
func annotation(name, colour, expr, text string) *dashboard.AnnotationQueryBuilder {
	return dashboard.NewAnnotationQueryBuilder().Name(name).Datasource(source()).Enable(true).
		IconColor(colour).Expr(expr).Step("60s").TitleFormat(name).TextFormat(text)
}

func text(s string) dashboard.StringOrMap { return dashboard.StringOrMap{String: &s} }

func option(name, value string) dashboard.VariableOption {
	return dashboard.VariableOption{
		Text:  dashboard.StringOrArrayOfString{String: &name},
		Value: dashboard.StringOrArrayOfString{String: &value},
	}
}

// datasourceVariable chooses the Prometheus; the boards name none themselves.
func datasourceVariable() variable {
	return dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")
}

// labelVariable offers the values of a label on metric, many with All or one.
func labelVariable(label, title, metric string, multi bool, matchers ...c.Matcher) *dashboard.QueryVariableBuilder {
	q := "label_values(" + c.Sel(metric, matchers...) + ", " + label + ")"
	b := dashboard.NewQueryVariableBuilder(label).Label(title).Datasource(source()).
		Query(dashboard.StringOrMap{Map: map[string]any{
			"query": q, "refId": "PrometheusVariableQueryEditor-VariableQuery",
		}}).Definition(q).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortAlphabeticalAsc)
	if multi {
		b.Multi(true).IncludeAll(true).AllValue(".*").Current(option("All", "$__all"))
	}
	return b
}

// probeVariables are target, model and probe, each narrowed by those before.
func probeVariables(multi bool) []variable {
	match := c.Eq
	if multi {
		match = c.Re
	}
	target := match(c.LabelTarget, "$target")
	return []variable{
		labelVariable(c.LabelTarget, "Target", c.ProbesDue, multi),
		labelVariable(c.LabelModel, "Model", c.ProbesDue, multi, target),
		labelVariable(c.LabelProbe, "Probe", c.ProbesDue, true, target, match(c.LabelModel, "$model")),
	}
}

// windowVariable is the time that rates and quantiles look back. $__rate_interval
// would hold 2 to 8 samples of a probe: no ground for a quantile.
func windowVariable() variable {
	return choice("window", "Window", "How far rates and quantiles look back.", "30m,1h,6h")
}

// periodVariable is the time over which error budgets are drawn up, in seconds.
func periodVariable() variable {
	return choice("period", "Budget period", "Time over which the error budget is drawn up.",
		"30d : 2592000,7d : 604800,1d : 86400")
}

// nativeVariable switches from classic buckets to native histograms.
func nativeVariable() variable {
	return choice("native", "Histograms",
		"native needs a Prometheus that scrapes native histograms; then quantiles are exact to 5 %.",
		"classic : 0,native : 1")
}

// choice offers the values of list, "text : value" where they differ, and
// starts with the first.
func choice(name, title, about, list string) variable {
	var options []dashboard.VariableOption
	for i, entry := range strings.Split(list, ",") {
		label, value, found := strings.Cut(entry, " : ")
		if !found {
			value = label
		}
		o := option(label, value)
		o.Selected = new(i == 0)
		options = append(options, o)
	}
	return dashboard.NewCustomVariableBuilder(name).Label(title).Description(about).
		Values(text(list)).Options(options).Current(options[0])
}

// pattern is a text box with a regular expression.
func pattern(name, title, about, value string) variable {
	return dashboard.NewTextBoxVariableBuilder(name).Label(title).Description(about).
		DefaultValue(text(value)).Current(option(value, value)).Options([]dashboard.VariableOption{option(value, value)})
}
