package exporter

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// value returns the value of the one series that has all the labels, given as
// name, value, name, value; false if there is none.
func value(t *testing.T, e *Exporter, name string, labels ...string) (float64, bool) {
	t.Helper()
	families, err := e.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.Metric {
			if !matches(m, labels) {
				continue
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				return m.Counter.GetValue(), true
			case dto.MetricType_HISTOGRAM:
				return float64(m.Histogram.GetSampleCount()), true
			}
			return m.Gauge.GetValue(), true
		}
	}
	return 0, false
}

func matches(m *dto.Metric, labels []string) bool {
	have := map[string]string{}
	for _, l := range m.Label {
		have[l.GetName()] = l.GetValue()
	}
	for i := 0; i < len(labels); i += 2 {
		if have[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

func wantValue(t *testing.T, e *Exporter, want float64, name string, labels ...string) {
	t.Helper()
	if got, ok := value(t, e, name, labels...); !ok || got != want {
		t.Errorf("%s%v = %v (there: %v), want %v", name, labels, got, ok, want)
	}
}

func wantAbsent(t *testing.T, e *Exporter, name string, labels ...string) {
	t.Helper()
	if got, ok := value(t, e, name, labels...); ok {
		t.Errorf("%s%v = %v, want it absent", name, labels, got)
	}
}

// TestPageIsOfTheCatalogue: every family is in the list, with its type, help
// and labels; and after one probe and one sweep every one of the list is there.
func TestPageIsOfTheCatalogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		e.Apply(testRoster())
		script(e)
		started(e)
		done(e, okResult(100*ms))
		fillRest(e)
		families, err := e.Gather()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, f := range families {
			if i > 0 && families[i-1].GetName() >= f.GetName() {
				t.Errorf("%s does not come before %s", families[i-1].GetName(), f.GetName())
			}
			if !strings.HasPrefix(f.GetName(), catalog.Prefix) {
				continue
			}
			seen[f.GetName()] = true
			checkFamily(t, f)
		}
		for _, m := range catalog.All() {
			if !seen[m.Name] {
				t.Errorf("%s is in the catalogue but not on the page", m.Name)
			}
		}
	})
}

// fillRest sets what a scripted probe does not touch.
func fillRest(e *Exporter) {
	e.SetReload(true, time.Now())
	e.SetHealth("vllm-a", true)
	e.SetBudgetRemaining("vllm-a", "probe", 1)
	e.SetCanary("network", true)
	e.Record(probe.Tick{ID: chatID, Stage: probe.TickDone, Result: func() probe.Result {
		r := okResult(100 * ms)
		r.Phases.DNS, r.Phases.TLS, r.Phases.Auth = dur(ms), dur(ms), dur(ms)
		return r
	}()})
	id := SweepID{"vllm-a", "qwen", "nightly"}
	e.SweepStarted(id)
	e.SweepDone(id, "ok", time.Minute, time.Now())
	one := probe.Some(1.0)
	stats := capacity.Summary{N: 20, P50: 1, P90: 2, P95: 3, P99: 4}
	e.SetSweepReport(id, capacity.Report{
		Mode: capacity.Concurrency, Conditions: capacity.Conditions{Scenario: "T2"},
		Knee: capacity.Knee{Reached: true, Load: one}, Recommended: &capacity.Recommended{Load: 1},
		PeakOutputThroughput: one, Limits: []capacity.Wall{{Limit: capacity.Queue}},
		Levels: []capacity.Level{{Load: 1, RequestThroughput: one, OutputThroughput: one, TokensPerMinute: one, ErrorRatio: one, Attainment: one,
			Stats: map[capacity.Metric]capacity.Summary{capacity.TTFT: stats, capacity.TPOT: stats, capacity.E2E: stats}}},
	}, time.Now())
}

