package exporter

import (
	"bufio"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tokprobe/probe"
)

// apiProbe is one element of /api/v1/probes. What is unknown is absent.
type apiProbe struct {
	Target         string                      `json:"target"`
	Model          string                      `json:"model"`
	Probe          string                      `json:"probe"`
	IntervalS      *float64                    `json:"interval_s,omitempty"`
	NextDue        *time.Time                  `json:"next_due,omitempty"`
	Due            uint64                      `json:"due"`
	Started        uint64                      `json:"started"`
	Skipped        map[probe.SkipReason]uint64 `json:"skipped"`
	Outcomes       map[probe.Outcome]uint64    `json:"outcomes"`
	RecentFailures int                         `json:"recent_failures"`
	Last           *probe.Result               `json:"last,omitempty"`
	Results        []*probe.Result             `json:"results"`
	Failures       []*probe.Result             `json:"failures"`
}

// apiProbes answers {"probes": […]}. Parameters: target, model and probe
// select by exact name; limit bounds results and failures of each probe
// (default: all that are kept; newest first). It writes probe by probe: a thousand
// full histories are 20 MB.
func (s *HTTPServer) apiProbes(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit := math.MaxInt
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			http.Error(w, "limit is a whole number from 0 on", http.StatusBadRequest)
			return
		}
		limit = n
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriter(w)
	defer out.Flush() //nolint:errcheck // the reader went away; there is nobody to tell
	out.WriteString(`{"probes":[`)
	for i, view := range s.config.Exporter.Views(selection(query)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		body, err := json.Marshal(s.apiProbe(view, limit))
		if err != nil {
			s.logger.Error("encode a probe", "err", err)
			return // cut off: the reader sees that it is no JSON
		}
		out.Write(body)
	}
	out.WriteString("]}\n")
}

func selection(query url.Values) func(probe.ID) bool {
	fits := func(key, value string) bool { return !query.Has(key) || query.Get(key) == value }
	return func(id probe.ID) bool {
		return fits("target", id.Target) && fits("model", id.Model) && fits("probe", id.Probe)
	}
}

func (s *HTTPServer) apiProbe(v View, limit int) apiProbe {
	p := apiProbe{
		Target: v.ID.Target, Model: v.ID.Model, Probe: v.ID.Probe,
		Due: v.Due, Started: v.Started, Skipped: v.Skipped, Outcomes: v.Outcomes, RecentFailures: v.RecentFailures,
		Results: v.Results[:min(limit, len(v.Results))], Failures: v.Failures[:min(limit, len(v.Failures))],
	}
	if every, ok := v.Every.Get(); ok {
		p.IntervalS = new(every.Seconds())
	}
	if s.config.NextDue != nil {
		if at, ok := s.config.NextDue(v.ID); ok {
			p.NextDue = new(at.UTC())
		}
	}
	if len(v.Results) > 0 {
		p.Last = v.Results[0]
	}
	return p
}

func (s *HTTPServer) apiSweeps(w http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(s.config.Sweeps())
	if err != nil {
		s.logger.Error("encode sweeps", "err", err)
		http.Error(w, "the sweeps could not be encoded; see the log", http.StatusInternalServerError)
		return
	}
	write(w, "application/json", append(body, '\n'))
}
