package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"tokprobe/probe/sim"
)

// syncBuffer is written by the daemon while the test reads it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// running is a daemon in this process, with its page.
type running struct {
	url       string
	out, errs *syncBuffer
	stop      context.CancelFunc
	done      chan int
}

// startDaemon runs serve on a free port until the test ends.
func startDaemon(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := &running{out: &syncBuffer{}, errs: &syncBuffer{}, stop: cancel, done: make(chan int, 1)}
	args = append([]string{"serve", "--web.listen-address", "127.0.0.1:0"}, args...)
	go func() {
		d.done <- run(ctx, args, console{in: strings.NewReader(""), out: d.out, err: d.errs, env: func(k string) (string, bool) {
			v, ok := env[k]
			return v, ok
		}})
	}()
	t.Cleanup(func() { d.end(t) })
	address := regexp.MustCompile(`status\s+(https?://\S+)/`)
	eventually(t, 10*time.Second, "a page", func() bool {
		if m := address.FindStringSubmatch(d.out.String()); m != nil {
			d.url = m[1]
		}
		return d.url != ""
	})
	return d
}

// end stops the daemon once and checks that it left well.
func (d *running) end(t *testing.T) {
	t.Helper()
	d.stop()
	select {
	case code, ok := <-d.done:
		if ok && code != exitOK {
			t.Errorf("exit status %d; log:\n%s", code, d.errs)
		}
		if ok {
			close(d.done)
		}
	case <-time.After(15 * time.Second):
		t.Error("the daemon did not stop within 15 s")
	}
	http.DefaultClient.CloseIdleConnections()
}

// eventually waits, bounded, for something that the daemon does in its own
// time; every look costs a request, so there is no busy loop.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("no %s within %v", what, limit)
		case <-look.C:
		}
	}
}