func checkFamily(t *testing.T, f *dto.MetricFamily) {
	t.Helper()
	m, ok := catalog.Lookup(f.GetName())
	if !ok {
		t.Errorf("%s is on the page but not in the catalogue", f.GetName())
		return
	}
	if got := strings.ToLower(f.GetType().String()); got != string(m.Type) {
		t.Errorf("%s is a %s, want %s", m.Name, got, m.Type)
	}
	if f.GetHelp() != m.Help && m.Name != catalog.BuildInfo {
		t.Errorf("%s: help %q, want %q", m.Name, f.GetHelp(), m.Help)
	}
	for _, series := range f.Metric {
		for i, l := range series.Label {
			if i > 0 && series.Label[i-1].GetName() >= l.GetName() {
				t.Errorf("%s: labels not sorted: %v", m.Name, series.Label)
			}
			if !m.HasLabel(l.GetName()) && m.Name != catalog.TargetInfo {
				t.Errorf("%s has label %q, which the catalogue does not know", m.Name, l.GetName())
			}
			if list := m.Enum[l.GetName()]; list != nil && !known(list, l.GetValue()) {
				t.Errorf("%s: %s=%q is not in the closed list", m.Name, l.GetName(), l.GetValue())
			}
		}
		if m.Name != catalog.TargetInfo && len(series.Label) != len(m.Labels) {
			t.Errorf("%s: labels %v, want %v", m.Name, series.Label, m.Labels)
		}
	}
}

// TestLint: promlint has one complaint, and that one is the contract: exact
// quantiles are gauges with label quantile, since a summary would need sum and
// count of a window.
func TestLint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		e.Apply(testRoster())
		script(e)
		fillRest(e)
		// Gatherers checks what a registry would: no series twice, one type,
		// valid text.
		problems, err := testutil.GatherAndLint(prometheus.Gatherers{e})
		if err != nil {
			t.Fatal(err)
		}
		quantiles := map[string]bool{catalog.Window: true, catalog.LevelTTFT: true, catalog.LevelTPOT: true, catalog.LevelE2E: true}
		for _, p := range problems {
			if quantiles[p.Metric] && p.Text == `non-summary metrics should not have "quantile" label` {
				continue
			}
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	})
}

// TestZeroFromTheStart: before any probe every enumerable counter and
// histogram is there with 0, and no result is.
func TestZeroFromTheStart(t *testing.T) {
	e := New(Config{NoRuntime: true})
	e.Apply(testRoster())
	families, err := e.Gather()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, f := range families {
		m, _ := catalog.Lookup(f.GetName())
		for _, series := range f.Metric {
			count[f.GetName()]++
			if series.Counter.GetValue() != 0 || series.Histogram.GetSampleCount() != 0 {
				t.Errorf("%s is not 0: %v", f.GetName(), series)
			}
		}
		if m.Scope == catalog.ScopeProbe && m.Type == catalog.Gauge {
			switch m.Name {
			case catalog.Interval, catalog.Timeout, catalog.RecentFailures, catalog.WindowSamples,
				catalog.SLOObjective, catalog.SLOThreshold:
			default:
				t.Errorf("%s is there before any probe", m.Name)
			}
		}
	}
	for name, want := range map[string]int{
		catalog.Probes: 23, catalog.ProbesSkipped: 7, catalog.Tokens: 4, catalog.Cost: 1, catalog.SLOEvents: 9,
		catalog.TTFT: 1, catalog.TPOT: 1, catalog.ChunkGap: 1, catalog.SweepRuns: 4, catalog.SweepRequests: 23,
		catalog.Reloads: 2, catalog.MaintenanceActive: 1, catalog.SweepInProgress: 1,
	} {
		if count[name] != want {
			t.Errorf("%s has %d series, want %d", name, count[name], want)
		}
	}
}

// TestFailureRemovesWhatItDidNotMeasure covers the last_* gauges.
func TestFailureRemovesWhatItDidNotMeasure(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	done(e, okResult(200*ms))
	wantValue(t, e, 0.2, catalog.LastTTFT)
	wantValue(t, e, 0.02, catalog.LastTPOT)
	wantValue(t, e, 1.47, catalog.LastE2E)
	wantValue(t, e, 0.01, catalog.LastTail)
	wantValue(t, e, 64/1.47, catalog.LastOutputRate)
	wantValue(t, e, 25, catalog.LastPromptTokens)
	wantValue(t, e, 0.002, catalog.LastPhase, "phase", "connect")
	wantAbsent(t, e, catalog.LastPhase, "phase", "dns")
	wantValue(t, e, 1, catalog.ProbeSuccess)

	done(e, probe.Result{ID: chatID, Outcome: probe.Stall, TTFT: dur(300 * ms), OutputTokens: probe.Some[int64](3)})
	wantValue(t, e, 0.3, catalog.LastTTFT)
	for _, name := range []string{catalog.LastTPOT, catalog.LastE2E, catalog.LastTail, catalog.LastOutputRate,
		catalog.LastPromptTokens, catalog.LastPhase} {
		wantAbsent(t, e, name)
	}
	wantValue(t, e, 0, catalog.ProbeSuccess)
	wantValue(t, e, 1, catalog.TTFT) // the stall is in no histogram
	wantValue(t, e, 1, catalog.RecentFailures)
}

