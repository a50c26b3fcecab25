package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"tokprobe/probe"
	"tokprobe/probe/schedule"
)

// runProbes is POST /api/v1/probes/{name}/run, with target and model as
// optional parameters: 202 with what was started, 409 with why not, 404. The
// results are under GET /api/v1/probes when they are done.
func (d *daemon) runProbes(w http.ResponseWriter, r *http.Request) {
	name, query := r.PathValue("name"), r.URL.Query()
	started, refused, err := d.sched.RunProbes(func(id probe.ID) bool {
		return id.Probe == name && narrowed(query, "target", id.Target) && narrowed(query, "model", id.Model)
	})
	if errors.Is(err, schedule.ErrNoProbe) {
		http.Error(w, fmt.Sprintf("no probe %.64q here; GET /api/v1/probes lists them", name), http.StatusNotFound)
		return
	}
	answer := struct {
		Started []apiProbeKey     `json:"started"`
		Refused []apiProbeRefusal `json:"refused"`
	}{[]apiProbeKey{}, []apiProbeRefusal{}}
	for _, id := range started {
		answer.Started = append(answer.Started, apiProbeKey(id))
	}
	for _, no := range refused {
		answer.Refused = append(answer.Refused, apiProbeRefusal{apiProbeKey(no.ID), no.Skip})
	}
	answerRun(w, answer, len(refused) > 0)
}

// answerRun answers a run on demand: 202, or 409 where something was refused.
func answerRun(w http.ResponseWriter, answer any, refused bool) {
	status := http.StatusAccepted
	if refused {
		status = http.StatusConflict
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the reader went away
}

// narrowed tells whether a parameter, if it was given, has this value.
func narrowed(query url.Values, key, value string) bool {
	return !query.Has(key) || query.Get(key) == value
}

type apiProbeKey struct {
	Target string `json:"target"`
	Model  string `json:"model"`
	Probe  string `json:"probe"`
}

type apiProbeRefusal struct {
	apiProbeKey
	Reason probe.SkipReason `json:"reason"`
}
