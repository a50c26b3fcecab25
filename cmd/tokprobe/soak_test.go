package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"tokprobe/probe/sim"
)

// The soak: 300 probes and a sweep against simulators that flap through all
// faults, with reloads in between. TOKPROBE_SOAK says for how long: CI runs two
// minutes of it, .ci/soak an hour.
const (
	soakModels = 30
	soakProbes = 10
	soakEvery  = 3 * time.Second
)

// soak is one run: a daemon in a process of its own, simulators in this one.
type soak struct {
	t       *testing.T
	main    *sim.Server // what the 300 probes watch; its record must add up
	bases   [3]string   // main, swept, churn
	path    string      // of the configuration
	url     string
	reloads int
}

func TestSoak(t *testing.T) {
	text, asked := os.LookupEnv("TOKPROBE_SOAK")
	if !asked {
		t.Skip("set TOKPROBE_SOAK=2m (or run .ci/soak for an hour): it wants the machine for itself")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	s := startSoak(t)
	s.flap(length / 4) // buffers, histories and pools fill up
	first := s.look()
	s.flap(length * 3 / 4)
	last := s.look()
	t.Logf("start: %v", first)
	t.Logf("end:   %v after %d reloads", last, s.reloads)
	first.compare(t, last)
	s.settle()
	s.account()
}

// startSoak starts everything and waits for the first answers.
func startSoak(t *testing.T) *soak {
	s := &soak{t: t, path: filepath.Join(t.TempDir(), "soak.yaml")}
	for i := range s.bases {
		server, base := soakSim(t)
		s.bases[i] = base
		if i == 0 {
			s.main = server
		}
	}
	s.write(soakEvery, false)
	binary := buildBinary(t)
	address := freeAddress(t)
	s.url = "http://" + address
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	start(t, log, binary, "serve", "--config.file", s.path, "--web.listen-address", address, "--web.enable-lifecycle", "--log.level", "error", "--log.format", "json")
	waitFor(t, s.url+"/-/ready")
	return s
}

// soakSim serves a fast endpoint whose fault draws are repeatable.
func soakSim(t *testing.T) (*sim.Server, string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	models := make([]string, soakModels)
	for i := range models {
		models[i] = fmt.Sprintf("m%02d", i)
	}
	server := sim.New(sim.Config{Models: models, Seed: 7, Engine: sim.Engine{FixedTTFT: 20 * time.Millisecond, FixedTPOT: 3 * time.Millisecond}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(ctx, ln) //nolint:errcheck // ends with ctx
	}()
	t.Cleanup(func() {
		cancel()
		server.Close()
		<-done
	})
	return server, "http://" + ln.Addr().String()
}

// write writes the configuration. The Anthropic protocol has nothing to learn,
// so no calibration adds to the endpoint's record; every other reload has one
// more target, which comes and goes with its series.
func (s *soak) write(every time.Duration, churn bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "targets:\n  - {name: main, provider: anthropic, base_url: %q, models: [", s.bases[0])
	for i := range soakModels {
		fmt.Fprintf(&b, "m%02d, ", i)
	}
	fmt.Fprintf(&b, "]}\n  - {name: swept, provider: vllm, base_url: %q, models: [m00]}\n", s.bases[1])
	if churn {
		fmt.Fprintf(&b, "  - {name: churn, provider: vllm, base_url: %q, models: [m00, m01]}\n", s.bases[2])
	}
	b.WriteString("prompts: [{name: p, text: hello, max_tokens: 8}]\nprobes:\n")
	for i := range soakProbes {
		fmt.Fprintf(&b, "  - {name: p%d, prompt: p, every: %s, slo: s}\n", i, every)
	}
	b.WriteString("sweeps: [{name: ladder, targets: [swept], cron: \"0 0 1 1 *\", prompt: p, ladder: {concurrency: [1, 2]}, requests: 4, max_duration: 30s, abort: off}]\n")
	// Small histories are full before the first look.
	b.WriteString("history: {results: 3, failures: 3}\n")
	b.WriteString("slos: [{name: s, window: 30d, success: 99.5%, ttft: {below: 1s, objective: 95%}}]\n")
	if err := os.WriteFile(s.path, []byte(b.String()), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) post(path string) int {
	resp, err := http.Post(s.url+path, "", nil)
	if err != nil {
		s.t.Fatalf("the daemon is gone: %v", err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func (s *soak) reload(every time.Duration, churn bool) {
	s.write(every, churn)
	if code := s.post("/-/reload"); code != http.StatusOK {
		s.t.Fatalf("reload answers %d", code)
	}
	s.reloads++
}

// faults is every way to fail that the simulator has, one after the other,
// with health in between.
func soakFaults() []sim.Faults {
	list := []sim.Faults{{}, {Hang: true}, {}, {Cut: "truncate", CutRate: 0.5, CutAfterTokens: 3}, {Cut: "reset", CutRate: 0.5, CutAfterTokens: 3},
		{StallRate: 0.3, StallAfterTokens: 3}, {Coalesce: true}, {SlowHeaders: 300 * time.Millisecond}, {TTFTFactor: 5}}
	for _, c := range sim.Classes() {
		list = append(list, sim.Faults{ErrorRate: 0.5, ErrorClass: c.Name, ErrorAfterTokens: 2})
	}
	return list
}

// flap goes through the faults, one every few seconds, reloading at each step.
func (s *soak) flap(length time.Duration) {
	list := soakFaults()
	step := max(length/time.Duration(len(list)), time.Second)
	if step > 20*time.Second {
		step = 20 * time.Second
	}
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for i, end := 0, time.Now().Add(length); time.Now().Before(end); i++ {
		if err := s.main.SetFaults(list[i%len(list)]); err != nil {
			s.t.Fatal(err)
		}
		s.reload(soakEvery, i%2 == 0)
		if i%8 == 0 {
			s.post("/api/v1/sweeps/ladder/run") // refused while one runs, which is fine
		}
		<-ticker.C
	}
}

// settle ends the load: health, and an interval so long that nothing is due,
// until the endpoint's record stands still.
func (s *soak) settle() {
	if err := s.main.SetFaults(); err != nil {
		s.t.Fatal(err)
	}
	s.reload(30*24*time.Hour, false)
	eventually(s.t, 30*time.Second, "quiet", func() bool {
		before := s.main.Stats()
		time.Sleep(2 * time.Second) // longer than any limit of a probe
		after := s.main.Stats()
		return after.InFlight == 0 && after.Requests == before.Requests
	})
}

// account holds every due tick and every outcome against the endpoint's record.
func (s *soak) account() {
	families := (&running{url: s.url}).metrics(s.t)
	total := func(name string, labels map[string]string) float64 {
		sum := 0.0
		for _, m := range families[name].GetMetric() {
			if hasLabels(m, labels) {
				sum += m.GetCounter().GetValue()
			}
		}
		return sum
	}
	main := map[string]string{"target": "main"}
	due, started, skipped := total("tokprobe_probes_due_total", main), total("tokprobe_probes_started_total", main), total("tokprobe_probes_skipped_total", main)
	if due != started+skipped || started == 0 {
		s.t.Errorf("due %v, started %v + skipped %v", due, started, skipped)
	}
	stats := s.main.Stats()
	outcomes := total("tokprobe_probes_total", main)
	s.t.Logf("due %v = started %v + skipped %v; outcomes %v; the endpoint's record %d: %v", due, started, skipped, outcomes, stats.Requests, stats.Outcomes)
	if outcomes != started || int(outcomes) != stats.Requests {
		s.t.Errorf("%v outcomes of %v started probes, the endpoint counted %d requests", outcomes, started, stats.Requests)
	}
	// Outcomes that no limit of ours can turn into another one.
	for _, class := range []string{"rate_limited", "auth", "not_found", "bad_request", "redirect", "stream_error", "content_filter", "server_error", "overloaded", "empty"} {
		if got := total("tokprobe_probes_total", map[string]string{"target": "main", "outcome": class}); int(got) != stats.Outcomes[class] || got == 0 {
			s.t.Errorf("%v probes ended %s, the endpoint's record has %d", got, class, stats.Outcomes[class])
		}
	}
}

func hasLabels(m *dto.Metric, want map[string]string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if v, asked := want[l.GetName()]; asked && v == l.GetValue() {
			found++
		}
	}
	return found == len(want)
}

// footprint is what must stay flat.
type footprint struct {
	residentMiB, goroutines, descriptors float64
	series                               int
}

func (f footprint) String() string {
	return fmt.Sprintf("%.1f MiB resident, %.0f goroutines, %.0f descriptors, %d series", f.residentMiB, f.goroutines, f.descriptors, f.series)
}

// look reads the footprint without the target that comes and goes.
func (s *soak) look() footprint {
	s.reload(soakEvery, false)
	families := (&running{url: s.url}).metrics(s.t)
	one := func(name string) float64 { v, _ := value(families, name, nil); return v }
	f := footprint{residentMiB: one("process_resident_memory_bytes") / (1 << 20), goroutines: one("go_goroutines"), descriptors: one("process_open_fds")}
	for name, family := range families {
		if strings.HasPrefix(name, "tokprobe_probe") {
			f.series += len(family.GetMetric())
		}
	}
	return f
}

// compare allows what a busy moment may differ by: probes in flight cost a few
// goroutines and a connection each.
func (f footprint) compare(t *testing.T, end footprint) {
	if end.residentMiB > f.residentMiB*1.5+20 { // the Go heap breathes; a leak of 1 KB a probe would add 8 MB a minute
		t.Errorf("resident memory grew from %.1f to %.1f MiB", f.residentMiB, end.residentMiB)
	}
	if end.series != f.series {
		t.Errorf("%d series became %d", f.series, end.series)
	}
	if end.goroutines > f.goroutines+100 || end.descriptors > f.descriptors+100 {
		t.Errorf("goroutines %v → %v, descriptors %v → %v", f.goroutines, end.goroutines, f.descriptors, end.descriptors)
	}
}