// TestKeptOutOfLatencies: what may not shape a latency is counted and no more.
func TestKeptOutOfLatencies(t *testing.T) {
	lag := okResult(900 * ms)
	lag.LagSuspect = true
	coalesced := okResult(900 * ms)
	coalesced.Coalesced = true
	tests := []struct {
		name                    string
		give                    probe.Tick
		ttft, tpot, suspect     float64
		good, bad, excluded     float64 // of sli="ttft"
		successGood, successOut float64 // of sli="success"
		dot                     bool
	}{
		{"ok", probe.Tick{Result: okResult(100 * ms)}, 1, 1, 0, 1, 0, 0, 1, 0, true},
		{"our lag", probe.Tick{Result: lag}, 0, 0, 1, 0, 0, 1, 0, 1, false},
		{"coalesced", probe.Tick{Result: coalesced}, 1, 0, 0, 0, 1, 0, 1, 0, true},
		{"bystander", probe.Tick{Result: okResult(900 * ms), Bystander: true}, 0, 0, 0, 0, 0, 1, 1, 0, true},
		{"maintenance", probe.Tick{Result: okResult(900 * ms), Maintenance: true}, 0, 0, 0, 0, 0, 1, 0, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Config{})
			e.Apply(testRoster())
			tt.give.ID, tt.give.Stage = chatID, probe.TickDone
			e.Record(tt.give)
			wantValue(t, e, 1, catalog.Probes, "outcome", "ok")
			wantValue(t, e, 64, catalog.Tokens, "type", "output")
			wantValue(t, e, tt.ttft, catalog.TTFT)
			wantValue(t, e, tt.ttft, catalog.WindowSamples, "sli", "ttft")
			wantValue(t, e, tt.tpot, catalog.TPOT)
			wantValue(t, e, tt.tpot, catalog.WindowSamples, "sli", "tpot")
			wantValue(t, e, tt.suspect, catalog.ProbesLagSuspect)
			wantValue(t, e, tt.good, catalog.SLOEvents, "sli", "ttft", "verdict", "good")
			wantValue(t, e, tt.bad, catalog.SLOEvents, "sli", "ttft", "verdict", "bad")
			wantValue(t, e, tt.excluded, catalog.SLOEvents, "sli", "ttft", "verdict", "excluded")
			wantValue(t, e, tt.successGood, catalog.SLOEvents, "sli", "success", "verdict", "good")
			wantValue(t, e, tt.successOut, catalog.SLOEvents, "sli", "success", "verdict", "excluded")
			if _, ok := value(t, e, catalog.LastTTFT); ok != tt.dot {
				t.Errorf("last_ttft there: %v, want %v", ok, tt.dot)
			}
		})
	}
}

// TestRecentFailures: service failures among the last six finished probes;
// our own and those of a maintenance window are finished but no failures.
func TestRecentFailures(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	fail := func(o probe.Outcome) { done(e, probe.Result{ID: chatID, Outcome: o}) }
	for i, o := range []probe.Outcome{probe.Connect, probe.Reset, probe.Auth, probe.Stall, probe.Short, probe.Empty} {
		fail(o)
		want := []float64{1, 2, 2, 3, 3, 4}[i]
		wantValue(t, e, want, catalog.RecentFailures)
	}
	done(e, okResult(100*ms)) // pushes connect out
	wantValue(t, e, 3, catalog.RecentFailures)
	e.Record(probe.Tick{ID: chatID, Stage: probe.TickDone, Maintenance: true, Result: probe.Result{Outcome: probe.Reset}})
	wantValue(t, e, 2, catalog.RecentFailures) // pushes reset out, adds none
}

