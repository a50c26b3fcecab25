package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tokprobe/probe/capacity"
)

// layOut places everything; not ok if there is nothing to draw.
func (p plot) layOut(r capacity.Report) (chart, bool) {
	var xs, ys []float64
	for _, line := range p.lines {
		for _, v := range line {
			if v.x.OK && v.y.OK && !math.IsNaN(v.x.V+v.y.V) && !math.IsInf(v.x.V+v.y.V, 0) {
				xs, ys = append(xs, v.x.V), append(ys, v.y.V)
			}
		}
	}
	wideX := neverWide
	if p.byLoad {
		wideX = loadsWide
	}
	sx, xTicks := newScale(xs, wideX, plotLeft, plotRight)
	if sx.log && p.wideY == neverWide {
		p.wideY = wideRatio // an ideal server stays a straight line
	}
	sy, yTicks := newScale(ys, p.wideY, plotBottom, plotTop)
	if xTicks == nil || yTicks == nil {
		return chart{}, false
	}
	if p.byLoad && !sx.log {
		sx.high = 1.04 * slices.Max(xs) // the axis ends behind the last level
	}
	c := chart{Title: p.title, XLabel: p.xLabel, YLabel: p.yLabel, YTicks: place(sy, yTicks), XTicks: place(sx, xTicks)}
	if p.byLoad {
		c.XTicks = thin(place(sx, distinct(xs)))
		c.Marks = marks(r, sx)
	}
	for i, line := range p.lines {
		c.Series = append(c.Series, p.series(i, line, sx, sy))
	}
	if p.fit != nil {
		c.Series = append(c.Series, series{Name: "fitted law (USL)", Class: "fit", Path: fitPath(p.fit, xs, sx, sy)})
	}
	return c, true
}

// series draws one line; where a value is missing the line is broken.
func (p plot) series(i int, line []xy, sx, sy scale) series {
	s := series{Name: p.names[i], Class: []string{"one", "two"}[i]}
	var path strings.Builder
	pen := "M"
	for _, v := range line {
		x, okX := sx.at(v.x.V)
		y, okY := sy.at(v.y.V)
		if !v.x.OK || !v.y.OK || !okX || !okY {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, x, y)
		pen = "L"
		d := dot{X: round1(x), Y: round1(y), Hollow: !v.level.State.Valid(),
			Tip: fmt.Sprintf("load %s, %s: %s %s (%s)", load(v.level.Load), p.names[i], number(v.y.V), p.unit, stateCell(v.level))}
		if p.labels {
			d.Label = load(v.level.Load)
		}
		s.Dots = append(s.Dots, d)
	}
	s.Path = path.String()
	return s
}

func fitPath(fit func(float64) float64, xs []float64, sx, sy scale) string {
	low, high := math.Inf(1), 0.0
	for _, x := range xs {
		low, high = min(low, x), max(high, x)
	}
	var path strings.Builder
	pen := "M"
	for i := range curvePoints + 1 {
		part := float64(i) / curvePoints
		v := low + part*(high-low)
		if sx.log {
			v = low * math.Pow(high/low, part)
		}
		x, okX := sx.at(v)
		y, okY := sy.at(fit(v))
		if okX && okY && y >= plotTop-10 {
			fmt.Fprintf(&path, "%s%.1f %.1f", pen, x, y)
			pen = "L"
		}
	}
	return path.String()
}

// marks are the knee and the recommended load, where the axis holds them.
func marks(r capacity.Report, sx scale) []tick {
	var out []tick
	mark := func(v float64, text, kind string) {
		if x, ok := sx.at(v); ok && x >= plotLeft && x <= plotRight {
			out = append(out, tick{round1(x), text + " " + load(v), kind})
		}
	}
	if r.Knee.Reached && r.Knee.Load.OK {
		mark(r.Knee.Load.V, "knee", "knee")
	}
	if r.Recommended != nil {
		mark(r.Recommended.Load, "recommended", "advice")
	}
	return out
}

func place(s scale, values []float64) []tick {
	var out []tick
	for _, v := range values {
		if pos, ok := s.at(v); ok {
			out = append(out, tick{Pos: round1(pos), Text: load(v)})
		}
	}
	return out
}

// thin drops the text of ticks that would run into the next higher one.
func thin(ticks []tick) []tick {
	next := math.Inf(1)
	for i := len(ticks) - 1; i >= 0; i-- {
		if next-ticks[i].Pos < tickRoom {
			ticks[i].Text = ""
			continue
		}
		next = ticks[i].Pos
	}
	return ticks
}

// distinct drops equal neighbours and doubled lines of sorted loads.
func distinct(xs []float64) []float64 {
	var out []float64
	seen := make(map[float64]bool)
	for _, x := range xs {
		if !seen[x] {
			seen[x], out = true, append(out, x)
		}
	}
	return out
}

func round1(v float64) float64 { return math.Round(10*v) / 10 }
