package main

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"tokprobe/exporter"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/schedule"
)

// How a run ended: the values of outcome in tokprobe_sweep_runs_total.
const (
	sweepOK        = "ok"
	sweepUntrusted = "untrusted"
	sweepAborted   = "aborted"
	sweepFailed    = "failed"
)

// sweepBook is the recorder of sweeps. It keeps of each sweep the last run,
// whatever became of it, and the last good one; only that is on the page.
type sweepBook struct {
	exporter *exporter.Exporter
	log      *zap.Logger

	mu   sync.Mutex
	runs map[roster.SweepKey]*sweepRuns
}

type sweepRuns struct {
	last, good *sweepRun
	skipped    *sweepSkip
}

// sweepRun is one finished run. Its report is encoded once, without samples.
type sweepRun struct {
	Outcome  string          `json:"outcome"`
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended"`
	Error    string          `json:"error,omitempty"`    // nothing was measured
	Aborted  string          `json:"aborted,omitempty"`  // what follows is what was learned until then
	Requests int             `json:"requests,omitempty"` // warm-up included
	Tokens   int64           `json:"tokens,omitempty"`
	Report   json.RawMessage `json:"report,omitempty"`
}

type sweepSkip struct {
	At     time.Time        `json:"at"`
	Reason probe.SkipReason `json:"reason"`
	Text   string           `json:"text"`
}

// savedSweep is what the state file holds of one sweep.
type savedSweep struct {
	Target string    `json:"target"`
	Model  string    `json:"model"`
	Sweep  string    `json:"sweep"`
	Last   *sweepRun `json:"last,omitempty"`
	Good   *sweepRun `json:"good,omitempty"` // absent if it is the last
}

func exported(key roster.SweepKey) exporter.SweepID {
	return exporter.SweepID{Target: key.Target, Model: key.Model, Sweep: key.Sweep}
}

// RecordSweep implements schedule.SweepRecorder.
func (b *sweepBook) RecordSweep(e schedule.SweepEvent) {
	key := e.Sweep.Key()
	log := b.log.With(zap.String("target", key.Target), zap.String("model", key.Model), zap.String("sweep", key.Sweep))
	switch e.Stage {
	case schedule.SweepRequest:
		b.exporter.SweepRequest(exported(key), e.Request, false)
	case schedule.SweepSkipped:
		b.exporter.SweepSkipped(exported(key), e.Skip)
		b.change(key, func(r *sweepRuns) { r.skipped = &sweepSkip{e.At.UTC(), e.Skip, e.Reason} })
		log.Warn("sweep skipped", zap.String("reason", string(e.Skip)), zap.String("why", e.Reason))
	case schedule.SweepStarted:
		b.exporter.SweepStarted(exported(key))
		log.Info("sweep started", zap.Float64s("ladder", e.Sweep.Ladder), zap.String("mode", e.Sweep.Mode),
			zap.Float64("forecast_requests", e.Forecast.Requests), zap.Float64("forecast_tokens", e.Forecast.Tokens()),
			zap.Float64("forecast_minutes", e.Forecast.Minutes), zap.Float64("forecast_money", e.Forecast.Money))
	case schedule.SweepEnded:
		b.ended(key, e, log)
	}
}