func TestPromptTokensChanged(t *testing.T) {
	for cache, want := range map[probe.CacheMode]float64{"": 2, probe.CacheBust: 2, probe.CacheWarm: 0} {
		e := New(Config{})
		r := testRoster()
		r.Watches[0].Spec.Prompt.Cache = cache
		e.Apply(r)
		for _, n := range []int64{25, 25, 26, 25, -1} {
			result := okResult(100 * ms)
			result.PromptTokens = probe.Some(n)
			done(e, result)
		}
		wantValue(t, e, want, catalog.PromptTokenChange)
		wantValue(t, e, 101, catalog.Tokens, "type", "input")
	}
}

// TestOverlap: where overlap is not allowed, a skipped tick has no verdict.
func TestOverlap(t *testing.T) {
	for allowed, want := range map[bool]float64{true: 3, false: 1} {
		e := New(Config{})
		r := testRoster()
		r.Watches[0].AllowOverlap = allowed
		e.Apply(r)
		started(e)
		skipped(e, probe.SkipOverlap)
		skipped(e, probe.SkipOverlap)
		skipped(e, probe.SkipBudget)
		done(e, okResult(100*ms))
		wantValue(t, e, want, catalog.SLOEvents, "sli", "success", "verdict", "good")
		started(e)
		done(e, okResult(100*ms))
		wantValue(t, e, want+1, catalog.SLOEvents, "sli", "success", "verdict", "good")
		wantValue(t, e, 2, catalog.Probes, "outcome", "ok")
		wantValue(t, e, 5, catalog.ProbesDue)
	}
}

// TestApply: what is gone disappears, what stays keeps its counters, what is
// new starts at 0.
func TestApply(t *testing.T) {
	e := New(Config{NoRuntime: true})
	r := testRoster()
	e.Apply(r)
	e.SetHealth("vllm-a", true)
	e.SetBudgetRemaining("vllm-a", "probe", 10)
	for range 60 {
		started(e)
		done(e, okResult(100*ms))
	}
	wantValue(t, e, 0.1, catalog.Window, "sli", "ttft", "quantile", "0.5")

	more := testRoster()
	other := more.Watches[0]
	other.ID.Probe = "rag"
	more.Watches = append(more.Watches, other)
	more.Watches[0].SLOs = []slo.SLO{{Name: "interactive", Objectives: []slo.Objective{{SLI: slo.Success, Ratio: 0.9}}}, {Name: "new", Objectives: []slo.Objective{{SLI: slo.E2E, Below: time.Second}}}}
	more.Watches[0].Every = 10 * time.Second
	more.Watches[0].Hash, more.SLOHash = "changed", "def456"
	e.Apply(more)
	wantValue(t, e, 60, catalog.Probes, "probe", "chat", "outcome", "ok")
	wantValue(t, e, 0, catalog.Probes, "probe", "rag", "outcome", "ok")
	wantValue(t, e, 0, catalog.TTFT, "probe", "rag")
	wantValue(t, e, 60, catalog.SLOEvents, "probe", "chat", "slo", "interactive", "verdict", "good")
	wantValue(t, e, 0, catalog.SLOEvents, "probe", "chat", "slo", "new", "verdict", "bad")
	wantAbsent(t, e, catalog.SLOEvents, "probe", "chat", "sli", "ttft")
	wantValue(t, e, 10, catalog.Interval, "probe", "chat")
	wantValue(t, e, 0.9, catalog.SLOObjective, "probe", "chat")
	wantValue(t, e, 0.1, catalog.Window, "probe", "chat", "sli", "ttft") // the question did not change
	wantValue(t, e, 1, catalog.ConfigInfo, "slo_hash", "def456")
	wantAbsent(t, e, catalog.ConfigInfo, "slo_hash", "abc123")

	asked := testRoster()
	asked.Watches[0].Hash = "again"
	asked.Watches[0].Spec.Prompt.MaxTokens = 512
	e.Apply(asked)
	wantAbsent(t, e, catalog.Probes, "probe", "rag")
	wantAbsent(t, e, catalog.Window, "probe", "chat")
	wantValue(t, e, 0, catalog.WindowSamples, "probe", "chat", "sli", "ttft")
	wantValue(t, e, 60, catalog.Probes, "probe", "chat", "outcome", "ok")

	e.Apply(roster.Roster{})
	started(e)
	done(e, okResult(100*ms))
	e.SetHealth("vllm-a", true)
	e.SetMaintenance("vllm-a", true)
	e.SweepStarted(SweepID{"vllm-a", "qwen", "nightly"})
	if page := string(text(t, e)); strings.Contains(page, "vllm-a") {
		t.Errorf("the page still knows a target that is gone:\n%s", page)
	}
	e.Apply(testRoster())
	wantValue(t, e, 0, catalog.Probes, "outcome", "ok")
}

