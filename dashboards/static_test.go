package dashboards

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	c "tokprobe/exporter/catalog"
)

// foreign are the metrics of others that the boards read, with the labels they
// carry beside those of the scrape.
var foreign = map[string][]string{
	vllmTTFT + "_sum": {"model_name"}, vllmTTFT + "_count": {"model_name"},
	vllmTPOT + "_sum": {"model_name"}, vllmTPOT + "_count": {"model_name"},
	vllmTPOTOld + "_sum": {"model_name"}, vllmTPOTOld + "_count": {"model_name"},
	vllmITL + "_sum": {"model_name"}, vllmITL + "_count": {"model_name"},
	vllmRunning: {"model_name"}, vllmWaiting: {"model_name"},
	vllmCache: {"model_name"}, vllmCacheOld: {"model_name"},
	processCPU: nil, processMemory: nil, processFiles: nil, processThreads: nil,
}

// labelsOf returns the labels of a metric or of a series of a histogram.
func labelsOf(name string) ([]string, bool) {
	if labels, ok := foreign[name]; ok {
		return append(slices.Clone(labels), "job", "instance", location), true
	}
	if m, ok := c.Lookup(name); ok {
		return append(m.Labels, "job", "instance", location), true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if m, ok := c.Lookup(strings.TrimSuffix(name, suffix)); ok && m.Type == c.Histogram && strings.HasSuffix(name, suffix) {
			return append(m.Labels, "job", "instance", "le", location), true
		}
	}
	return nil, false
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	selector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})?`)
	grouping = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	function = regexp.MustCompile(`^(sum|max|min|avg|count|rate|increase|histogram_quantile|histogram_sum|histogram_count|vector|time|and|or|unless|offset|on|by|group_left|clamp_min|topk)$`)
	duration = regexp.MustCompile(`\[[^\]]*\]|\boffset \w+`)
)

// vet checks names and labels of an expression and returns what is wrong.
func vet(expr string) []string {
	var wrong []string
	known := []string{} // labels of all metrics in the expression
	bare := duration.ReplaceAllString(quoted.ReplaceAllString(expr, `""`), "")
	noGroups := grouping.ReplaceAllString(bare, "$1")
	for _, m := range selector.FindAllStringSubmatch(noGroups, -1) {
		if function.MatchString(m[1]) || strings.Contains(bare, "$"+m[1]) || strings.Contains(bare, "${"+m[1]+"}") {
			continue
		}
		labels, ok := labelsOf(m[1])
		if !ok {
			wrong = append(wrong, "no metric "+m[1])
			continue
		}
		known = append(known, labels...)
		for pair := range strings.SplitSeq(m[2], ",") {
			label := strings.TrimRight(pair, `=!~" `)
			if label != "" && !slices.Contains(labels, label) {
				wrong = append(wrong, m[1]+" has no label "+label)
			}
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(bare, -1) {
		for label := range strings.SplitSeq(m[2], ",") {
			if label = strings.TrimSpace(label); label != "" && !slices.Contains(known, label) {
				wrong = append(wrong, m[1]+" ("+label+"): no metric here has it")
			}
		}
	}
	return wrong
}

func TestVet(t *testing.T) {
	tests := []struct {
		give string
		want []string
	}{
		{`sum by (le) (rate(tokprobe_ttft_seconds_bucket{target="$target"}[$window]))`, nil},
		{`sum(rate(tokprobe_ttft_second[5m]))`, []string{"no metric tokprobe_ttft_second"}},
		{`tokprobe_ttft_seconds{targt="x"}`, []string{"tokprobe_ttft_seconds has no label targt"}},
		{`sum by (outcom) (tokprobe_probes_total{outcome!="ok"})`, []string{"by (outcom): no metric here has it"}},
		{`vllm:num_requests_runing`, []string{"no metric vllm:num_requests_runing"}},
		{`0.5 * $period / tokprobe_probe_interval_seconds and on (job) tokprobe_build_info offset 1m`, nil},
	}
	for _, tt := range tests {
		if got := vet(tt.give); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.give, got, tt.want)
		}
	}
}

