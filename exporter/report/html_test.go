package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// walk visits all nodes of a page.
func walk(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func parse(t *testing.T, r capacity.Report) *html.Node {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(render(t, "html", r)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestHTMLIsInert: only harmless elements and attributes, whatever the texts
// say, and a policy whose hash is that of the style sheet in the page.
func TestHTMLIsInert(t *testing.T) {
	elements := strings.Fields("html head meta title style body h1 h2 p div span b figure figcaption svg g line path circle text table thead tbody tr th td dl dt dd")
	attributes := strings.Fields("lang charset http-equiv content name class viewBox role aria-label x x1 x2 y y1 y2 dx dy d cx cy r colspan tabindex")
	for _, r := range []capacity.Report{gateway(), rates(), hostile(), {}} {
		policy, style := "", ""
		walk(parse(t, r), func(n *html.Node) {
			if n.Type != html.ElementNode {
				return
			}
			if !slices.Contains(elements, n.Data) {
				t.Errorf("element %s", n.Data)
			}
			for i, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("attribute %s of %s", a.Key, n.Data)
				}
				if a.Key == "http-equiv" {
					policy = n.Attr[i+1].Val
				}
			}
			if n.Data == "style" {
				style = n.FirstChild.Data
			}
		})
		sum := sha256.Sum256([]byte(style))
		want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
		if policy != want {
			t.Errorf("policy %s, want %s", policy, want)
		}
		if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
			t.Error("the style sheet loads something")
		}
	}
}

// cells are the texts of a table's body, row by row.
func cells(doc *html.Node) [][]string {
	var rows [][]string
	walk(doc, func(n *html.Node) {
		switch {
		case n.Type == html.ElementNode && n.Data == "tr":
			rows = append(rows, nil)
		case n.Type == html.ElementNode && n.Data == "td":
			text := ""
			if n.FirstChild != nil {
				text = n.FirstChild.Data
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], text)
		}
	})
	return slices.DeleteFunc(rows, func(r []string) bool { return r == nil })
}

func TestHTMLTable(t *testing.T) {
	r := frozen(t, "gateway", gateway)
	got := cells(parse(t, r))
	if len(got) != 5 {
		t.Fatalf("%d rows, want 5", len(got))
	}
	want := []string{"32", "114", "14", "0.910", "233.0", "16220", "259.8", "6282", "8010", "8337", "8645", "95.2", "95.3", "30.6", "32.6", "0.0%", "failing", ""}
	if !slices.Equal(got[4], want) {
		t.Errorf("last row %q, want %q", got[4], want)
	}
	want[0] = clean(nasty)
	found := 0
	walk(parse(t, hostile()), func(n *html.Node) {
		if n.Type == html.TextNode && n.Data == want[0] {
			found++
		}
	})
	if found < 17 {
		t.Errorf("hostile names appear as text %d times, want at least 17", found)
	}
}

// TestCharts holds the drawing against hand-made numbers: of loads 1 … 32 on an
// axis of 384 units that ends at 1.04 · 32, a knee of 8 stands at 62 + 8/33.28 · 384.
func TestCharts(t *testing.T) {
	got := charts(frozen(t, "gateway", gateway))
	var titles []string
	for _, c := range got {
		titles = append(titles, c.Title)
	}
	if want := []string{"Throughput", "Throughput against latency", "TTFT", "TPOT"}; !slices.Equal(titles, want) {
		t.Fatalf("charts %q, want %q", titles, want)
	}
	if want := []tick{{154.3, "knee 8", "knee"}, {131.2, "recommended 6", "advice"}}; !slices.Equal(got[0].Marks, want) {
		t.Errorf("marks %+v, want %+v", got[0].Marks, want)
	}
	dots := got[0].Series[0].Dots
	if len(dots) != 5 || dots[4].Hollow != true || dots[3].Hollow || dots[2].X != 154.3 {
		t.Errorf("dots of throughput %+v", dots)
	}
	// 274.3 of 300 tok/s, from 250 up to 34.
	if want := round1(250 - 274.32469387663485/300*216); dots[2].Y != want {
		t.Errorf("throughput at 8 drawn at %g, want %g", dots[2].Y, want)
	}
	if names := []string{got[0].Series[1].Name, got[2].Series[0].Name, got[2].Series[1].Name}; !slices.Equal(names, []string{"fitted law (USL)", "P50", "P95"}) {
		t.Errorf("series %q", names)
	}
	if n := len(charts(allFailed())); n != 0 {
		t.Errorf("%d charts of a ladder without an answer", n)
	}
}

// TestChartGaps: a level without a value breaks the line, and numbers that are
// none are left out.
func TestChartGaps(t *testing.T) {
	r := gateway()
	delete(r.Levels[2].Stats, capacity.TPOT)
	r.Levels[0].Stats[capacity.TPOT] = capacity.Summary{N: 1, P50: math.NaN(), P95: math.Inf(1)}
	r.Levels[1].SteadyOutputThroughput = probe.Opt[float64]{}
	tpot := charts(r)[3]
	for _, s := range tpot.Series {
		if len(s.Dots) != 3 || strings.Count(s.Path, "M") != 2 || strings.Contains(s.Path, "NaN") || strings.Contains(s.Path, "Inf") {
			t.Errorf("%s: %d dots, path %s", s.Name, len(s.Dots), s.Path)
		}
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		give  []float64
		wide  float64
		ticks []float64
		log   bool
	}{
		{[]float64{0.6, 8.6}, 20, []float64{0, 2, 4, 6, 8, 10}, false},
		{[]float64{48, 276}, 20, []float64{0, 100, 200, 300}, false},
		{[]float64{0.3}, 20, []float64{0, 0.1, 0.2, 0.3}, false},
		{[]float64{150, 4080}, 20, []float64{100, 200, 500, 1000, 2000, 5000}, true},
		{[]float64{0.5, 20000}, 20, []float64{1, 10, 100, 1000, 10000}, true},
		{[]float64{0, math.NaN()}, 20, nil, false},
	} {
		s, ticks := newScale(c.give, c.wide, 0, 100)
		equal := slices.EqualFunc(ticks, c.ticks, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if !equal || s.log != c.log {
			t.Errorf("newScale(%v): ticks %v, log %t; want %v, %t", c.give, ticks, s.log, c.ticks, c.log)
		}
	}
	s := scale{low: 100, high: 10000, from: 0, to: 100, log: true}
	if pos, ok := s.at(1000); !ok || math.Abs(pos-50) > 1e-9 {
		t.Errorf("1000 between 100 and 10000 at %g, want 50", pos)
	}
}
