package exporter

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"tokprobe/probe"
)

// Log is the Recorder that writes one line per finished or skipped probe. It
// is the only place where failures of probes are logged. Levels:
//
//	error  the service failed (kind service)
//	warn   the answer was not what was asked for, or the fault is ours (key,
//	       request, quota, lag); a tick was skipped since its probe was busy
//	info   ok; skipped for any other reason
//
// Lines hold neither prompt nor answer, and of what an endpoint said only the
// bounded, cleaned texts of the Result.
type Log struct {
	logger *zap.Logger
}

// NewLog returns a recorder that writes to logger.
func NewLog(logger *zap.Logger) *Log { return &Log{logger: logger} }

// Record implements probe.Recorder.
func (l *Log) Record(t probe.Tick) {
	switch {
	case t.Result.Cut:
	case t.Stage == probe.TickDone:
		l.done(t)
	case t.Skip != probe.NotSkipped:
		l.skipped(t)
	}
}

func (l *Log) skipped(t probe.Tick) {
	level := zapcore.InfoLevel
	if t.Skip == probe.SkipOverlap {
		level = zapcore.WarnLevel
	}
	if entry := l.logger.Check(level, "probe skipped"); entry != nil {
		entry.Write(append(idFields(t.ID), zap.String("reason", string(t.Skip)))...)
	}
}

func (l *Log) done(t probe.Tick) {
	kind := t.Result.Kind()
	level, message := zapcore.InfoLevel, "probe ok"
	switch {
	case kind == probe.KindService:
		level, message = zapcore.ErrorLevel, "probe failed"
	case t.Result.Outcome != probe.OK:
		level, message = zapcore.WarnLevel, "probe failed"
	case kind == probe.KindOurs:
		level, message = zapcore.WarnLevel, "probe ok, but our own lag could explain its times"
	}
	if entry := l.logger.Check(level, message); entry != nil {
		entry.Write(append(idFields(t.ID), resultFields(t, kind)...)...)
	}
}

func idFields(id probe.ID) []zap.Field {
	return []zap.Field{zap.String("target", id.Target), zap.String("model", id.Model), zap.String("probe", id.Probe)}
}

func resultFields(t probe.Tick, kind probe.Kind) []zap.Field {
	r := t.Result
	fields := []zap.Field{zap.String("outcome", string(r.Outcome))}
	if r.Outcome != probe.OK {
		fields = append(fields, zap.String("kind", string(kind)))
	}
	text := func(key, value string) {
		if value != "" {
			fields = append(fields, zap.String(key, value))
		}
	}
	span := func(key string, d probe.Opt[time.Duration]) {
		if d.OK {
			fields = append(fields, zap.Float64(key, d.V.Seconds()))
		}
	}
	text("error", r.Err)
	text("hint", r.Hint)
	if r.HTTPStatus != 0 {
		fields = append(fields, zap.Int("http_status", r.HTTPStatus))
	}
	span("setup_s", r.Setup)
	span("ttft_s", r.TTFT)
	span("tpot_s", r.TPOT)
	span("e2e_s", r.E2E)
	if n, ok := r.OutputTokens.Get(); ok {
		fields = append(fields, zap.Int64("output_tokens", n))
	}
	text("request_id", r.RequestID)
	if len(r.Warnings) > 0 {
		fields = append(fields, zap.Strings("warnings", r.Warnings))
	}
	flag := func(key string, on bool) {
		if on {
			fields = append(fields, zap.Bool(key, true))
		}
	}
	flag("coalesced", r.Coalesced)
	flag("lag_suspect", r.LagSuspect)
	flag("bystander", t.Bystander)
	flag("maintenance", t.Maintenance)
	return fields
}
