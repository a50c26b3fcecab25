package exporter

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"tokprobe/probe"
)

func TestLog(t *testing.T) {
	lag := okResult(200 * ms)
	lag.LagSuspect = true
	warned := okResult(200 * ms)
	warned.Warnings, warned.Text, warned.ReasoningText = []string{"the tail is long"}, "ANSWER", "ANSWER"
	tick := func(r probe.Result) probe.Tick { return probe.Tick{ID: chatID, Stage: probe.TickDone, Result: r} }
	tests := []struct {
		name  string
		give  probe.Tick
		level zapcore.Level
		want  string // message and fields after the identity
	}{
		{"ok", tick(warned), zap.InfoLevel, "probe ok e2e_s=1.47 http_status=200 outcome=ok output_tokens=64 request_id=chatcmpl-1 tpot_s=0.02 ttft_s=0.2 warnings=[the tail is long]"},
		{"ok with lag", tick(lag), zap.WarnLevel, "probe ok, but our own lag could explain its times e2e_s=1.47 http_status=200 lag_suspect=true outcome=ok output_tokens=64 request_id=chatcmpl-1 tpot_s=0.02 ttft_s=0.2"},
		{"service", tick(probe.Result{Outcome: probe.Connect, Err: "refused", Hint: "does it run?"}), zap.ErrorLevel, "probe failed error=refused hint=does it run? kind=service outcome=connect"},
		{"answer", tick(probe.Result{Outcome: probe.Assertion, HTTPStatus: 200}), zap.WarnLevel, "probe failed http_status=200 kind=answer outcome=assertion"},
		{"ours", tick(probe.Result{Outcome: probe.Auth}), zap.WarnLevel, "probe failed kind=ours outcome=auth"},
		{"maintenance", probe.Tick{ID: chatID, Stage: probe.TickDone, Maintenance: true, Bystander: true, Result: probe.Result{Outcome: probe.OK}}, zap.InfoLevel, "probe ok bystander=true maintenance=true outcome=ok"},
		{"busy", probe.Tick{ID: chatID, Skip: probe.SkipOverlap}, zap.WarnLevel, "probe skipped reason=overlap"},
		{"skipped", probe.Tick{ID: chatID, Skip: probe.SkipMaintenance}, zap.InfoLevel, "probe skipped reason=maintenance"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			core, logs := observer.New(zap.DebugLevel)
			NewLog(zap.New(core)).Record(tt.give)
			if logs.Len() != 1 {
				t.Fatalf("%d lines, want 1", logs.Len())
			}
			entry := logs.All()[0]
			fields := entry.ContextMap()
			for key, want := range map[string]string{"target": "vllm-a", "model": "qwen", "probe": "chat"} {
				if fields[key] != want {
					t.Errorf("%s is %v, want %s", key, fields[key], want)
				}
				delete(fields, key)
			}
			got := strings.TrimSuffix(entry.Message+" "+strings.Trim(strings.TrimPrefix(fmt.Sprint(fields), "map"), "[]"), " ")
			got = strings.ReplaceAll(got, ":", "=")
			if entry.Level != tt.level || got != strings.TrimSuffix(tt.want, "]") {
				t.Errorf("got  %s %s\nwant %s %s", entry.Level, got, tt.level, tt.want)
			}
		})
	}
}

func TestLogSaysNothing(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	l := NewLog(zap.New(core))
	l.Record(probe.Tick{ID: chatID}) // just started
	l.Record(probe.Tick{ID: chatID, Stage: probe.TickDone, Result: probe.Result{Cut: true}})
	if logs.Len() != 0 {
		t.Errorf("%d lines for a start and for a probe our shutdown cut, want none", logs.Len())
	}
}
