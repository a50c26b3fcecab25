package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"go.uber.org/zap"

	"tokprobe/exporter"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/schedule"
	"tokprobe/probe/sweep"
)

// TestSweepOnDemand runs a sweep by POST, reads it back, and finds it again
// after a restart, with its age.
func TestSweepOnDemand(t *testing.T) {
	_, base := simulator(t)
	path := guarded(t, t.TempDir(), base, "sweep_tokens_per_day: 100000")
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	if got, body := d.get(t, http.MethodPost, "/api/v1/sweeps/yearly/run"); got != http.StatusAccepted {
		t.Fatalf("%d %s", got, body)
	}
	var run struct {
		Sweeps []struct {
			State   string
			LastRun *struct {
				Outcome string
				Ended   time.Time
				Report  capacity.Report
			} `json:"last_run"`
			AgeS *float64 `json:"age_s"`
		}
	}
	read := func() {
		t.Helper()
		_, body := d.get(t, http.MethodGet, "/api/v1/sweeps")
		if err := json.Unmarshal([]byte(body), &run); err != nil || len(run.Sweeps) != 1 {
			t.Fatalf("%v in %s", err, body)
		}
	}
	eventually(t, 60*time.Second, "a finished sweep", func() bool { read(); return run.Sweeps[0].LastRun != nil })
	last := run.Sweeps[0].LastRun
	if last.Outcome != sweepOK && last.Outcome != sweepUntrusted || len(last.Report.Levels) != 2 || last.Report.Levels[1].Completed != 10 {
		t.Fatalf("outcome %s, levels %+v", last.Outcome, last.Report.Levels)
	}
	families := d.metrics(t)
	if n, there := value(families, "tokprobe_sweep_in_progress", nil); n != 0 || !there {
		t.Errorf("in progress: %v (%v), want 0", n, there)
	}
	if n, _ := value(families, "tokprobe_probes_skipped_total", map[string]string{"reason": "sweep"}); n != 0 {
		t.Errorf("the bystander was skipped %v times", n)
	}
	if n, _ := value(families, "tokprobe_sweep_runs_total", map[string]string{"outcome": last.Outcome}); n != 1 {
		t.Errorf("%v runs counted, want 1", n)
	}
	if n, _ := value(families, "tokprobe_sweep_requests_total", map[string]string{"outcome": "ok"}); n != 20 {
		t.Errorf("%v measured requests, want 20", n)
	}
	d.end(t)

	d = startDaemon(t, nil, "--config.file", path)
	ended := last.Ended
	read()
	if got := run.Sweeps[0].LastRun; got == nil || !got.Ended.Equal(ended) || len(got.Report.Levels) != 2 {
		t.Errorf("after a restart: %+v, want the run that ended %v", got, ended)
	}
	if last.Outcome == sweepOK { // a busy machine may have spoiled it
		at, _ := value(d.metrics(t), "tokprobe_sweep_last_success_timestamp_seconds", nil)
		if want := float64(ended.UnixNano()) / 1e9; at < want-0.001 || at > want+0.001 {
			t.Errorf("last success %v, want %v", at, want)
		}
	}
}

func level(load float64, trusted bool, state capacity.State, completed int) capacity.Level {
	return capacity.Level{Load: load, Mode: capacity.Concurrency, Trusted: trusted, State: state, Completed: completed}
}

func ranOf(aborted string, levels ...capacity.Level) sweep.Result {
	return sweep.Result{Report: capacity.Report{Mode: capacity.Concurrency, Aborted: aborted, Levels: levels}}
}

func TestSweepOutcome(t *testing.T) {
	good := level(1, true, capacity.Baseline, 9)
	for name, c := range map[string]struct {
		give schedule.SweepEvent
		want string
	}{
		"ok":                     {schedule.SweepEvent{Result: ranOf("", good)}, sweepOK},
		"error":                  {schedule.SweepEvent{Err: errors.New("x")}, sweepFailed},
		"aborted":                {schedule.SweepEvent{Result: ranOf("by test", good)}, sweepAborted},
		"nothing succeeded":      {schedule.SweepEvent{Result: ranOf("", level(1, true, capacity.Failing, 0))}, sweepFailed},
		"no level":               {schedule.SweepEvent{Result: ranOf("")}, sweepFailed},
		"one level not trusted":  {schedule.SweepEvent{Result: ranOf("", good, level(2, false, capacity.NotJudged, 9))}, sweepUntrusted},
		"no level can be judged": {schedule.SweepEvent{Result: ranOf("", level(1, true, capacity.NotJudged, 9))}, sweepUntrusted},
		"the top level fails":    {schedule.SweepEvent{Result: ranOf("", good, level(2, true, capacity.Failing, 1))}, sweepOK},
	} {
		if got := sweepOutcome(c.give); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestBookKeepsLastGood: neither an aborted nor an untrusted run moves the
// knee, also not over a restart; a sweep that is gone takes its results along.
func TestBookKeepsLastGood(t *testing.T) {
	sw := roster.Sweep{Name: "s", Target: "t", Model: "m", Mode: "concurrency", Ladder: []float64{1, 2}}
	r := roster.Roster{Targets: []roster.Target{{Name: "t", Models: []string{"m"}}}, Sweeps: []roster.Sweep{sw}}
	page := func() (*exporter.Exporter, *sweepBook) {
		e := exporter.New(exporter.Config{NoRuntime: true})
		e.Apply(r)
		return e, &sweepBook{exporter: e, log: zap.NewNop()}
	}
	e, b := page()
	at := time.Unix(1_800_000_000, 0)
	end := func(res sweep.Result, knee float64) {
		res.Report.Knee = capacity.Knee{Reached: true}
		res.Report.Knee.Load.V, res.Report.Knee.Load.OK = knee, true
		at = at.Add(time.Hour)
		b.RecordSweep(schedule.SweepEvent{Sweep: sw, Stage: schedule.SweepStarted, At: at})
		b.RecordSweep(schedule.SweepEvent{Sweep: sw, Stage: schedule.SweepEnded, At: at, Result: res, Took: time.Minute})
	}
	knee := func(e *exporter.Exporter) float64 {
		v, _ := value(gathered(t, e), "tokprobe_knee_load", nil)
		return v
	}
	good := level(1, true, capacity.Baseline, 9)
	end(ranOf("", good), 8)
	end(ranOf("by test", good), 4)
	end(ranOf("", level(1, false, capacity.NotJudged, 9)), 2)
	if got := knee(e); got != 8 {
		t.Errorf("the knee is %v, want that of the last good run, 8", got)
	}

	data, err := json.Marshal(b.snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var saved []savedSweep
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	if len(saved) != 1 || saved[0].Last.Outcome != sweepUntrusted || saved[0].Good.Outcome != sweepOK {
		t.Fatalf("saved %s", data)
	}
	e, b = page()
	b.restore(saved)
	b.show()
	if got := knee(e); got != 8 {
		t.Errorf("after a restart the knee is %v, want 8", got)
	}
	when, _ := value(gathered(t, e), "tokprobe_sweep_last_success_timestamp_seconds", nil)
	if want := 1_800_003_600.0; when != want {
		t.Errorf("its time is %v, want %v", when, want)
	}
	b.apply(roster.Roster{})
	if got := b.snapshot(); got != nil {
		t.Errorf("a removed sweep left %v", got)
	}
}
