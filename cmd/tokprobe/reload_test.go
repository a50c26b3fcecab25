package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// TestReloadIfChanged polls a file through its life: only news is loaded,
// counted and logged.
func TestReloadIfChanged(t *testing.T) {
	dir := t.TempDir()
	path, prompt := filepath.Join(dir, "tokprobe.yaml"), filepath.Join(dir, "prompt.txt")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := "targets: [{name: x, provider: vllm, base_url: http://192.0.2.1, models: [m]}]\nprompts: [{name: p, file: prompt.txt}]\nprobes: [{name: chat, prompt: p, every: 1h}]\n"
	write(prompt, "hello")
	write(path, good)
	core, logs := observer.New(zapcore.InfoLevel)
	f := &serveFlags{configFile: path, grace: new(time.Second)}
	d, err := f.wire(t.Context(), zap.New(core), console{env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.sched.Shutdown(context.Background()) //nolint:errcheck // nothing runs
	if err := d.reload(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name    string
		change  func()
		outcome string // success, failure or nothing new
	}{
		{"unchanged", func() {}, ""},
		{"rewritten with the same content", func() { write(path, good) }, ""},
		{"another prompt file", func() { write(prompt, "hello again") }, "success"},
		{"a bad file", func() { write(path, good+"nonsense: 1\n") }, "failure"},
		{"still bad", func() {}, ""},
		{"bad in another way", func() { write(path, good+"absurdity: 1\n") }, "failure"},
		{"the content in force again", func() { write(path, good) }, "success"},
		{"a CA file that is missing", func() {
			write(path, strings.Replace(good, "models: [m]", "models: [m], tls_config: {ca_file: ca.pem}", 1))
		}, "failure"},
		{"still missing", func() {}, ""},
		{"the file is gone", func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "failure"},
		{"still gone", func() {}, ""},
		{"back", func() { write(path, good) }, "success"},
	} {
		count := func(result string) float64 {
			v, _ := value(gathered(t, d.exporter), "tokprobe_config_reloads_total", map[string]string{"result": result})
			return v
		}
		before := map[string]float64{"success": count("success"), "failure": count("failure")}
		lines := logs.Len()
		step.change()
		d.reloadIfChanged()
		for _, result := range []string{"success", "failure"} {
			want := before[result]
			if result == step.outcome {
				want++
			}
			if got := count(result); got != want {
				t.Errorf("%s: %v reloads with %s, want %v", step.name, got, result, want)
			}
		}
		if step.outcome == "" && logs.Len() != lines {
			t.Errorf("%s: logged %v", step.name, logs.All()[lines:])
		}
		ok, _ := value(gathered(t, d.exporter), "tokprobe_config_last_reload_successful", nil)
		if step.outcome != "" && (ok == 1) != (step.outcome == "success") {
			t.Errorf("%s: the gauge says %v", step.name, ok)
		}
	}
}

// TestReloads loads 200 configurations in a row under running probes. One
// target never changes: its probes keep phase and counters. Nothing leaks.
func TestReloads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	server, base := simulator(t)
	path := filepath.Join(t.TempDir(), "tokprobe.yaml")
	variant := func(n int) string {
		return fmt.Sprintf(`
targets:
  - {name: steady, provider: vllm, base_url: %[1]q, models: [a]}
  - {name: moving, provider: vllm, base_url: %[1]q, models: [a, b], labels: {round: "%[2]d"}, http_headers: {X-Round: {values: ["%[2]d"]}}}
prompts: [{name: p, text: "hello %[2]d", max_tokens: 4}, {name: q, text: hello, max_tokens: 4}]
probes:
  - {name: keep, prompt: q, every: 100ms, targets: [steady]}
  - {name: chat, prompt: p, every: 200ms, targets: [moving]}
  - {name: "extra%[2]d", prompt: q, every: 300ms, targets: [moving], connection: reuse}
sweeps: [{name: "s%[3]d", targets: [moving], cron: "0 0 1 1 *", ladder: {concurrency: [1, 2]}}]
`, base, n, n%3)
	}
	load := func(d *running, n int) {
		t.Helper()
		if err := os.WriteFile(path, []byte(variant(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		if d == nil {
			return
		}
		if got, body := d.get(t, http.MethodPost, "/-/reload"); got != http.StatusOK {
			t.Fatalf("reload %d: %d %s", n, got, body)
		}
	}
	load(nil, 0)
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle", "--log.level", "error")
	id := probe.ID{Target: "steady", Model: "a", Probe: "keep"}
	labels := map[string]string{"target": "steady", "probe": "keep"}
	eventually(t, 20*time.Second, "ten probes", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_started_total", labels)
		return n >= 10
	})
	load(d, 1)
	before := measure()
	dueBefore, _ := value(d.metrics(t), "tokprobe_probes_due_total", labels)
	begun := time.Now()
	for n := range 200 {
		load(d, 2+n)
	}
	load(d, 1)
	eventually(t, 20*time.Second, "as few goroutines and descriptors as before", func() bool {
		http.DefaultClient.CloseIdleConnections()
		now := measure()
		return now.goroutines <= before.goroutines+10 && now.files <= before.files+10
	})
	families := d.metrics(t)
	due, _ := value(families, "tokprobe_probes_due_total", labels)
	started, _ := value(families, "tokprobe_probes_started_total", labels)
	skipped, _ := value(families, "tokprobe_probes_skipped_total", merge(labels, "reason", "overlap"))
	if due != started+skipped {
		t.Errorf("due %v is not started %v and skipped %v", due, started, skipped)
	}
	// Every point of the grid came due once, whatever was reloaded; a busy
	// machine is some points late.
	if want := gridPoints(id, 100*time.Millisecond, begun, time.Now()); due-dueBefore < want-10 || due-dueBefore > want+10 {
		t.Errorf("%v due ticks in %v, the grid has %v points", due-dueBefore, time.Since(begun), want)
	}
	if n := len(families["tokprobe_probes_due_total"].GetMetric()); n != 5 {
		t.Errorf("%d probes on the page, want 5", n)
	}
	if open := server.Stats().InFlight; open > 5 {
		t.Errorf("%d requests in flight at the endpoint", open)
	}
	t.Logf("before %+v, after %+v; due %v of %v in %v, skipped %v", before, measure(), due-dueBefore, gridPoints(id, 100*time.Millisecond, begun, time.Now()), time.Since(begun), skipped)
}

type usage struct{ goroutines, files int }

func measure() usage {
	files, _ := os.ReadDir("/proc/self/fd")
	return usage{runtime.NumGoroutine(), len(files)}
}

func merge(labels map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// gridPoints counts the due moments of a probe in (from, to].
func gridPoints(id probe.ID, every time.Duration, from, to time.Time) float64 {
	phase := roster.Phase(id, every)
	count := func(t time.Time) int64 { return (t.UnixNano() - int64(phase)) / int64(every) }
	return float64(count(to) - count(from))
}
