package deploy

import (
	"net/url"
	"strings"
	"time"
)

// Severities. page wakes someone, ticket is for working hours, none goes to a
// machine that notices when it stops.
const (
	page   = "page"
	ticket = "ticket"
	none   = "none"
)

// board is a dashboard and the variables an alert's labels fill in.
type board struct {
	uid  string
	vars []string
}

func targetBoard() board { return board{"tokprobe-target", []string{"target", "model", "probe"}} }
func sweepBoard() board  { return board{"tokprobe-sweeps", []string{"target", "model"}} }
func proberBoard() board { return board{uid: "tokprobe-prober"} }
func overview() board    { return board{"tokprobe-overview", []string{"target"}} }

// alert is an alert before it has its links.
type alert struct {
	name, severity       string
	expr                 string
	wait                 time.Duration // `for`, before scaling
	labels               map[string]string
	summary, description string
	board                board
}

// keepFiring bridges a gap between two evaluations of a page, so that one
// missed scrape does not resolve it and page again.
const keepFiring = 5 * time.Minute

func (g gen) alert(a alert) Rule {
	r := Rule{Alert: a.name, Expr: a.expr, Labels: map[string]string{"severity": a.severity}}
	for k, v := range a.labels {
		r.Labels[k] = v
	}
	if a.wait > 0 {
		r.For = g.o.span(a.wait)
	}
	if a.severity == page {
		r.KeepFiringFor = g.o.span(keepFiring)
	}
	r.Annotations = map[string]string{
		"summary":       a.summary,
		"description":   a.description,
		"dashboard_url": g.dashboard(a.board),
		"runbook_url":   g.o.RunbookURL + "#" + strings.ToLower(a.name),
	}
	return r
}

// dashboard links to a board. Labels that an alert lacks give an empty
// variable, which is left out.
func (g gen) dashboard(b board) string {
	link := g.o.GrafanaURL + "/d/" + url.PathEscape(b.uid)
	sep := "?"
	for _, v := range b.vars {
		link += "{{ with $labels." + v + " }}" + sep + "var-" + v + "={{ . | urlquery }}{{ end }}"
		sep = "&"
	}
	return link
}

// place ends a summary: where it was seen from, if the locations have names.
const place = "{{ with $labels.location }} (seen from {{ . }}){{ end }}"

// ofProbe names a probe in a text.
const ofProbe = "{{ $labels.target }} / {{ $labels.model }} / {{ $labels.probe }}"

// ofModel names a model at a target.
const ofModel = "{{ $labels.target }} / {{ $labels.model }}"