// TestQueries checks every expression of the files against the catalogue, and
// that the panel's description names each metric it reads.
func TestQueries(t *testing.T) {
	n := 0
	for _, b := range boards(t) {
		for _, q := range b.queries() {
			n++
			for _, problem := range vet(q.expr) {
				t.Errorf("%s: %s in %s", q.place, problem, q.expr)
			}
		}
		for _, v := range b.Templating.List {
			q := strings.TrimSuffix(strings.TrimPrefix(v.variableQuery(), "label_values("), ")")
			if q == "" {
				continue
			}
			i := strings.LastIndex(q, ", ")
			if problems := vet("sum by (" + q[i+2:] + ") (" + q[:i] + ")"); len(problems) > 0 {
				t.Errorf("%s / variable %s: %q", b.UID, v.Name, problems)
			}
		}
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				for _, name := range metricsOf([]query{{expr: q.Expr}}) {
					if !strings.Contains(p.Description, "`"+name+"`") {
						t.Errorf("%s / %s: the description does not name %s", b.UID, p.Title, name)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d queries found: the test looks in the wrong place", n)
	}
	t.Logf("%d queries", n)
}

// TestShape holds what people and alerts rely on.
func TestShape(t *testing.T) {
	uids := []string{}
	for _, b := range boards(t) {
		uids = append(uids, b.UID)
		ids := map[int]bool{}
		for i, p := range b.Panels {
			if p.ID != i+1 || ids[p.ID] {
				t.Errorf("%s / %s: id %d, want %d", b.UID, p.Title, p.ID, i+1)
			}
			ids[p.ID] = true
			if p.Type == "row" {
				continue
			}
			if p.FieldConfig.Defaults.NoValue == "" || p.Description == "" || p.Title == "" {
				t.Errorf("%s / %s: no title, description or text for nothing", b.UID, p.Title)
			}
			if p.FieldConfig.Defaults.Unit == "" && p.Type != "table" {
				t.Errorf("%s / %s: no unit", b.UID, p.Title)
			}
			if p.GridPos.X+p.GridPos.W > 24 {
				t.Errorf("%s / %s: reaches column %d of 24", b.UID, p.Title, p.GridPos.X+p.GridPos.W)
			}
		}
		checkOverlap(t, b)
		names := []string{}
		for _, v := range b.Templating.List {
			names = append(names, v.Name)
		}
		if want := []string{"datasource", "target", "model", "probe"}; len(names) < 5 || !slices.Equal(names[:4], want) || !slices.Contains(names, "window") {
			t.Errorf("%s: variables %v, want %v, window and more", b.UID, names, want)
		}
		if len(b.Links) != 2 || !slices.Equal(b.Tags, []string{tag}) || !strings.HasSuffix(b.Links[1].URL, "deploy/RUNBOOK.md") {
			t.Errorf("%s: links %+v, tags %v", b.UID, b.Links, b.Tags)
		}
		if len(b.Annotations.List) != 4 {
			t.Errorf("%s: %d annotations, want 4", b.UID, len(b.Annotations.List))
		}
	}
	if want := []string{"tokprobe-overview", "tokprobe-target", "tokprobe-sweeps", "tokprobe-prober"}; !slices.Equal(uids, want) {
		t.Errorf("uids %v, want %v", uids, want)
	}
}

func TestRunbookURL(t *testing.T) {
	files, err := Files(Options{RunbookURL: "https://wiki.example/tokprobe"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text := string(f.JSON); !strings.Contains(text, `"https://wiki.example/tokprobe"`) || strings.Contains(text, DefaultRunbookURL) {
			t.Errorf("%s does not link to the given runbook", f.Name)
		}
	}
}

// checkOverlap: no two panels share a place of the grid.
func checkOverlap(t *testing.T, b board) {
	t.Helper()
	for i, p := range b.Panels {
		for _, q := range b.Panels[:i] {
			if a, c := p.GridPos, q.GridPos; a.X < c.X+c.W && c.X < a.X+a.W && a.Y < c.Y+c.H && c.Y < a.Y+a.H {
				t.Errorf("%s: %q lies over %q", b.UID, p.Title, q.Title)
			}
		}
	}
}
