package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The proof: simulated endpoints, the daemon as it is built, a real Prometheus,
// a real Alertmanager and a receiver of its webhooks. Rules and routes are the
// shipped ones; only time runs faster: one second here is a minute there.
const (
	proofScale = 1.0 / 60
	proofEvery = 500 * time.Millisecond // a probe each 30 s
)

// pair is one Prometheus and one Alertmanager that belong together.
type pair struct{ name, prometheus, alertmanager string }

// pairs are those of the distribution (2.42 and 0.25 on Debian 12) and those
// that .ci/tools builds.
func pairs() []pair {
	tools := os.Getenv("TOKPROBE_TOOLS")
	if cache, err := os.UserCacheDir(); tools == "" && err == nil {
		tools = filepath.Join(cache, "tokprobe-tools", "bin")
	}
	return []pair{
		{"distribution", "prometheus", "prometheus-alertmanager"},
		{"prometheus3", filepath.Join(tools, "prometheus"), filepath.Join(tools, "alertmanager")},
	}
}

// TestProof needs a machine that is otherwise quiet: it measures seconds. So it
// only runs where it is asked for.
func TestProof(t *testing.T) {
	if testing.Short() || os.Getenv("TOKPROBE_PROOF") == "" {
		t.Skip("SKIPPED: the proof on a real Prometheus and Alertmanager (4 minutes): TOKPROBE_PROOF=1 go test -run TestProof -v ./deploy")
	}
	bin := filepath.Join(t.TempDir(), "tokprobe")
	if out, err := exec.Command("go", "build", "-o", bin, "tokprobe/cmd/tokprobe").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, p := range pairs() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{p.prometheus, p.alertmanager} {
				if _, err := exec.LookPath(file); err != nil {
					t.Skipf("SKIPPED: no %s here (Debian: apt-get install prometheus prometheus-alertmanager; Prometheus 3: .ci/tools)", file)
				}
			}
			table := &proofTable{}
			t.Run("stories", func(t *testing.T) {
				t.Run("faults", func(t *testing.T) { t.Parallel(); proveFaults(t, bin, p, table) })
				t.Run("killed", func(t *testing.T) { t.Parallel(); proveKilled(t, bin, p, table) })
			})
			t.Logf("%s\n%s", p.name, table)
		})
	}
}

// want is an alert that must reach a receiver.
type want struct {
	alert, severity string
	labels          map[string]string
	says            string // part of the description
}

// story is what happens to one target, and everything that may come of it.
type story struct {
	name, target string
	faults       string
	want         []want
	may          []string // more that is right, if it comes: depends on how long the fault lasts
	patience     time.Duration
}

func stories() []story {
	return []story{
		{
			name: "b: first token ×3", target: "slow", faults: `{"ttft_factor": 3}`, patience: 75 * time.Second,
			want: []want{
				{"TokprobeTTFTBudgetBurn", "page", map[string]string{"slo": "interactive", "sli": "ttft"}, "99 % of probes have TTFT of at most 200ms"},
				{"TokprobeTTFTRegression", "ticket", map[string]string{"sli": "ttft"}, "TTFT P95 over the last 120 probes is"},
			},
		},
		{
			name: "c: hangs, /health 200", target: "hung", faults: `{"hang": true}`, patience: 30 * time.Second,
			want: []want{
				{"TokprobeHardDown", "page", nil, "of the last 6 probes failed"},
				{"TokprobeHungButHealthy", "page", nil, "the engine hangs and no load balancer will notice"},
			},
			// Before hard-down holds them back, or after it has ended.
			may: []string{"TokprobeSuccessBudgetBurn", "TokprobeTTFTBudgetBurn"},
		},
		{
			name: "d: answers 429", target: "limited", faults: `{"error_rate": 1, "error_class": "http_429"}`, patience: 30 * time.Second,
			want: []want{{"TokprobeQuotaExceeded", "ticket", nil, "answered 429"}},
			may:  []string{"TokprobeNoVerdict"},
		},
	}
}

// baseline is how long all is well first: the past that a regression is
// compared with begins 120 s before now, and 60 samples must be there by then.
const baseline = 95 * time.Second

