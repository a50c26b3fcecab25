package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"slices"

	"tokprobe/probe/capacity"
)

//go:embed report.html
var reportHTML string

//go:embed report.css
var reportCSS string

// page is what the template shows. Every text is escaped by html/template; the
// style sheet is the only thing it takes as it is.
type page struct {
	Title, Subtitle string
	CSP             string
	CSS             template.CSS
	Tiles           []tile
	Charts          []chart
	Groups          []group
	Subs            []cell
	Rows            []row
	Caption         string
	Hollow          bool // some level failed or was not judged
	Judgement       []judged
	Conditions      []shownCondition
	Box             struct{ Left, Right, Top, Bottom, Foot, Width, Height, Middle float64 }
}

type tile struct {
	Label, Text string
}

type group struct {
	Name string
	Span int
	Left bool
}

type cell struct {
	Text string
	Left bool
}

type row struct {
	Class string // state, of the closed list
	Cells []cell
}

type judged struct {
	Label, Text string
	Bad         bool
}

type shownCondition struct{ Name, Value string }

// writeHTML writes one file without scripts and without anything from outside.
// Its Content-Security-Policy allows the one style sheet by its hash and
// nothing else, so a text that slipped through could load and run nothing.
func writeHTML(b *bytes.Buffer, r capacity.Report) error {
	t, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(reportCSS))
	p := page{Title: title(r), Subtitle: subtitle(r), CSS: template.CSS(reportCSS), Tiles: tiles(r), Charts: charts(r), Caption: caption(r.Mode),
		CSP: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}
	p.Box.Left, p.Box.Right, p.Box.Top, p.Box.Bottom = plotLeft, plotRight, plotTop, plotBottom
	p.Box.Width, p.Box.Height, p.Box.Middle, p.Box.Foot = chartWidth, chartHeight, (plotLeft+plotRight)/2, plotBottom+5
	p.table(r)
	for _, l := range judgement(r) {
		p.Judgement = append(p.Judgement, judged{l.label, l.text, l.bad})
	}
	for _, c := range conditions(r) {
		p.Conditions = append(p.Conditions, shownCondition{c.name, c.value})
	}
	return t.Execute(b, p)
}

// tiles are the answers that a reader came for.
func tiles(r capacity.Report) []tile {
	out := []tile{{"Knee", kneeShort(r)}, {"Recommended", absent}}
	if r.Recommended != nil {
		out[1].Text = load(r.Recommended.Load)
	}
	peak := absent
	if v, ok := r.PeakOutputThroughput.Get(); ok {
		peak = number(v) + " tok/s"
	}
	out = append(out, tile{"Peak output", peak})
	if len(r.Limits) > 0 {
		out = append(out, tile{"Wall", short(string(r.Limits[0].Limit), len(capacity.ConcurrencyLimit))})
	}
	return out
}

func kneeShort(r capacity.Report) string {
	if v, ok := r.Knee.Load.Get(); ok && r.Knee.Reached {
		return load(v)
	}
	if v, ok := r.Knee.AtLeast.Get(); ok {
		return "≥ " + load(v)
	}
	return absent
}

func (p *page) table(r capacity.Report) {
	cols := columns(r.Mode)
	for i, c := range cols {
		if i > 0 && cols[i-1].group == c.group {
			p.Groups[len(p.Groups)-1].Span++
		} else {
			p.Groups = append(p.Groups, group{c.group, 1, c.left})
		}
		p.Subs = append(p.Subs, cell{c.sub, c.left})
	}
	for _, l := range byLoad(r) {
		p.Hollow = p.Hollow || !l.State.Valid()
		line := row{}
		if slices.Contains(capacity.States(), l.State) {
			line.Class = string(l.State)
		}
		for _, c := range cols {
			line.Cells = append(line.Cells, cell{c.cell(l), c.left})
		}
		p.Rows = append(p.Rows, line)
	}
}
