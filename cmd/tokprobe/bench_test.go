package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// BenchmarkDaemon runs the built daemon beside the built simulator on this
// machine for one interval and a bit, and reports what an operator has to
// provide for: resident memory, the time of a scrape, how late probes start,
// and the time from start to ready.
//
//	go test ./cmd/tokprobe -run '^$' -bench Daemon -benchtime 1x
func BenchmarkDaemon(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads the resident memory from /proc")
	}
	binary := buildBinary(b)
	for _, n := range []struct {
		probes int
		every  time.Duration
	}{{100, 30 * time.Second}, {1000, 60 * time.Second}} {
		b.Run(fmt.Sprintf("probes=%d", n.probes), func(b *testing.B) {
			for b.Loop() {
				runDaemon(b, binary, n.probes, n.every)
			}
		})
	}
}

// runDaemon is one round: models × 1 probe against one simulator.
func runDaemon(b *testing.B, binary string, probes int, every time.Duration) {
	simAddr, pageAddr := freeAddress(b), freeAddress(b)
	models := make([]string, probes)
	for i := range models {
		models[i] = fmt.Sprintf("m%04d", i)
	}
	path := filepath.Join(b.TempDir(), "c.yaml")
	text := fmt.Sprintf("targets: [{name: t, provider: vllm, base_url: %q, models: [%s]}]\nprobes: [{name: chat, prompt: p, every: %s, slo: s}]\nprompts: [{name: p, text: hello, max_tokens: 64}]\nslos: [{name: s, window: 30d, success: 99.5%%, ttft: {below: 1.5s, objective: 95%%}}]\n",
		"http://"+simAddr, strings.Join(models, ", "), every)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	start(b, os.Stderr, binary, "sim", "--truth", "--listen", simAddr, "--models", strings.Join(models, ","))
	waitFor(b, "http://"+simAddr+"/health")

	begin := time.Now()
	pid := start(b, os.Stderr, binary, "serve", "--config.file", path, "--web.listen-address", pageAddr, "--log.level", "error")
	waitFor(b, "http://"+pageAddr+"/-/ready")
	b.ReportMetric(float64(time.Since(begin).Milliseconds()), "ms-to-ready")

	time.Sleep(every + every/4) // the rounds of the daemon itself are what is measured
	took, size, families := scrape(b, "http://"+pageAddr+"/metrics")
	for range 4 {
		again, _, _ := scrape(b, "http://"+pageAddr+"/metrics")
		took = min(took, again)
	}
	b.ReportMetric(float64(took.Milliseconds()), "ms/scrape")
	b.ReportMetric(float64(size)/1e6, "MB/scrape")
	b.ReportMetric(residentMiB(b, pid), "MiB-resident")
	b.ReportMetric(delayP99(families["tokprobe_scheduler_delay_seconds"])*1000, "ms-start-delay-p99-at-most")
	ok := 0.0
	for _, m := range models {
		n, _ := value(families, "tokprobe_probes_total", map[string]string{"model": m, "outcome": "ok"})
		ok += n
	}
	if ok < float64(probes) {
		b.Errorf("only %v probes were ok, want at least %d", ok, probes)
	}
}

// buildBinary builds the program as a user would have it.
func buildBinary(b testing.TB) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "tokprobe")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return binary
}

func freeAddress(b testing.TB) string {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// start runs the binary until the test ends and returns its process id.
func start(b testing.TB, stderr io.Writer, binary string, args ...string) int {
	b.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck
		cmd.Wait()                       //nolint:errcheck
	})
	return cmd.Process.Pid
}

func waitFor(b testing.TB, url string) {
	b.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	b.Fatalf("%s did not answer within 20 s", url)
}

// scrape reads the whole page as Prometheus does, compressed.
func scrape(b *testing.B, url string) (time.Duration, int, map[string]*dto.MetricFamily) {
	begin := time.Now()
	resp, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	took := time.Since(begin)
	if err != nil {
		b.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(page)))
	if err != nil {
		b.Fatal(err)
	}
	return took, len(page), families
}

func residentMiB(b *testing.B, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no VmRSS in /proc")
	return 0
}

// delayP99 returns the bound of the bucket that holds the 99th percentile, in
// seconds: the true value is at most that.
func delayP99(f *dto.MetricFamily) float64 {
	for _, m := range f.GetMetric() {
		h := m.GetHistogram()
		for _, bucket := range h.GetBucket() {
			if float64(bucket.GetCumulativeCount()) >= 0.99*float64(h.GetSampleCount()) {
				return bucket.GetUpperBound()
			}
		}
	}
	return 0
}