// proveFaults lets three endpoints fail side by side, a fourth stay well, and
// heals them: what must ring rings, what rang is resolved, nothing else comes.
func proveFaults(t *testing.T, bin string, p pair, table *proofTable) {
	s := startStack(t, bin, p, []string{"steady", "slow", "hung", "limited"})
	time.Sleep(baseline)
	s.onlyThese(t, nil)
	table.add("a: healthy", "TokprobeWatchdog", s.hook.await(t, "TokprobeWatchdog", "", s.began, 10*time.Second).Sub(s.began), 0)
	t.Run("side by side", func(t *testing.T) {
		for _, x := range stories() {
			t.Run(x.target, func(t *testing.T) { t.Parallel(); s.play(t, x, table) })
		}
	})
	may := map[string][]string{}
	for _, x := range stories() {
		may[x.target] = append(may[x.target], x.may...)
		for _, w := range x.want {
			may[x.target] = append(may[x.target], w.alert)
		}
	}
	s.onlyThese(t, may)
}

// play breaks the target of a story, waits for its alerts, heals it, and waits
// until they are resolved.
func (s *stack) play(t *testing.T, x story, table *proofTable) {
	broken := time.Now()
	s.setFaults(t, x.target, x.faults)
	arrived := make([]time.Time, len(x.want))
	for i, w := range x.want {
		arrived[i] = s.hook.await(t, w.alert, x.target, broken, x.patience)
		s.checkAlert(t, x.target, w)
	}
	healed := time.Now()
	s.setFaults(t, x.target, `[]`)
	for i, w := range x.want {
		resolved := s.hook.awaitResolved(t, w.alert, x.target, healed, 75*time.Second)
		table.add(x.name, w.alert, arrived[i].Sub(broken), resolved.Sub(healed))
	}
}

// proveKilled kills the daemon while all is well, and again while its target
// is down: each time one alert comes, that nobody watches any more.
func proveKilled(t *testing.T, bin string, p pair, table *proofTable) {
	s := startStack(t, bin, p, []string{"lone"})
	time.Sleep(20 * time.Second)
	s.onlyThese(t, nil)

	killed := time.Now()
	s.daemon.kill()
	arrived := s.hook.await(t, "TokprobeAbsent", "", killed, 20*time.Second)
	time.Sleep(10 * time.Second)
	s.onlyThese(t, map[string][]string{"": {"TokprobeAbsent"}})
	back := time.Now()
	s.startDaemon(t)
	resolved := s.hook.awaitResolved(t, "TokprobeAbsent", "", back, 30*time.Second)
	table.add("e: daemon killed", "TokprobeAbsent", arrived.Sub(killed), resolved.Sub(back))

	s.setFaults(t, "lone", `{"hang": true}`)
	s.hook.await(t, "TokprobeHardDown", "lone", back, 30*time.Second)
	killed = time.Now()
	s.daemon.kill()
	s.allSuppressed(t, "lone")
	arrived = s.hook.await(t, "TokprobeAbsent", "", killed, 20*time.Second)
	table.add("e: killed during an outage", "TokprobeAbsent", arrived.Sub(killed), 0)
	s.setFaults(t, "lone", `[]`)
	for _, n := range s.hook.since(arrived.Add(10 * time.Second)) {
		t.Errorf("came although nobody watches: %s", n)
	}
	s.onlyThese(t, map[string][]string{"": {"TokprobeAbsent"}, "lone": {"TokprobeHardDown", "TokprobeHungButHealthy", "TokprobeSuccessBudgetBurn", "TokprobeTTFTBudgetBurn"}})
}

// proofTable is what people read.
type proofTable struct{ lines []string }

func (p *proofTable) add(story, alert string, fired, resolved time.Duration) {
	end := "-"
	if resolved > 0 {
		end = fmt.Sprintf("%.1f s", resolved.Seconds())
	}
	p.lines = append(p.lines, fmt.Sprintf("%-28s %-26s %8.1f s %10s", story, alert, fired.Seconds(), end))
}

func (p *proofTable) String() string {
	head := fmt.Sprintf("%-28s %-26s %10s %10s", "story", "alert", "to webhook", "to resolve")
	return head + "\n" + strings.Join(p.lines, "\n")
}
