package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// movedComparison has a row of each kind.
func movedComparison() capacity.Comparison {
	f := probe.Some[float64]
	return capacity.Comparison{
		Rows: []capacity.Row{
			{Metric: "knee", Base: f(16), New: f(8), Change: f(-0.5), Noise: capacity.UnknownNoise},
			{Load: f(8), Metric: "ttft_p90", Base: f(1105.9), New: f(1412.2), Change: f(0.277), Interval: &capacity.Interval{Low: 0.21, High: 0.335},
				Noise: capacity.BeyondNoise, FailedBy: []string{"ttft_p90>+10%"}},
			{Load: f(8), Metric: "error_ratio", Base: f(0), New: f(0.031), Interval: &capacity.Interval{Low: 0.004, High: 0.061}, Noise: capacity.BeyondNoise},
			{Load: f(0.5), Metric: "output_tps", Base: f(126.7), Noise: capacity.UnknownNoise, FailedBy: []string{"output_tps<-5%", nasty}},
			{Load: f(8), Metric: "tpot_p50", Base: f(25.3), New: f(25.4), Change: f(0.004), Interval: &capacity.Interval{Low: -0.01, High: 0.02}, Noise: capacity.WithinNoise},
			{Load: f(8), Metric: "attainment", Base: f(1), New: f(1), Change: f(0), Noise: capacity.UnknownNoise},
		},
		Failures: []string{"ttft_p90>+10%: ttft_p90 at 8 went from 1106 to 1412 (+27.7 %)", nasty},
		Warnings: []string{`host was "a" and is "b"`},
	}
}

// TestValues holds numbers of the tables against the report, each seen where a
// reader looks for it.
func TestValues(t *testing.T) {
	r := frozen(t, "gateway", gateway)
	text := string(render(t, "text", r))
	for _, want := range [][]string{
		{"1", "50", "0", "0.190", "48.8", "3394", "48.7", "576.1", "726.3", "765.7", "787.9", "18.2", "18.3", "5.22", "5.41", "100.0%", "baseline"},
		{"32", "114", "14", "0.910", "233.0", "16220", "259.8", "6282", "8010", "8337", "8645", "95.2", "95.3", "30.6", "32.6", "0.0%", "failing"},
		{"knee", "8", "streams", "in", "flight,", "the", "last", "level", "that", "still", "paid"},
		{"recommended", "6", "streams", "in", "flight", "(0.75", "×", "knee)"},
	} {
		found := false
		for line := range strings.Lines(text) {
			found = found || reflect.DeepEqual(strings.Fields(line), want)
		}
		if !found {
			t.Errorf("no line with the words %q in\n%s", want, text)
		}
	}
}