// ended books a run. Only a good one changes what the page shows of levels and
// knee.
func (b *sweepBook) ended(key roster.SweepKey, e schedule.SweepEvent, log *zap.Logger) {
	report := e.Result.Report
	outcome := sweepOutcome(e)
	id := exported(key)
	for _, l := range report.Levels {
		for o, n := range l.Outcomes {
			for range n {
				b.exporter.SweepRequest(id, probe.Result{Outcome: o}, true)
			}
		}
	}
	b.exporter.SweepDone(id, outcome, e.Took, e.At)
	run := &sweepRun{Outcome: outcome, Started: e.At.Add(-e.Took).UTC(), Ended: e.At.UTC(), Aborted: report.Aborted,
		Requests: e.Result.Cost.Requests, Tokens: e.Result.Cost.InputTokens + e.Result.Cost.OutputTokens}
	fields := []zap.Field{zap.String("outcome", outcome), zap.Duration("took", e.Took), zap.Int("requests", run.Requests), zap.Int64("tokens", run.Tokens)}
	if e.Err != nil {
		run.Error = e.Err.Error()
		fields = append(fields, zap.Error(e.Err))
	} else {
		report.SchemaVersion = capacity.SchemaVersion
		var err error
		if run.Report, err = json.Marshal(report.WithoutSamples()); err != nil {
			log.Error("the report of a sweep cannot be encoded", zap.Error(err))
		}
		fields = append(fields, zap.String("aborted", report.Aborted), zap.Any("knee", report.Knee), zap.Strings("warnings", report.Warnings))
	}
	b.change(key, func(r *sweepRuns) {
		r.last = run
		if outcome == sweepOK {
			r.good = run
		}
	})
	if outcome != sweepOK {
		log.Warn("sweep ended", fields...)
		return
	}
	b.exporter.SetSweepReport(id, report, e.At)
	log.Info("sweep ended", fields...)
}

// sweepOutcome is the verdict on a run: a level that our own lag spoils spoils
// the ladder, since a knee is a comparison of levels.
func sweepOutcome(e schedule.SweepEvent) string {
	levels := e.Result.Report.Levels
	some := func(is func(capacity.Level) bool) bool { return slices.ContainsFunc(levels, is) }
	switch {
	case e.Err != nil:
		return sweepFailed
	case e.Result.Report.Aborted != "":
		return sweepAborted
	case !some(func(l capacity.Level) bool { return l.Completed > 0 }):
		return sweepFailed
	case some(func(l capacity.Level) bool { return !l.Trusted }),
		!some(func(l capacity.Level) bool { return l.State.Valid() }):
		return sweepUntrusted
	}
	return sweepOK
}

func (b *sweepBook) change(key roster.SweepKey, do func(*sweepRuns)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs == nil {
		b.runs = map[roster.SweepKey]*sweepRuns{}
	}
	if b.runs[key] == nil {
		b.runs[key] = &sweepRuns{}
	}
	do(b.runs[key])
}

// apply forgets the sweeps that are not in r.
func (b *sweepBook) apply(r roster.Roster) {
	keep := map[roster.SweepKey]bool{}
	for _, s := range r.Sweeps {
		keep[s.Key()] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.runs {
		if !keep[key] {
			delete(b.runs, key)
		}
	}
}

// snapshot returns what is to be saved, sorted.
func (b *sweepBook) snapshot() []savedSweep {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []savedSweep
	for key, r := range b.runs {
		s := savedSweep{key.Target, key.Model, key.Sweep, r.last, r.good}
		if r.last == nil && r.good == nil {
			continue
		}
		if s.Good == s.Last {
			s.Good = nil
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b savedSweep) int { return compareKeys(a.key(), b.key()) })
	return list
}

func (s savedSweep) key() roster.SweepKey {
	return roster.SweepKey{Target: s.Target, Model: s.Model, Sweep: s.Sweep}
}

// restore takes up saved runs; show puts them on the page once that knows the
// sweeps.
func (b *sweepBook) restore(list []savedSweep) {
	for _, s := range list {
		b.change(s.key(), func(r *sweepRuns) {
			r.last, r.good = s.Last, s.Good
			if s.Good == nil && s.Last != nil && s.Last.Outcome == sweepOK {
				r.good = s.Last
			}
		})
	}
}

// show puts the last good runs on the page, with their time.
func (b *sweepBook) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, r := range b.runs {
		if r.good == nil {
			continue
		}
		var report capacity.Report
		if err := json.Unmarshal(r.good.Report, &report); err != nil {
			b.log.Warn("a saved sweep cannot be read", zap.String("sweep", key.Sweep), zap.Error(err))
			continue
		}
		b.exporter.SetSweepReport(exported(key), report, r.good.Ended)
	}
}
