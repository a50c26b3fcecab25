package sweep

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
	"tokprobe/probe/slo"
)

func pageOf(w world) func(context.Context) ([]byte, error) {
	client := &http.Client{Transport: w.Transport()}
	return func(ctx context.Context) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sim/metrics", nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		return io.ReadAll(resp.Body)
	}
}

func TestReadServerPage(t *testing.T) {
	none := probe.Opt[float64]{}
	for name, tt := range map[string]struct {
		page string
		want serverPage
	}{
		"newer spelling": {`# HELP vllm:num_requests_waiting Number of requests waiting.
vllm:num_requests_waiting{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="0",model_name="m"} 5.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:num_preemptions_total{engine="0",model_name="m"} 7.0
`, serverPage{probe.Some(3.0), probe.Some(5.0), probe.Some(0.25), probe.Some(7.0)}},
		"older spelling": {"vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.5 1767000001000\n", serverPage{none, none, probe.Some(0.5), none}},
		"two engines": {`vllm:num_requests_waiting{engine="0",model_name="m"} 3
vllm:num_requests_waiting{engine="1",model_name="m"} 4
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.25
`, serverPage{probe.Some(7.0), none, probe.Some(0.5), none}},
		"other model":  {"vllm:num_requests_waiting{model_name=\"other\"} 3\n", serverPage{}},
		"brace within": {"vllm:num_requests_waiting{model_name=\"m\",x=\"}{\"} 3\n", serverPage{probe.Some(3.0), none, none, none}},
		"no labels":    {"vllm:num_requests_waiting 3\n", serverPage{probe.Some(3.0), none, none, none}},
		"not a number": {"vllm:num_requests_waiting NaN\nvllm:num_requests_running\nvllm:num_requests_running{\n", serverPage{}},
		"others":       {"go_goroutines 5\nvllm:other 1\n", serverPage{}},
	} {
		if got := readServerPage([]byte(tt.page), "m"); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestPreemptionsDuringTheLevel: 5 → 9 and, after a restart, 1 → 2.
func TestPreemptionsDuringTheLevel(t *testing.T) {
	var g serverPages
	for _, n := range []float64{5, 9} {
		g.add(serverPage{preemptions: probe.Some(n)})
	}
	if got := g.load().Preemptions; got != probe.Some(4.0) {
		t.Errorf("%v preemptions, want 4", got)
	}
	for _, n := range []float64{1, 2} {
		g.add(serverPage{preemptions: probe.Some(n)})
	}
	if got := g.load().Preemptions; got != probe.Some(1.0) {
		t.Errorf("%v preemptions after the restart, want 1", got)
	}
	if (&serverPages{}).load() != nil {
		t.Error("a load without a page")
	}
}

func TestFuse(t *testing.T) {
	ok := func(ttft time.Duration) probe.Result { return probe.Result{Outcome: probe.OK, TTFT: probe.Some(ttft)} }
	bad := probe.Result{Outcome: probe.TimeoutFirstToken}
	for name, tt := range map[string]struct {
		give []probe.Result
		want bool
	}{
		"healthy":                {[]probe.Result{ok(100 * ms), ok(500 * ms)}, false},
		"slow":                   {[]probe.Result{ok(501 * ms)}, true},
		"one failure":            {[]probe.Result{bad, ok(100 * ms), bad}, false},
		"two failures":           {[]probe.Result{ok(100 * ms), bad, bad}, true},
		"refused twice":          {[]probe.Result{{Outcome: probe.RateLimited}, {Outcome: probe.RateLimited}}, true},
		"our own lag":            {[]probe.Result{{Outcome: probe.OK, TTFT: probe.Some(time.Second), LagSuspect: true}}, false},
		"cut between":            {[]probe.Result{bad, {Cut: true}, bad}, true},
		"answer kind is no harm": {[]probe.Result{{Outcome: probe.Assertion}, {Outcome: probe.Assertion}}, false},
	} {
		f := NewFuse(100*ms, 0)
		for _, r := range tt.give {
			f.Record(r)
		}
		blown := false
		select {
		case <-f.Blown():
			blown = true
		default:
		}
		if blown != tt.want || (f.Reason() != "") != tt.want {
			t.Errorf("%s: blown %v (%s), want %v", name, blown, f.Reason(), tt.want)
		}
	}
	patient := NewFuse(100*ms, 20)
	patient.Record(ok(2000 * ms))
	if patient.Reason() != "" {
		t.Errorf("20 times the median is allowed: %s", patient.Reason())
	}
	patient.Record(ok(2001 * ms))
	if !strings.Contains(patient.Reason(), "over 20 times its median of 100ms") {
		t.Errorf("over 20 times the median: %q", patient.Reason())
	}
	unknown := NewFuse(0, 0)
	unknown.Record(ok(time.Hour))
	if unknown.Reason() != "" {
		t.Errorf("a TTFT was compared with an unknown median: %s", unknown.Reason())
	}
}

func TestHostLock(t *testing.T) {
	l := &HostLock{Dir: t.TempDir()}
	release, err := l.Acquire("http://10.0.0.5:8000/v1")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := l.Acquire("https://10.0.0.5:8000"); !errors.As(err, &busy) || busy.Host != "10.0.0.5:8000" {
		t.Errorf("the second sweep got %v", err)
	}
	if other, err := l.Acquire("http://10.0.0.5:8001"); err != nil {
		t.Errorf("another port is busy: %v", err)
	} else {
		other()
	}
	release()
	if again, err := l.Acquire("http://10.0.0.5:8000"); err != nil {
		t.Errorf("still busy after the release: %v", err)
	} else {
		again()
	}
	if _, err := (&HostLock{Dir: "/does/not/exist"}).Acquire("http://h"); err != nil {
		t.Errorf("no folder for locks is an error: %v", err)
	}
	for base, want := range map[string]string{"https://API.example.com/x": "api.example.com:443", "http://h": "h:80", "http://[::1]:8000": "::1:8000"} {
		if got := hostPort(base); got != want {
			t.Errorf("%s leads to %s, want %s", base, got, want)
		}
	}
}

// TestAuto: 4 slots hold at most 4 streams before the queue; an SLO of 700 ms
// E2E holds up to 8, whose answers take 640 ms at best.
func TestAuto(t *testing.T) {
	p := plan(capacity.Concurrency)
	p.Auto = &Auto{MaxLoad: 64}
	r := sweepOf(t, sim.Config{Engine: slotted()}, p).Report
	if r.Knee.Load != probe.Some(4.0) {
		t.Errorf("knee %+v, want 4; loads %v", r.Knee, r.Conditions.Ladder)
	}
	if !slices.Equal(r.Conditions.Ladder, []float64{1, 2, 4, 5, 6, 8}) {
		t.Errorf("loads %v, want doubling to 8 and halving back to 5", r.Conditions.Ladder)
	}
	p.SLO = &slo.SLO{Name: "fast", Objectives: []slo.Objective{{SLI: slo.E2E, Below: 700 * ms, Ratio: 0.9}}}
	r = sweepOf(t, sim.Config{Engine: slotted()}, p).Report
	if r.MostLoadUnderSLO != probe.Some(8.0) || !slices.Equal(r.Conditions.Ladder, []float64{1, 2, 4, 8, 9, 10, 12, 16}) {
		t.Errorf("most load under the SLO %v, want 8; loads %v, want doubling to 16 and halving back to 9", r.MostLoadUnderSLO, r.Conditions.Ladder)
	}
	p.SLO, p.Auto.MaxLoad = nil, 3
	if r = sweepOf(t, fixed(), p).Report; r.Knee.AtLeast != probe.Some(3.0) {
		t.Errorf("knee %+v, want at least the 3 that were allowed", r.Knee)
	}
}

// TestServerPagesOfShortLevels: 20 answers of 40 ms over 8 streams, 4 at a time,
// last some 0.2 s. What the server said comes from the middle of it.
func TestServerPagesOfShortLevels(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted()}, func(t *testing.T, w world) {
		p := plan(capacity.Concurrency, 2, 8)
		p.Scheduled, p.Prompts = true, []probe.Prompt{prompt(4)}
		result, err := Run(t.Context(), p, Env{Endpoint: w.endpoint, ServerMetrics: pageOf(w)})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct{ running, waiting float64 }{{2, 0}, {4, 3}} {
			got := result.Report.Levels[i].Server
			if got == nil || got.RunningMax != probe.Some(want.running) || got.WaitingMax.V < want.waiting {
				t.Errorf("level %d: %+v, want %g running and at least %g waiting", i, got, want.running, want.waiting)
			}
		}
	})
}