func TestCronInterval(t *testing.T) {
	e := New(Config{})
	r := testRoster()
	r.Watches[0].Every, r.Watches[0].Cron = 0, "0 9-17 * * 1-5"
	e.Apply(r)
	wantValue(t, e, 64*3600, catalog.Interval)
}

// TestWallsAgree: capacity and catalogue each hold the closed list, since the
// catalogue stands below.
func TestWallsAgree(t *testing.T) {
	var names []string
	for _, w := range capacity.WallNames() {
		names = append(names, string(w))
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(catalog.Walls()))
	if !slices.Equal(names, want) {
		t.Errorf("capacity knows %v, the catalogue %v", names, want)
	}
}

// TestPriceChange: money in another currency starts at 0.
func TestPriceChange(t *testing.T) {
	e := New(Config{})
	r := testRoster()
	r.Targets[0].Price = &roster.Price{Currency: "USD", Input: 3, Output: 15}
	e.Apply(r)
	done(e, okResult(100*ms))
	wantValue(t, e, (25*3+64*15)/1e6, catalog.Cost, "currency", "USD")
	r.Targets[0].Price = &roster.Price{Currency: "EUR", Output: 10}
	e.Apply(r)
	wantValue(t, e, 0, catalog.Cost, "currency", "EUR")
	wantAbsent(t, e, catalog.Cost, "currency", "USD")
	r.Targets[0].Price = nil
	e.Apply(r)
	wantAbsent(t, e, catalog.Cost)
}

// TestOddResults: what is counted beside the outcome, and what a lying or
// failing endpoint must not do to a number.
func TestOddResults(t *testing.T) {
	e := New(Config{NoRuntime: true})
	e.Apply(testRoster())
	early := time.Now()
	e.Record(probe.Tick{ID: chatID, Due: early, Started: early.Add(-time.Second)}) // a clock that jumped
	r := okResult(100 * ms)
	r.Coalesced, r.CacheSuspect, r.StaleConnections = true, true, 2
	r.CachedTokens = probe.Some[int64](1000) // of 25
	done(e, r)
	wantValue(t, e, 1, catalog.StreamsCoalesced)
	wantValue(t, e, 1, catalog.CacheSuspect)
	wantValue(t, e, 2, catalog.StaleConnections)
	wantValue(t, e, (25*0.3+64*15)/1e6, catalog.Cost) // as if all 25 were cached
	wantValue(t, e, 1, catalog.ClientLag)

	short := okResult(100 * ms)
	short.Outcome = probe.Short
	done(e, short)
	wantValue(t, e, 1.37, catalog.LastE2E)
	wantAbsent(t, e, catalog.LastOutputRate)
	done(e, probe.Result{ID: chatID, Outcome: probe.Connect, StaleConnections: -1})
	wantValue(t, e, 2, catalog.ClientLag) // no t0, no lag within it
	wantValue(t, e, 2, catalog.StaleConnections)
	if page := string(text(t, e)); !strings.Contains(page, "tokprobe_scheduler_delay_seconds_sum 0\n") {
		t.Errorf("a start before its due time is no negative delay")
	}
}

