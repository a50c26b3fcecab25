package exporter

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"tokprobe/probe"
)

//go:embed status.html
var statusHTML string

// statusRow is one probe on the status page.
type statusRow struct {
	ID                   probe.ID
	Kind                 string // css class: ok, service, answer, ours, none
	Outcome              string
	Age, TTFT, TPOT, E2E string
	Every, Next          string
	Note                 string // of the last failure: what and what to do
	FailedAge            string
	Runs, Skips          uint64
}

type statusData struct {
	Version      string
	Rows         []statusRow
	Bad          int
	ReloadFailed bool
	Links        []string
}

// statusPage shows every probe with its last result. Texts of endpoints are
// escaped by html/template.
func (s *HTTPServer) statusPage(w http.ResponseWriter, _ *http.Request) {
	page, err := template.New("status").Parse(statusHTML)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	data := statusData{Version: s.config.Version, Links: s.links(), ReloadFailed: s.config.Exporter.reloadFailed.Load()}
	now := time.Now()
	for _, v := range s.config.Exporter.Views(nil) {
		row := s.statusRow(v, now)
		if row.Kind != "ok" && row.Kind != "none" {
			data.Bad++
		}
		data.Rows = append(data.Rows, row)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		s.logger.Error("render the status page", "err", err)
		http.Error(w, "the page could not be rendered; see the log", http.StatusInternalServerError)
		return
	}
	write(w, "text/html; charset=utf-8", b.Bytes())
}

func (s *HTTPServer) links() []string {
	links := []string{"/metrics", "/api/v1/probes"}
	if s.config.Sweeps != nil {
		links = append(links, "/api/v1/sweeps")
	}
	if s.config.Redacted != nil {
		links = append(links, "/config")
	}
	links = append(links, "/-/healthy", "/-/ready")
	if s.config.EnablePprof {
		links = append(links, "/debug/pprof/")
	}
	return links
}

func (s *HTTPServer) statusRow(v View, now time.Time) statusRow {
	row := statusRow{ID: v.ID, Kind: "none", Outcome: "no result yet", Runs: v.Started}
	for _, n := range v.Skipped {
		row.Skips += n
	}
	row.Every = show(v.Every)
	if s.config.NextDue != nil {
		if at, ok := s.config.NextDue(v.ID); ok {
			row.Next = "in " + short(at.Sub(now))
		}
	}
	if len(v.Results) > 0 {
		last := v.Results[0]
		row.Kind, row.Outcome = string(last.Kind()), string(last.Outcome)
		row.Age = short(now.Sub(last.Start)) + " ago"
		row.TTFT, row.TPOT, row.E2E = show(last.TTFT), show(last.TPOT), show(last.E2E)
	}
	if len(v.Failures) > 0 {
		f := v.Failures[0]
		row.FailedAge = short(now.Sub(f.Start)) + " ago"
		row.Note = strings.Join(nonEmpty(string(f.Outcome), f.Err, f.Hint), ": ")
	}
	return row
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// show returns a duration for a table cell, or a dash.
func show(d probe.Opt[time.Duration]) string {
	if !d.OK {
		return "–"
	}
	return short(d.V)
}

// short rounds to three digits or so: 212ms, 1.47s, 4m10s.
func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