// TestServerPagesThatCannotBeRead: said once, not level by level.
func TestServerPagesThatCannotBeRead(t *testing.T) {
	for want, page := range map[string]func(context.Context) ([]byte, error){
		"the server's own metrics could not be read: status 404": func(context.Context) ([]byte, error) { return nil, errors.New("status 404") },
		"the server's own metrics say nothing of sim-fast: want vllm:num_requests_waiting and its like": func(context.Context) ([]byte, error) {
			return []byte("go_goroutines 12\n"), nil
		},
	} {
		simulate(t, fixed(), func(t *testing.T, w world) {
			result, err := Run(t.Context(), plan(capacity.Concurrency, 1, 2), Env{Endpoint: w.endpoint, ServerMetrics: page})
			if err != nil {
				t.Fatal(err)
			}
			said := slices.DeleteFunc(slices.Clone(result.Report.Warnings), func(s string) bool { return s != want })
			if len(said) != 1 {
				t.Errorf("warnings %q, want once %q", result.Report.Warnings, want)
			}
		})
	}
}

// TestAssumptions: a promise for long prompts is not proven with short ones.
func TestAssumptions(t *testing.T) {
	p := plan(capacity.Concurrency, 1)
	p.SLO = &slo.SLO{Name: "x", Objectives: []slo.Objective{{SLI: slo.TTFT, Below: time.Second, Ratio: 0.9}},
		Conditions: slo.Conditions{InputTokensP95: 8000, OutputTokensP95: 8, Rate: 2}}
	text := strings.Join(sweepOf(t, fixed(), p).Report.Warnings, "\n")
	for _, want := range []string{"allows input of 8000 tokens", "assumes output of at most 8 tokens (P95), and this sweep had 32", "assumes 2 requests a second, and it was seen to hold up to 1.2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning says %q in:\n%s", want, text)
		}
	}
}
