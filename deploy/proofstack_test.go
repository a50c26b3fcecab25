package deploy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stack is everything that a team runs, on loopback, with fresh folders.
type stack struct {
	dir, bin     string
	began        time.Time
	sims         map[string]string // base URL by target
	daemonAt     string            // host:port
	daemon       *process
	prometheus   string // base URL
	alertmanager string
	hook         *hook
	machine      *sentinel
}

func startStack(t *testing.T, bin string, p pair, targets []string) *stack {
	t.Helper()
	s := &stack{dir: t.TempDir(), bin: bin, sims: map[string]string{}, daemonAt: freePort(t), hook: startHook(t), machine: startSentinel(t)}
	prometheus, alertmanager := freePort(t), freePort(t)
	s.prometheus, s.alertmanager = "http://"+prometheus, "http://"+alertmanager
	for _, name := range targets {
		s.sims[name] = startSim(t, s, name)
	}
	s.writeConfigs(t, targets, alertmanager)
	s.startDaemon(t)
	start(t, s.file("prometheus.log"), p.prometheus, "--config.file="+s.file("prometheus.yml"), "--storage.tsdb.path="+s.file("prometheus"),
		"--web.listen-address="+prometheus, "--log.level=warn", "--rules.alert.resend-delay=2s")
	ready(t, s.prometheus+"/-/ready")
	s.scraped(t)
	// Only now: before its first scrape Prometheus rightly says that nobody
	// watches.
	s.began = time.Now()
	start(t, s.file("alertmanager.log"), p.alertmanager, "--config.file="+s.file("alertmanager.yml"), "--storage.path="+s.file("alertmanager"),
		"--web.listen-address="+alertmanager, "--cluster.listen-address=", "--log.level=warn")
	ready(t, s.alertmanager+"/-/ready")
	return s
}

func (s *stack) file(name string) string { return filepath.Join(s.dir, name) }

// scraped waits until Prometheus has seen the daemon, and no alert about it is
// left from before.
func (s *stack) scraped(t *testing.T) {
	t.Helper()
	query := s.prometheus + "/api/v1/query?query=" + url.QueryEscape(`min(min_over_time(up{job="tokprobe"}[3s])) == 1 and count(count_over_time(up[3s]) >= 5) == 1 unless on () ALERTS{alertname="TokprobeAbsent"}`)
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if resp, err := http.Get(query); err == nil {
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if strings.Contains(string(body), `"value"`) {
				return
			}
		}
	}
	t.Fatal("Prometheus did not scrape the daemon within 60 s")
}

func (s *stack) startDaemon(t *testing.T) {
	t.Helper()
	s.daemon = start(t, s.file("tokprobe.log"), s.bin, "serve", "--config.file", s.file("tokprobe.yaml"), "--web.listen-address", s.daemonAt)
	ready(t, "http://"+s.daemonAt+"/-/ready")
}

// startSim starts one simulated endpoint: the first token after
// 100 ms and five more, far enough apart that a busy machine does not merge them.
func startSim(t *testing.T, s *stack, name string) string {
	t.Helper()
	log := s.file("sim-" + name + ".log")
	start(t, log, s.bin, "sim", "--listen", "127.0.0.1:0", "--models", "m", "--truth", "--fixed-ttft", "100ms", "--fixed-tpot", "20ms")
	address := regexp.MustCompile(`endpoint on (http://\S+)`)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(log); err == nil {
			if m := address.FindSubmatch(text); m != nil {
				return string(m[1])
			}
		}
	}
	t.Fatalf("the simulator of %s did not say its address", name)
	return ""
}

func (s *stack) setFaults(t *testing.T, target, faults string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPut, s.sims[target]+"/sim/faults", strings.NewReader(faults))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("faults of %s: %s: %s", target, resp.Status, body)
	}
}

// states asks Alertmanager which alerts of a target it holds; empty: of none.
// Name → active or suppressed.
func (s *stack) states(t *testing.T, target string) map[string]string {
	t.Helper()
	resp, err := http.Get(s.alertmanager + "/api/v2/alerts")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []struct {
		Labels map[string]string
		Status struct{ State string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, a := range list {
		if a.Labels["target"] == target {
			states[a.Labels["alertname"]] = a.Status.State
		}
	}
	return states
}

// process is one child; it is ended by its own id, with the test at the latest.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func start(t *testing.T, log, file string, args ...string) *process {
	t.Helper()
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(file, args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	go func() { p.cmd.Wait(); close(p.done) }() //nolint:errcheck // killed
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(log), lastLines(log, 15))
		}
	})
	return p
}

func (p *process) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	<-p.done
}

func lastLines(file string, n int) string {
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return fmt.Sprintf("%d lines\n%s", len(lines), strings.Join(lines[max(0, len(lines)-n):], "\n"))
}

func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func ready(t *testing.T, url string) {
	t.Helper()
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if resp, err := client.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatalf("%s is not ready within 30 s", url)
}