func TestCSVParsesBack(t *testing.T) {
	for name, build := range map[string]func() capacity.Report{"gateway": gateway, "rates": rates, "failed": allFailed, "hostile": hostile} {
		r := frozen(t, name, build)
		rows, err := csv.NewReader(bytes.NewReader(render(t, "csv", r))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(r.Levels)+1 {
			t.Fatalf("%s: %d rows, want %d", name, len(rows), len(r.Levels)+1)
		}
		for i, l := range r.Levels {
			got := make(map[string]string)
			for k, key := range rows[0] {
				got[key] = rows[i+1][k]
			}
			for key, want := range map[string]probe.Opt[float64]{"load": probe.Some(l.Load), "completed": probe.Some(float64(l.Completed)),
				"failed": probe.Some(float64(l.Failed)), "cut": probe.Some(0.0), "p95_ttft_ms": l.Stats[capacity.TTFT].At("p95"),
				"median_tpot_ms": l.Stats[capacity.TPOT].At("p50"), "std_e2el_ms": l.Stats[capacity.E2E].At("std"), "spread": l.Spread,
				"steady_output_throughput": l.SteadyOutputThroughput, "tokens_per_minute": l.TokensPerMinute, "attainment": l.Attainment} {
				if v, err := strconv.ParseFloat(got[key], 64); want.OK && (err != nil || v != want.V) || !want.OK && got[key] != "" {
					t.Errorf("%s, level %g: %s is %q, want %+v", name, l.Load, key, got[key], want)
				}
			}
			if s := got["state"]; s != "" && strings.ContainsAny(s[:1], "=+-@") {
				t.Errorf("state %q would run as a formula", s)
			}
		}
	}
}

// TestCSVHasEveryKey fails when package capacity writes a number of a level
// that has no column here.
func TestCSVHasEveryKey(t *testing.T) {
	known := make(map[string]bool)
	for _, k := range csvKeys() {
		known[k.key] = true
	}
	left := map[string]bool{"objectives": true, "throttle": true, "server": true, "samples": true}
	for _, r := range []capacity.Report{gateway(), rates()} {
		for _, l := range r.WithoutSamples().Levels {
			raw, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]json.RawMessage
			if err := json.Unmarshal(raw, &values); err != nil {
				t.Fatal(err)
			}
			for key := range values {
				if !known[key] && !left[key] && !strings.Contains(key, "chunk_gap") {
					t.Errorf("key %s of a level has no column in CSV", key)
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	for name, build := range map[string]func() capacity.Report{"gateway": gateway, "rates": rates, "hostile": hostile} {
		want := frozen(t, name, build)
		out := render(t, "json", want)
		got, err := capacity.ReadReport(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read back as\n%+v\nwant\n%+v", name, got, want)
		}
	}
	r := oneLevel()
	if n := bytes.Count(render(t, "json", r), []byte(`"intended_s"`)); n != 50 {
		t.Errorf("%d samples written of a report that has 50", n)
	}
	if n := bytes.Count(render(t, "json", r.WithoutSamples()), []byte(`"intended_s"`)); n != 0 {
		t.Errorf("%d samples written of a report without", n)
	}
}

// TestNothingForATerminal: whatever texts hold, no format writes a control
// character, a mark that turns the line, or bytes that are no UTF-8.
func TestNothingForATerminal(t *testing.T) {
	var outs [][]byte
	for _, format := range Formats() {
		outs = append(outs, render(t, format, hostile()))
	}
	for _, format := range ComparisonFormats() {
		var b bytes.Buffer
		if err := WriteComparison(&b, format, movedComparison()); err != nil {
			t.Fatal(err)
		}
		outs = append(outs, b.Bytes())
	}
	for _, out := range outs {
		if !utf8.Valid(out) {
			t.Errorf("not UTF-8: %q", out)
		}
		for i, r := range string(out) {
			lineEnd := r == '\n' || r == '\t' || r == '\r' && i+1 < len(out) && out[i+1] == '\n'
			if !lineEnd && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("%q at %d of %q", r, i, out)
			}
		}
	}
}

// TestMarkdownStaysInItsCells: every row of a table has as many bare pipes as
// its head, and no text opens a tag, a link or code.
func TestMarkdownStaysInItsCells(t *testing.T) {
	bare := func(line string) string {
		for _, escaped := range []string{`\\`, `\|`, "\\`", `\[`, `\]`, `\*`, `\$`, `\~`} {
			line = strings.ReplaceAll(line, escaped, "")
		}
		return line
	}
	pipes, tables := 0, 0
	for line := range strings.Lines(string(render(t, "markdown", hostile()))) {
		line = bare(strings.TrimSuffix(line, "\n"))
		if strings.ContainsAny(line, "<>`[]$") {
			t.Errorf("unescaped: %s", line)
		}
		n := strings.Count(line, "|")
		switch {
		case n > 0 && pipes == 0:
			tables++
		case n != pipes && n > 0:
			t.Errorf("%d pipes, want %d: %s", n, pipes, line)
		}
		pipes = n
	}
	if tables != 2 {
		t.Errorf("%d tables, want 2", tables)
	}
}

// TestConditionsLeaveNothingOut sets one field after another.
func TestConditionsLeaveNothingOut(t *testing.T) {
	typ := reflect.TypeFor[capacity.Conditions]()
	plain := conditions(capacity.Report{})
	for i := range typ.NumField() {
		var c capacity.Conditions
		v := reflect.ValueOf(&c).Elem().Field(i)
		switch x := v.Addr().Interface().(type) {
		case *string:
			*x = "word"
		case *int:
			*x = 3
		case *uint64:
			*x = 3
		case *float64:
			*x = 0.5
		case *bool:
			*x = true
		case *[]string:
			*x = []string{"word"}
		case *[]float64:
			*x = []float64{0.5}
		case *time.Time:
			*x = fixtureStart
		case *probe.Opt[float64]:
			*x = probe.Some(0.5)
		default:
			t.Fatalf("field %s has a type this test does not know", typ.Field(i).Name)
		}
		if got := conditions(capacity.Report{Conditions: c}); reflect.DeepEqual(got, plain) {
			t.Errorf("%s is not shown", typ.Field(i).Name)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestErrors(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "xml\x1b[2J", capacity.Report{})
	if want := `format "xml [2J" is unknown: use one of text, json, csv, markdown, html`; err == nil || err.Error() != want || b.Len() > 0 {
		t.Errorf("got %v and %d bytes, want %s", err, b.Len(), want)
	}
	if err := WriteComparison(&b, "html", capacity.Comparison{}); err == nil || !strings.Contains(err.Error(), "text, markdown, json") {
		t.Errorf("comparison as html: %v", err)
	}
	for _, format := range Formats() {
		if err := Write(brokenWriter{}, format, gateway()); err == nil || err.Error() != "disk full" {
			t.Errorf("%s into a broken writer: %v", format, err)
		}
	}
}
