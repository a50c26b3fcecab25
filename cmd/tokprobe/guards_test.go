package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// guarded is a configuration with a budget, a state file and a sweep that is
// due once a year.
func guarded(t *testing.T, dir, base, budget string) string {
	t.Helper()
	path := filepath.Join(dir, "tokprobe.yaml")
	text := `
targets: [{name: sim, provider: vllm, base_url: "` + base + `", models: [a], budget: {` + budget + `}}]
prompts: [{name: p, text: hello, max_tokens: 8}]
probes: [{name: chat, prompt: p, every: 200ms}]
sweeps: [{name: yearly, targets: [sim], cron: "0 0 1 1 *", prompt: p, ladder: {concurrency: [1, 2]}, requests: 10}]
state_file: state/tokprobe.json
kill_switch_file: stop
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRestartKeepsBudget: what was spent before a restart is spent after it,
// and a hard budget stops probes at once.
func TestRestartKeepsBudget(t *testing.T) {
	_, base := simulator(t)
	dir := t.TempDir()
	path := guarded(t, dir, base, "probe_tokens_per_day: 100, hard: true")
	skips := map[string]string{"probe": "chat", "reason": "budget"}
	d := startDaemon(t, nil, "--config.file", path)
	eventually(t, 15*time.Second, "a skip for the budget", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_skipped_total", skips)
		return n > 0
	})
	d.end(t)

	d = startDaemon(t, nil, "--config.file", path)
	eventually(t, 15*time.Second, "a skip for the budget after the restart", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_skipped_total", skips)
		return n > 0
	})
	families := d.metrics(t)
	if n, _ := value(families, "tokprobe_probes_started_total", nil); n != 0 {
		t.Errorf("%v probes ran on a budget that was spent before the restart", n)
	}
	if n, there := value(families, "tokprobe_budget_tokens_remaining", map[string]string{"kind": "probe"}); n != 0 || !there {
		t.Errorf("%v tokens are left", n)
	}
	d.end(t)

	if err := os.WriteFile(filepath.Join(dir, "state", "tokprobe.json"), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	d = startDaemon(t, nil, "--config.file", path)
	if !strings.Contains(d.errs.String(), "damaged") {
		t.Error("no warning about the damaged state file")
	}
	eventually(t, 15*time.Second, "a probe", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_started_total", nil)
		return n > 0
	})
}

// TestKillSwitch: by POST and by file; a stop by hand outlives a restart, one
// of the probes does not.
func TestKillSwitch(t *testing.T) {
	_, base := simulator(t)
	dir := t.TempDir()
	path := guarded(t, dir, base, "")
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	post := func(path string, status int, want string) {
		t.Helper()
		if got, body := d.get(t, http.MethodPost, path); got != status || !strings.Contains(body, want) {
			t.Errorf("POST %s answers %d %q, want %d with %q", path, got, body, status, want)
		}
	}
	post("/-/sweeps/stop", 200, "stopped")
	post("/api/v1/sweeps/yearly/run", 409, "stopped by POST")
	post("/-/probes/stop", 200, "stopped")
	eventually(t, 10*time.Second, "a disabled probe", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_skipped_total", map[string]string{"reason": "disabled"})
		return n > 0
	})
	d.end(t)

	d = startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	post("/api/v1/sweeps/yearly/run", 409, "stopped by POST")
	if n, _ := value(d.metrics(t), "tokprobe_sweeps_skipped_total", map[string]string{"reason": "disabled"}); n != 1 {
		t.Errorf("%v skips counted, want 1", n)
	}
	eventually(t, 10*time.Second, "a probe", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_started_total", nil)
		return n > 0
	})
	if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	post("/-/sweeps/resume", 409, "stop exists")
	post("/api/v1/sweeps/yearly/run", 409, "kill switch file")
	if err := os.Remove(filepath.Join(dir, "stop")); err != nil {
		t.Fatal(err)
	}
	post("/-/sweeps/resume", 200, "resumed")
	post("/api/v1/sweeps/yearly/run", 202, `"queued":[{"target":"sim","model":"a","sweep":"yearly"}]`)
	post("/api/v1/sweeps/nobody/run", 404, `no sweep "nobody" here`)
	post("/api/v1/sweeps/nobody/run?target=zz&model=m", 404, `no sweep "nobody" of target "zz" of model "m" here`)
}

// TestLifecycleIsOff: without the flag nothing that changes state works, and
// the answer says how to turn it on; GET never does.
func TestLifecycleIsOff(t *testing.T) {
	_, base := simulator(t)
	d := startDaemon(t, nil, "--config.file", guarded(t, t.TempDir(), base, ""))
	for _, path := range []string{"/-/reload", "/-/sweeps/stop", "/-/sweeps/resume", "/-/probes/stop", "/-/probes/resume", "/api/v1/sweeps/yearly/run", "/api/v1/probes/chat/run"} {
		if got, body := d.get(t, http.MethodPost, path); got != http.StatusForbidden || !strings.Contains(body, "--web.enable-lifecycle") {
			t.Errorf("POST %s answers %d %q", path, got, body)
		}
		if got, _ := d.get(t, http.MethodGet, path); got != http.StatusMethodNotAllowed {
			t.Errorf("GET %s answers %d", path, got)
		}
	}
	if got, _ := d.get(t, http.MethodGet, "/debug/pprof/"); got != http.StatusNotFound {
		t.Errorf("pprof answers %d without its flag", got)
	}
}

// TestRestartNeeded: what cannot change live is refused, and says so.
func TestRestartNeeded(t *testing.T) {
	_, base := simulator(t)
	path := guarded(t, t.TempDir(), base, "")
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), "state/tokprobe.json", "elsewhere.json", 1)
	if err := os.WriteFile(path, []byte(moved), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, body := d.get(t, http.MethodPost, "/-/reload"); got != 500 || !strings.Contains(body, "restart needed") || !strings.Contains(body, "elsewhere.json") {
		t.Errorf("reload answers %d %q", got, body)
	}
}