func (d *running) get(t *testing.T, method, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, d.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// metrics parses the page.
func (d *running) metrics(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	status, page := d.get(t, http.MethodGet, "/metrics")
	if status != http.StatusOK {
		t.Fatalf("/metrics answers %d", status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// value returns the value of a series, or the count of a histogram; false if
// there is none with these labels.
func value(families map[string]*dto.MetricFamily, name string, labels map[string]string) (float64, bool) {
	for _, m := range families[name].GetMetric() {
		matched := 0
		for _, l := range m.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				matched++
			}
		}
		if matched != len(labels) {
			continue
		}
		switch {
		case m.Histogram != nil:
			return float64(m.GetHistogram().GetSampleCount()), true
		case m.Counter != nil:
			return m.GetCounter().GetValue(), true
		}
		return m.GetGauge().GetValue(), true
	}
	return 0, false
}

// TestDemo is the README's first command: the page carries filled
// histograms for two models, and the console says where to look.
func TestDemo(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d := startDaemon(t, nil, "--demo")
	eventually(t, time.Minute, "filled histograms of two models", func() bool {
		families := d.metrics(t)
		for _, name := range []string{"tokprobe_ttft_seconds", "tokprobe_tpot_seconds", "tokprobe_e2e_seconds"} {
			for _, m := range []string{"sim-fast", "sim-large"} {
				if n, _ := value(families, name, map[string]string{"model": m, "probe": "chat"}); n < 2 {
					return false
				}
			}
		}
		return true
	})
	if out := d.out.String(); !strings.Contains(out, d.url+"/metrics") || !strings.Contains(out, "/sim/stats") {
		t.Errorf("the console does not say where to look: %q", out)
	}
	for path, want := range map[string]string{"/": "sim-large", "/config": "interactive", "/api/v1/probes": `"ttft_s"`, "/-/healthy": "", "/-/ready": "ready"} {
		if status, body := d.get(t, http.MethodGet, path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s answers %d without %q", path, status, want)
		}
	}
	d.end(t)
}

// simulator serves a fast simulated endpoint for one test.
func simulator(t *testing.T) (*sim.Server, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := sim.New(sim.Config{Models: []string{"a", "b"}, Engine: sim.Engine{FixedTTFT: 5 * time.Millisecond, FixedTPOT: 2 * time.Millisecond}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		server.Close()
		<-done
	})
	return server, "http://" + ln.Addr().String()
}

// writeConfig writes a configuration that watches the given models.
func writeConfig(t *testing.T, path, base, models string) {
	t.Helper()
	text := fmt.Sprintf(`
targets: [{name: sim, provider: vllm, base_url: %q, models: [%s]}]
prompts: [{name: p, text: hello, max_tokens: 8}]
probes: [{name: chat, prompt: p, every: 500ms}]
`, base, models)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReload changes a configuration under a running daemon: what stays keeps
// its counters, what goes takes its series along, and a bad file changes
// nothing but the gauge.
func TestReload(t *testing.T) {
	_, base := simulator(t)
	path := filepath.Join(t.TempDir(), "tokprobe.yaml")
	writeConfig(t, path, base, "a")
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	ok := func(m string) (float64, bool) {
		return value(d.metrics(t), "tokprobe_probes_total", map[string]string{"model": m, "outcome": "ok"})
	}
	var before float64
	eventually(t, 10*time.Second, "two good probes of a", func() bool {
		before, _ = ok("a")
		return before >= 2
	})

	writeConfig(t, path, base, "a, b")
	if status, body := d.get(t, http.MethodPost, "/-/reload"); status != http.StatusOK {
		t.Fatalf("reload answers %d: %s", status, body)
	}
	if n, there := ok("b"); !there || n > 2 {
		t.Errorf("the new model begins at %v (%v), want 0", n, there)
	}
	if n, _ := ok("a"); n < before {
		t.Errorf("the old model fell from %v to %v", before, n)
	}

	if err := os.WriteFile(path, []byte("targets: [{name: x}]\nnonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, body := d.get(t, http.MethodPost, "/-/reload")
	if status != http.StatusInternalServerError || !strings.Contains(body, "nonsense") || !strings.Contains(body, "targets[0]") {
		t.Errorf("a bad file answers %d: %q", status, body)
	}
	if v, _ := value(d.metrics(t), "tokprobe_config_last_reload_successful", nil); v != 0 {
		t.Errorf("the gauge says %v after a failed reload", v)
	}

	writeConfig(t, path, base, "b")
	if status, body := d.get(t, http.MethodPost, "/-/reload"); status != http.StatusOK {
		t.Fatalf("reload answers %d: %s", status, body)
	}
	if _, there := ok("a"); there {
		t.Error("a removed model still has series")
	}
	eventually(t, 10*time.Second, "a good probe of b", func() bool { n, _ := ok("b"); return n >= 1 })
	if v, _ := value(d.metrics(t), "tokprobe_config_last_reload_successful", nil); v != 1 {
		t.Errorf("the gauge says %v after a good reload", v)
	}
	if status, body := d.get(t, http.MethodPost, "/api/v1/probes/chat/run?model=b"); status != http.StatusAccepted && status != http.StatusConflict || !strings.Contains(body, `{"target":"sim","model":"b","probe":"chat"`) {
		t.Errorf("a run on demand answers %d: %s", status, body)
	}
	if status, _ := d.get(t, http.MethodPost, "/api/v1/probes/nope/run"); status != http.StatusNotFound {
		t.Errorf("an unknown probe answers %d, want 404", status)
	}
	if status, _ := d.get(t, http.MethodGet, "/-/reload"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /-/reload answers %d, want 405", status)
	}
}

// TestServeWithoutConfiguration says how to start.
func TestServeWithoutConfiguration(t *testing.T) {
	code, _, errs := tokprobe(t, nil, "serve", "--web.listen-address", "127.0.0.1:0")
	if code != exitFail || !strings.Contains(errs, "TAOTOKEN_") || !strings.Contains(errs, "--demo") {
		t.Errorf("status %d, %q", code, errs)
	}
}

// TestServeFromEnvironment needs no file for the gateway.
func TestServeFromEnvironment(t *testing.T) {
	server, base := simulator(t)
	d := startDaemon(t, map[string]string{"TAOTOKEN_BASE_URL": base, "TAOTOKEN_API_KEY": "planted-key", "TAOTOKEN_MODEL": "a"})
	families := d.metrics(t)
	if n, there := value(families, "tokprobe_probe_interval_seconds", map[string]string{"target": "taotoken", "model": "a", "probe": "chat"}); !there || n != 60 {
		t.Errorf("interval %v (%v), want 60", n, there)
	}
	for _, path := range []string{"/", "/config", "/metrics", "/api/v1/probes"} {
		if _, body := d.get(t, http.MethodGet, path); strings.Contains(body, "planted-key") {
			t.Errorf("%s shows the key", path)
		}
	}
	if strings.Contains(d.errs.String()+d.out.String(), "planted-key") {
		t.Error("the log shows the key")
	}
	_ = server
}

// A second daemon on an address in use ends before it has asked any target or
// touched the state file of the first.
func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var asked atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer target.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	text := fmt.Sprintf("targets: [{name: a, provider: vllm, base_url: %q, models: [m]}]\nprobes: [{name: p, every: 100ms}]\nstate_file: state.json\n", target.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs syncBuffer
	code := run(t.Context(), []string{"serve", "--config.file", file, "--web.listen-address", taken.Addr().String()},
		console{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) (string, bool) { return "", false }})
	if code != exitFail || !strings.Contains(errs.String(), "choose another with --web.listen-address") {
		t.Errorf("exit status %d, want %d; said %s", code, exitFail, &errs)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the target was asked %d times", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "state.json")); !os.IsNotExist(err) {
		t.Errorf("there is a state file: %v", err)
	}
}
