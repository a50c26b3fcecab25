package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/schedule"
	"tokprobe/probe/sweep"
)

func compareKeys(a, b roster.SweepKey) int {
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Sweep, b.Sweep))
}

// apiSweeps is what GET /api/v1/sweeps answers. What is unknown is absent.
type apiSweeps struct {
	Stopped string     `json:"stopped,omitempty"` // why no sweep may run
	Sweeps  []apiSweep `json:"sweeps"`
}

type apiSweep struct {
	Target    string       `json:"target"`
	Model     string       `json:"model"`
	Sweep     string       `json:"sweep"`
	Scenario  string       `json:"scenario,omitempty"`
	Mode      string       `json:"mode"`
	Ladder    []float64    `json:"ladder"`
	Cron      string       `json:"cron"`
	Timezone  string       `json:"timezone,omitempty"`
	Locations []string     `json:"locations,omitempty"`
	NextDue   *time.Time   `json:"next_due,omitempty"`
	State     string       `json:"state"` // idle, queued, running
	Progress  *apiProgress `json:"progress,omitempty"`
	Forecast  apiForecast  `json:"forecast"`
	// LastGood is what the metrics show; absent where LastRun is it.
	LastRun  *sweepRun  `json:"last_run,omitempty"`
	LastGood *sweepRun  `json:"last_good,omitempty"`
	AgeS     *float64   `json:"age_s,omitempty"` // of the last good run
	LastSkip *sweepSkip `json:"last_skip,omitempty"`
}

type apiProgress struct {
	Stage    sweep.Stage `json:"stage"`
	Level    int         `json:"level"`
	Levels   int         `json:"levels"`
	Load     float64     `json:"load"`
	Done     int         `json:"done"`
	Total    int         `json:"total,omitempty"`
	InFlight int         `json:"in_flight"`
	Errors   int         `json:"errors"`
}

// apiForecast is the most that one run costs.
type apiForecast struct {
	Requests float64 `json:"requests"`
	Tokens   float64 `json:"tokens"`
	Minutes  float64 `json:"minutes"`
	Money    float64 `json:"money,omitempty"` // in the currency of the target's price
}

// sweepsNow is what GET /api/v1/sweeps shows.
func (d *daemon) sweepsNow() any {
	out := apiSweeps{Stopped: d.kill.on(), Sweeps: []apiSweep{}}
	now := time.Now()
	for _, s := range d.sched.Sweeps() {
		a := apiSweepOf(s)
		d.book.describe(s.Sweep.Key(), &a, now)
		out.Sweeps = append(out.Sweeps, a)
	}
	return out
}

func apiSweepOf(s schedule.SweepState) apiSweep {
	sw, f := s.Sweep, s.Forecast
	a := apiSweep{
		Target: sw.Target, Model: sw.Model, Sweep: sw.Name, Scenario: sw.Scenario, Mode: sw.Mode, Ladder: sw.Ladder,
		Cron: sw.Cron, Timezone: sw.Zone, Locations: sw.Locations, State: "idle",
		Forecast: apiForecast{f.Requests, f.Tokens(), f.Minutes, f.Money},
	}
	if !s.Next.IsZero() {
		a.NextDue = new(s.Next.UTC())
	}
	switch {
	case s.Running:
		p := s.Progress
		a.State, a.Progress = "running", &apiProgress{p.Stage, p.Level, p.Levels, p.Load, p.Done, p.Total, p.InFlight, p.Errors}
	case s.Queued:
		a.State = "queued"
	}
	return a
}

// describe adds what the book knows of a sweep.
func (b *sweepBook) describe(key roster.SweepKey, a *apiSweep, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[key]
	if r == nil {
		return
	}
	a.LastRun, a.LastSkip = r.last, r.skipped
	if r.good != nil {
		a.AgeS = new(now.Sub(r.good.Ended).Seconds())
		if r.good != r.last {
			a.LastGood = r.good
		}
	}
}

// runSweep is POST /api/v1/sweeps/{name}/run, with target and model as
// optional parameters: 202 with what was queued, 409 with why not, 404.
func (d *daemon) runSweep(w http.ResponseWriter, r *http.Request) {
	name, query := r.PathValue("name"), r.URL.Query()
	queued, refused, err := d.sched.RunSweep(func(k roster.SweepKey) bool {
		return k.Sweep == name && narrowed(query, "target", k.Target) && narrowed(query, "model", k.Model)
	})
	if errors.Is(err, schedule.ErrNoSweep) {
		of := ""
		for _, key := range []string{"target", "model"} {
			if v := query.Get(key); v != "" {
				of += fmt.Sprintf(" of %s %.64q", key, v)
			}
		}
		http.Error(w, fmt.Sprintf("no sweep %.64q%s here; GET /api/v1/sweeps lists them", name, of), http.StatusNotFound)
		return
	}
	answer := struct {
		Queued  []apiKey     `json:"queued"`
		Refused []apiRefusal `json:"refused"`
	}{[]apiKey{}, []apiRefusal{}}
	for _, k := range queued {
		answer.Queued = append(answer.Queued, apiKey(k))
	}
	for _, no := range refused {
		answer.Refused = append(answer.Refused, apiRefusal{apiKey(no.Key), no.Skip, no.Reason})
	}
	answerRun(w, answer, len(refused) > 0)
}

type apiKey struct {
	Target string `json:"target"`
	Model  string `json:"model"`
	Sweep  string `json:"sweep"`
}

type apiRefusal struct {
	apiKey
	Reason probe.SkipReason `json:"reason,omitempty"`
	Text   string           `json:"text"`
}

// sweepSettings is how the scheduler runs sweeps.
func (d *daemon) sweepSettings(location string) schedule.SweepConfig {
	return schedule.SweepConfig{
		Open: d.openSweep, Prompt: sweepPrompt, Recorder: d.book, Stopped: d.kill.on, Location: location,
		Conditions:    capacity.Conditions{Version: versionLine(), GoVersion: runtime.Version(), Host: hostLine()},
		ServerMetrics: pageReader, Lock: &sweep.HostLock{},
	}
}

// openSweep makes the endpoint of one run, with a key of its own if it has
// one. Its connections and what it learns are not those of the probes.
func (d *daemon) openSweep(sw roster.Sweep) (schedule.SweepEndpoint, error) {
	d.mu.Lock()
	cfg := d.config
	d.mu.Unlock()
	conf, err := cfg.SweepEndpoint(sw.Target, sw.KeyEnv)
	if err != nil {
		return nil, err
	}
	conf.Lag = d.lag
	return probe.NewEndpoint(conf)
}

// sweepPrompt is what a sweep asks: its own prompt, or that of its scenario
// in its language with the params of the target.
func sweepPrompt(sw roster.Sweep) (probe.Prompt, error) {
	if sw.Prompt != nil {
		return *sw.Prompt, nil
	}
	p, err := sweep.ScenarioPrompt(strings.ToUpper(sw.Scenario), sw.Language)
	p.Params = sw.Params
	return p, err
}