// TestFlood: 10,000 results with texts of their own change no label set.
func TestFlood(t *testing.T) {
	e := New(Config{NoRuntime: true})
	e.Apply(testRoster())
	started(e)
	done(e, okResult(100*ms))
	before := seriesOf(t, e)
	for i := range 10_000 {
		noise := fmt.Sprintf("noise-%d\"\n\x00\xff", i)
		r := okResult(100 * ms)
		r.Err, r.Hint, r.ServedModel, r.RequestID, r.FinishReason = noise, noise, noise, noise, noise
		r.Protocol, r.HTTPVersion, r.OutputTokensSource, r.Warnings = noise, noise, noise, []string{noise}
		if i%3 == 0 {
			r.Outcome = probe.Outcome(noise)
		}
		started(e)
		done(e, r)
		e.Record(probe.Tick{ID: probe.ID{Target: noise, Model: noise, Probe: noise}, Stage: probe.TickDone, Result: r})
		e.Record(probe.Tick{ID: chatID, Skip: probe.SkipReason(noise)})
		e.SetHealth(noise, true)
		e.SetCanary(noise, true)
	}
	after := seriesOf(t, e)
	for s := range after {
		if !before[s] {
			t.Errorf("a new series: %s", s)
		}
	}
	wantValue(t, e, 3334, catalog.Probes, "outcome", "internal")
	wantValue(t, e, 10_001, catalog.ProbesDue)
}

// seriesOf returns the set of series, by name and labels; windows, which
// appear with enough samples, are left out.
func seriesOf(t *testing.T, e *Exporter) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	for _, line := range strings.Split(string(text(t, e)), "\n") {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' && !strings.HasPrefix(line, catalog.Window+"{") {
			set[line[:i]] = true
		}
	}
	return set
}

// TestProtobuf asks as a Prometheus with native histograms does.
func TestProtobuf(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	for _, ttft := range []time.Duration{200 * ms, 200 * ms, 300 * ms} {
		done(e, okResult(ttft))
	}
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(e, promhttp.HandlerOpts{}).ServeHTTP(answer, request)
	decoder := expfmt.NewDecoder(answer.Body, expfmt.ResponseFormat(answer.Header()))
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			t.Fatal("no tokprobe_ttft_seconds")
		} else if err != nil {
			t.Fatal(err)
		}
		if f.GetName() != catalog.TTFT {
			continue
		}
		h := f.Metric[0].Histogram
		// 0.2 lies in bucket -18 (2^(-19/8) to 2^(-18/8)), 0.3 in -13.
		if h.GetSchema() != 3 || len(h.PositiveSpan) != 2 || h.PositiveSpan[0].GetOffset() != -18 || h.PositiveSpan[1].GetOffset() != 4 {
			t.Errorf("schema %d, spans %v, want 3 and buckets -18 and -13", h.GetSchema(), h.PositiveSpan)
		}
		if got := fmt.Sprint(h.PositiveDelta); got != "[2 -1]" {
			t.Errorf("deltas %s, want [2 -1]", got)
		}
		if h.GetSampleCount() != 3 || len(h.Bucket) != 14 || h.Bucket[5].GetCumulativeCount() != 3 {
			t.Errorf("classic part: %v", h)
		}
		if got := h.Bucket[5].GetExemplar().GetLabel()[0]; got.GetName() != "request_id" || got.GetValue() != "chatcmpl-1" {
			t.Errorf("exemplar %v, want request_id chatcmpl-1", got)
		}
		if h.CreatedTimestamp == nil {
			t.Error("no start timestamp")
		}
		return
	}
}

// TestLongRequestID: an exemplar holds at most 128 characters, and text.
func TestLongRequestID(t *testing.T) {
	for give, want := range map[string]int{strings.Repeat("é", 300): 100, "a\xffb": 2, "": -1, "\xff": 0} {
		got := -1
		if e := exemplarOf(give, time.Second, time.Now()); e != nil {
			got = len([]rune(e.Label[0].GetValue()))
		}
		if got != want {
			t.Errorf("%.10q: %d characters, want %d", give, got, want)
		}
	}
}

// TestConcurrency is for the race detector: records, scrapes and reloads at
// once, and no count lost.
func TestConcurrency(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				started(e)
				done(e, okResult(100*ms))
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			e.Apply(testRoster())
			if _, err := e.Gather(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	wantValue(t, e, 800, catalog.ProbesDue)
	wantValue(t, e, 800, catalog.Probes, "outcome", "ok")
}
