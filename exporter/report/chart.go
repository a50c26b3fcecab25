package report

import (
	"math"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// The drawing area of a chart, in units of its viewBox.
const (
	chartWidth, chartHeight = 460.0, 300.0
	plotLeft, plotRight     = 62.0, 446.0
	plotTop, plotBottom     = 34.0, 250.0
	tickRoom                = 34.0 // between the labels of two loads
	curvePoints             = 60
	loadsWide               = 65 // 1 … 64 streams fit a linear axis, 1 … 128 do not
	neverWide               = math.MaxFloat64
)

// chart is one figure, laid out; the template only draws.
type chart struct {
	Title, XLabel, YLabel string
	XTicks, YTicks        []tick
	Series                []series
	Marks                 []tick // vertical lines: knee and recommended load
}

type tick struct {
	Pos  float64
	Text string
	Kind string // of a mark: knee or advice
}

type series struct {
	Name, Class string
	Path        string
	Dots        []dot
}

type dot struct {
	X, Y   float64
	Tip    string
	Label  string
	Hollow bool // the level is failing or was not judged
}

// xy is one level in a chart before it is laid out.
type xy struct {
	x, y  probe.Opt[float64]
	level capacity.Level
}

// plot describes a chart before it is laid out.
type plot struct {
	title, xLabel, yLabel string
	unit                  string // of y, for the tips
	names                 []string
	lines                 [][]xy
	fit                   func(x float64) float64 // a fitted curve, or nil
	byLoad                bool                    // x is the load: ticks at the levels
	labels                bool                    // write the load beside each dot
	wideY                 float64                 // from which ratio on y is logarithmic
}

// charts lays out the figures that a report has values for.
func charts(r capacity.Report) []chart {
	levels := byLoad(r)
	loadLabel, unit := "streams in flight", "output tok/s"
	if r.Mode == capacity.Rate {
		loadLabel, unit = "requests/s asked for", "requests/s"
	}
	throughput := plot{title: "Throughput", xLabel: loadLabel, yLabel: "steady " + unit, unit: unit, byLoad: true, names: []string{"measured"},
		lines: [][]xy{pointsOf(levels, loadOf, capacity.Level.JudgedThroughput)}, wideY: neverWide}
	if r.USL != nil {
		throughput.fit = r.USL.At
	}
	latencyPlot := func(name string, m capacity.Metric) plot {
		return plot{title: name, xLabel: loadLabel, yLabel: name + ", ms", unit: "ms", byLoad: true, wideY: wideRatio, names: []string{"P50", "P95"},
			lines: [][]xy{pointsOf(levels, loadOf, stat(m, "p50")), pointsOf(levels, loadOf, stat(m, "p95"))}}
	}
	curve := plot{title: "Throughput against latency", xLabel: "steady " + unit, yLabel: "TTFT P95, ms", unit: "ms", labels: true, wideY: wideRatio,
		names: []string{"levels by load"}, lines: [][]xy{pointsOf(levels, capacity.Level.JudgedThroughput, stat(capacity.TTFT, "p95"))}}
	var out []chart
	for _, p := range []plot{throughput, curve, latencyPlot("TTFT", capacity.TTFT), latencyPlot("TPOT", capacity.TPOT)} {
		if c, ok := p.layOut(r); ok {
			out = append(out, c)
		}
	}
	return out
}

func loadOf(l capacity.Level) probe.Opt[float64] { return probe.Some(l.Load) }

func stat(m capacity.Metric, name string) func(capacity.Level) probe.Opt[float64] {
	return func(l capacity.Level) probe.Opt[float64] { return l.Stats[m].At(name) }
}

func pointsOf(levels []capacity.Level, x, y func(capacity.Level) probe.Opt[float64]) []xy {
	out := make([]xy, len(levels))
	for i, l := range levels {
		out[i] = xy{x(l), y(l), l}
	}
	return out
}
