package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
	"tokprobe/probe/sweep"
)

// quick is a simulator that answers 4 tokens in 8 ms.
func quick(t *testing.T) string {
	t.Helper()
	server := sim.New(sim.Config{Engine: sim.Engine{FixedTTFT: 2 * time.Millisecond, FixedTPOT: 2 * time.Millisecond}})
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		server.Close()
		web.Close()
	})
	return web.URL
}

// short are flags of a sweep of a fraction of a second.
func short(base string, more ...string) []string {
	return append([]string{"sweep", "--base-url", base, "--model", "sim-fast", "--max-tokens", "4", "--requests", "8", "--cool-down", "0s", "--repeats", "1"}, more...)
}

// TestSweepCommand: JSON on standard output, the saved report with samples,
// what was used on the other stream.
func TestSweepCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	code, out, errs := tokprobe(t, nil, short(quick(t), "--concurrency", "2,1", "--format", "json", "--save", dir)...)
	if code != exitOK {
		t.Fatalf("status %d: %s", code, errs)
	}
	printed, err := capacity.ReadReport(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal([]byte(out), &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"mode", "conditions", "levels", "knee", "limits", "warnings"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no key %s", key)
		}
	}
	if len(printed.Levels) != 2 || printed.Levels[0].Load != 1 || printed.Levels[0].Completed != 8 || printed.Levels[0].Samples != nil {
		t.Errorf("levels %+v", printed.Levels)
	}
	c := printed.Conditions
	if c.Scenario != "T2" || c.MaxTokens != 4 || c.Model != "sim-fast" || c.PromptHash == "" || c.Host == "" || c.Seed != 1 || c.PromptTokensP50.V == 0 || c.CoolDownS != probe.Some(0.0) || c.Limits != "connect 5s, first token 1m0s, stall 30s" {
		t.Errorf("conditions %+v", c)
	}
	if !strings.Contains(errs, "climbed in ascending order") || !strings.Contains(errs, "used ") || strings.Contains(errs, "\r") {
		t.Errorf("standard error %q", errs)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0].Name(), ".json") {
		t.Fatalf("saved %v, %v", files, err)
	}
	saved, err := readReport(filepath.Join(dir, files[0].Name()))
	if err != nil || len(saved.Levels[1].Samples) != 8 {
		t.Errorf("saved report: %v, %+v", err, saved.Levels)
	}
}

// TestSweepThresholds: a threshold given by hand is judged by and written down.
func TestSweepThresholds(t *testing.T) {
	code, out, errs := tokprobe(t, nil, short(quick(t), "--concurrency", "1,2", "--format", "json", "--threshold", "safety_factor=50%", "--threshold", "tail=p99")...)
	r, err := capacity.ReadReport(strings.NewReader(out))
	if code != exitOK || err != nil {
		t.Fatalf("status %d: %v, %s", code, err, errs)
	}
	if got := strings.Join(r.Conditions.Thresholds, " "); got != "tail=p99 safety_factor=50%" {
		t.Errorf("thresholds %q", got)
	}
	for give, want := range map[string]string{
		"saturated_gain":   `--threshold: "saturated_gain" has no value; write NAME=VALUE, such as saturated_gain=3%`,
		"saturated_gain=x": `--threshold: "x" is not a share from 0% to 100%, such as 5%`,
		"gain=1%":          `--threshold: no threshold is called "gain"; there are failure_ratio, `,
	} {
		code, _, errs := tokprobe(t, nil, short("http://127.0.0.1:1", "--concurrency", "1,2", "--threshold", give)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s, want %s", give, code, errs, want)
		}
	}
}

// steady is a report of two levels whose requests all took so long to their
// first token, give or take a tenth.
func steady(ttft time.Duration) capacity.Report {
	r := capacity.Report{Mode: capacity.Concurrency}
	for _, load := range []float64{1, 2} {
		run := capacity.Run{Mode: capacity.Concurrency, Load: load}
		for i := range 40 {
			at := time.Duration(i) * time.Second / time.Duration(load)
			x := capacity.Sample{Timing: capacity.Timing{Intended: at, Sent: at, Done: at + time.Second}, T0: at, Outcome: probe.OK, Kind: probe.KindOK,
				TTFT: probe.Some(ttft + ttft*time.Duration(i%5)/50), E2E: probe.Some(time.Second), OutputTokens: probe.Some(int64(4)), Gaps: make([]time.Duration, 3)}
			run.Samples = append(run.Samples, x)
		}
		r.Levels = append(r.Levels, capacity.NewLevel(run))
	}
	r.Assess(capacity.Settings{})
	return r
}

// TestSweepGate: a TTFT that doubled fails the gate with a table on standard
// output, or beside a document of another format.
func TestSweepGate(t *testing.T) {
	path, err := saveReport(t.TempDir(), steady(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		format, gate string
		ttft         time.Duration
		want         int
	}{
		{"text", "ttft_p90>+10%", 200 * time.Millisecond, exitFail},
		{"json", "ttft_p90>+10%", 200 * time.Millisecond, exitFail},
		{"text", "ttft_p90>+150%", 200 * time.Millisecond, exitOK},
		{"text", "ttft_p90>+10%", 100 * time.Millisecond, exitOK},
	} {
		job := &sweepJob{flags: &sweepFlags{baseline: path, failOn: []string{tt.gate}, format: tt.format},
			plan: sweep.Plan{Mode: capacity.Concurrency, Ladder: []float64{2, 1}}}
		if err := job.readBaseline(); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := job.compare(console{out: &out, err: &errs}, steady(tt.ttft))
		table := out.String()
		if tt.format == "json" {
			table = errs.String()
			if out.Len() > 0 {
				t.Errorf("the JSON document is followed by %q", out.String())
			}
		}
		if moved := tt.ttft > 100*time.Millisecond; code != tt.want || strings.Contains(table, "ttft_p90") != moved {
			t.Errorf("%+v: status %d\n%s", tt, code, table)
		}
	}
}

// TestSweepOtherLadder: what could not be compared in the end is refused before
// anything is sent.
func TestSweepOtherLadder(t *testing.T) {
	base := steady(100 * time.Millisecond)
	base.Conditions.MaxTokens = 4
	path, err := saveReport(t.TempDir(), base)
	if err != nil {
		t.Fatal(err)
	}
	for want, ladder := range map[string][]string{
		"has the levels 1,2, this ladder 1,4":                         {"--concurrency", "1,4"},
		"is a ladder of concurrency, this one of rate":                {"--rate", "1,2"},
		"what --auto will try is not known before":                    {"--auto", "--max-load", "4"},
		"not comparable: max_tokens was 4 and is 16":                  {"--concurrency", "1,2", "--scenario", "T1", "--max-tokens", "16"},
		`"ttft_p99@16>5ms": the ladder has no level 16; it has 1,2`:   {"--concurrency", "1,2", "--fail-on", "ttft_p99@16>5ms"},
		`"attainment<90%": attainment needs an SLO here (--slo NAME)`: {"--concurrency", "1,2", "--fail-on", "attainment<90%"},
	} {
		code, _, errs := tokprobe(t, nil, append([]string{"sweep", "--base-url", "http://127.0.0.1:1", "--model", "m", "--baseline", path}, withTokens(ladder)...)...)
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("status %d, want %q in %s", code, want, errs)
		}
	}
}

// withTokens asks for 4 tokens where the arguments ask for none.
func withTokens(args []string) []string {
	if slices.Contains(args, "--max-tokens") {
		return args
	}
	return append(args, "--max-tokens", "4")
}

// TestSweepBadUsage: the message names the flag and what to write.
func TestSweepBadUsage(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.jsonl")
	if err := os.WriteFile(empty, []byte("{\"id\": 1}\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no load":        {nil, "no load is named: give --concurrency"},
		"two modes":      {[]string{"--rate", "1,2", "--concurrency", "1"}, "--concurrency and --rate exclude one another"},
		"zero rate":      {[]string{"--rate", "0,1"}, `--rate: "0,1" is not a list of numbers above zero`},
		"negative rate":  {[]string{"--rate=-1"}, `--rate: "-1" is not a list of numbers above zero`},
		"no number":      {[]string{"--rate", "NaN"}, `--rate: "NaN" is not a list of numbers above zero`},
		"infinite":       {[]string{"--rate", "inf"}, `--rate: "inf" is not a list of numbers above zero`},
		"half a stream":  {[]string{"--concurrency", "0.5"}, "--concurrency: 0.5 streams: write whole numbers"},
		"auto alone":     {[]string{"--auto"}, "--auto needs --max-load N"},
		"max-load alone": {[]string{"--concurrency", "1", "--max-load", "8"}, "--max-load bounds --auto"},
		"two ends":       {[]string{"--concurrency", "1", "--duration", "30s"}, "--requests and --duration exclude one another"},
		"two prompts":    {[]string{"--concurrency", "1", "--scenario", "T1", "--prompt", "hi"}, "--scenario, --prompt and --dataset exclude"},
		"scenario":       {[]string{"--concurrency", "1", "--scenario", "T9"}, `--scenario "T9": want one of T1, T2, T3, T4`},
		"no data set":    {[]string{"--concurrency", "1", "--dataset", dir + "/none"}, "--dataset: open "},
		"bad data set":   {[]string{"--concurrency", "1", "--dataset", empty}, "no usable entry: 1 were skipped, the first at line 1"},
		"slo":            {[]string{"--concurrency", "1", "--slo", "x"}, `--slo: "x": there is no SLO to name`},
		"gate":           {[]string{"--concurrency", "1", "--fail-on", "ttft_p90>+10%"}, "--fail-on needs --baseline"},
		"bad gate":       {[]string{"--concurrency", "1", "--fail-on", "ttft"}, "--fail-on: "},
		"baseline":       {[]string{"--concurrency", "1", "--baseline", empty}, "--baseline: "},
		"metrics page":   {[]string{"--concurrency", "1", "--server-metrics", "file:///etc/passwd"}, "--server-metrics: want a URL such as http://"},
		"burstiness":     {[]string{"--rate", "1", "--burstiness", "2"}, "--burstiness shapes gamma arrivals"},
		"gamma":          {[]string{"--rate", "1", "--arrival", "gamma"}, "--arrival gamma needs --burstiness: below 1 is burstier than Poisson, 1 is Poisson"},
		"few requests":   {[]string{"--concurrency", "16"}, "--concurrency: 8 requests at 16 streams: some streams would have none"},
		"twice":          {[]string{"--concurrency", "4,4"}, "--concurrency: load 4 is there twice"},
		"underscore":     {[]string{"--concurrency", "1_0"}, `--concurrency: "1_0" is not a list of numbers above zero`},
		"hexadecimal":    {[]string{"--rate", "0x1p-2"}, `--rate: "0x1p-2" is not a list of numbers above zero`},
		"tiny rate":      {[]string{"--rate", "1e-300,1"}, "--rate: load 1e-300: want at least 0.0001 requests a second"},
		"huge rate":      {[]string{"--rate", "1e9"}, "--rate: load 1e+09: want at most 100,000"},
		"half a maximum": {[]string{"--auto", "--max-load", "3.5"}, "--auto: maximum load 3.5"},
		"list of one":    {[]string{"--auto", "--max-load", "4,8"}, `--max-load: "4,8" is not one number above zero such as 0.5 or 8`},
		"start alone":    {[]string{"--concurrency", "1", "--auto-start", "2"}, "--auto-start is where --auto begins: add --auto"},
		"close alone":    {[]string{"--concurrency", "1", "--auto-tolerance", "2%"}, "--auto-tolerance is how closely --auto searches: add --auto"},
		"late start":     {[]string{"--auto", "--max-load", "4", "--auto-start", "8"}, "--auto: maximum load 4: want at least the start of 8"},
		"wide tolerance": {[]string{"--auto", "--max-load", "4", "--auto-tolerance", "100%"}, "--auto: tolerance 1: want a share between 0 and 1"},
		"apart negative": {[]string{"--rate", "-1"}, `--rate: "-1" is not a list of numbers above zero`},
		"two negatives":  {[]string{"--concurrency", "-4,8", "--duration", "-1s"}, `--concurrency: "-4,8" is not a list of numbers above zero`},
		"minus a second": {[]string{"--concurrency", "1", "--duration", "-1s"}, `--duration: "-1s" is not a duration above zero`},
		"no argument":    {[]string{"--rate", "--auto"}, "expected argument for flag '--rate'"},
		"seed":           {[]string{"--concurrency", "1", "--seed", "-1"}, `--seed: "-1" is not a whole number from 0`},
		"auto mode":      {[]string{"--auto-mode", "bogus"}, `--auto-mode: "bogus" is not one of concurrency, rate`},
		"format":         {[]string{"--format", "pdf"}, `--format: "pdf" is not one of text, json, csv, markdown, html`},
	} {
		code, out, errs := tokprobe(t, nil, short("http://127.0.0.1:1", tt.args...)...)
		if code != exitUsage || !strings.Contains(errs, tt.want) || out != "" {
			t.Errorf("%s: status %d, want %q in:\n%s", name, code, tt.want, errs)
		}
	}
}

// TestSweepAutoFlags: the search takes its start and tolerance from the flags,
// and a rate that names no start begins low.
func TestSweepAutoFlags(t *testing.T) {
	for args, want := range map[string]sweep.Auto{
		"--max-load 64": {MaxLoad: 64},
		"--max-load 64 --auto-start 4 --auto-tolerance 10%":     {Start: 4, MaxLoad: 64, Tolerance: 0.1},
		"--max-load 2 --auto-mode rate":                         {Start: 0.25, MaxLoad: 2},
		"--max-load 16 --auto-mode rate --auto-start 2.5":       {Start: 2.5, MaxLoad: 16},
		"--max-load 16 --auto-mode rate --auto-tolerance 0.005": {Start: 1, MaxLoad: 16, Tolerance: 0.005},
	} {
		app := kingpin.New("tokprobe", "")
		f := bindSweep(app.Command("sweep", ""))
		_, err := app.Parse(append([]string{"sweep", "--base-url", "http://127.0.0.1:1", "--model", "m", "--auto"}, strings.Fields(args)...))
		if err != nil {
			t.Fatal(err)
		}
		job, err := f.job(console{err: &bytes.Buffer{}, env: func(string) (string, bool) { return "", false }})
		if err != nil || *job.plan.Auto != want {
			t.Errorf("%s: %+v, %v, want %+v", args, job, err, want)
		}
	}
}

// TestNumberHelp: a flag of one number does not promise a list.
func TestNumberHelp(t *testing.T) {
	for command, want := range map[string][]string{
		"sweep": {"--concurrency=N,N,…", "--max-load=N ", "--burstiness=N ", "--auto-start=N "},
		"plan":  {"--peak-rps=N ", "--per-instance-rps=N "},
	} {
		_, out, _ := tokprobe(t, nil, command, "--help")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s --help lacks %q:\n%s", command, w, out)
			}
		}
	}
}

// TestSweepOfADeadEndpoint: every level runs, the reason is told, status 1.
func TestSweepOfADeadEndpoint(t *testing.T) {
	code, out, errs := tokprobe(t, nil, short("http://127.0.0.1:1", "--concurrency", "4,8")...)
	if code != exitFail || !strings.Contains(errs, "no request succeeded: connect: ") || !strings.Contains(out, "failing") {
		t.Errorf("status %d\n%s\n%s", code, out, errs)
	}
}

// TestSweepSLO: the SLO of the configuration is held against every level, and
// its budget is kept.
func TestSweepSLO(t *testing.T) {
	write := func(budget string) string {
		path := filepath.Join(t.TempDir(), "c.yaml")
		text := "targets:\n  - {name: t, provider: openai, base_url: " + quick(t) + ", models: [sim-fast]" + budget + "}\n" +
			"slos:\n  - {name: strict, window: 30d, ttft: {below: 1ms, objective: 95%}}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args := func(config string, more ...string) []string {
		return append([]string{"sweep", "--config.file", config, "--concurrency", "1,2", "--requests", "8", "--max-tokens", "4", "--cool-down", "0s", "--repeats", "1"}, more...)
	}
	code, out, errs := tokprobe(t, nil, args(write(""), "--slo", "strict", "--format", "json")...)
	r, err := capacity.ReadReport(strings.NewReader(out))
	if code != exitOK || err != nil {
		t.Fatalf("status %d, %v: %s", code, err, errs)
	}
	if r.Conditions.SLO != "strict" || r.Levels[0].Attainment != probe.Some(0.0) || r.MostLoadUnderSLO.OK {
		t.Errorf("attainment %v, most %v", r.Levels[0].Attainment, r.MostLoadUnderSLO)
	}
	if code, _, errs = tokprobe(t, nil, args(write(""), "--slo", "lax")...); code != exitUsage || !strings.Contains(errs, `--slo: "lax" is not in the configuration, which has strict`) {
		t.Errorf("status %d: %s", code, errs)
	}
	code, _, errs = tokprobe(t, nil, args(write(", budget: {sweep_tokens_per_day: 100}"))...)
	if code != exitFail || !strings.Contains(errs, "the budget has 100: nothing was sent") {
		t.Errorf("status %d: %s", code, errs)
	}
}

func TestPlanCommand(t *testing.T) {
	code, out, errs := tokprobe(t, nil, "plan", "--peak-rps", "1000", "--per-instance-rps", "60", "--json")
	var p capacity.Plan
	if err := json.Unmarshal([]byte(out), &p); code != exitOK || err != nil || p.Instances != 17 || p.WithHeadroom != 20 {
		t.Errorf("status %d, %v: %+v %s", code, err, p, errs)
	}
	code, out, _ = tokprobe(t, nil, "plan", "--peak-rps", "1000", "--per-instance-rps", "60", "--headroom", "0")
	if code != exitOK || !strings.Contains(out, "instances       17\nwith headroom   17 ") {
		t.Errorf("status %d: %s", code, out)
	}
	for want, args := range map[string][]string{
		"--peak-rps: give one number":            {"--per-instance-rps", "60"},
		"what one instance holds is not known":   {"--peak-rps", "10"},
		`--headroom: "15" is not a share`:        {"--peak-rps", "10", "--per-instance-rps", "6", "--headroom", "15"},
		"--ttft-p99 chooses a level of a report": {"--peak-rps", "10", "--per-instance-rps", "6", "--ttft-p99", "1s"},
		"--from and --per-instance-rps exclude":  {"--peak-rps", "10", "--per-instance-rps", "6", "--from", "x"},
		"--from: open ":                          {"--peak-rps", "10", "--from", "/none"},
		`--peak-rps: "0" is not`:                 {"--peak-rps", "0", "--per-instance-rps", "6"},
	} {
		if code, _, errs := tokprobe(t, nil, append([]string{"plan"}, args...)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: status %d, want %q in %s", args, code, want, errs)
		}
	}
}

// TestPlanFromReport: the most rate with a TTFT P99 of at most 700 ms.
func TestPlanFromReport(t *testing.T) {
	r := capacity.Report{Mode: capacity.Rate}
	for load, ttft := range map[float64]float64{40: 413, 60: 680, 80: 1120} {
		r.Levels = append(r.Levels, capacity.Level{Load: load, Mode: capacity.Rate, State: capacity.Scaling, Trusted: true, Completed: 100,
			Stats: map[capacity.Metric]capacity.Summary{capacity.TTFT: {N: 100, P99: ttft}}})
	}
	r.Knee = capacity.Knee{AtLeast: probe.Some(80.0)}
	r.SchemaVersion = capacity.SchemaVersion
	path, err := saveReport(t.TempDir(), r)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := tokprobe(t, nil, "plan", "--peak-rps", "1000", "--from", path, "--ttft-p99", "700ms")
	if code != exitOK || !strings.Contains(out, "instances       17\nwith headroom   20 ") {
		t.Errorf("status %d\n%s\n%s", code, out, errs)
	}
}

func TestProgressText(t *testing.T) {
	for want, p := range map[string]sweep.Progress{
		"preparing": {Stage: sweep.Preparing, Levels: 5},
		"level 3/5 (8 streams)  37/50 done, 8 in flight, 6.1/s, 1 failed, 2s left": {Stage: sweep.Running, Level: 3, Levels: 5, Load: 8, Mode: capacity.Concurrency, Done: 37, Total: 50, InFlight: 8, Rate: 6.1, Errors: 1, Left: 2 * time.Second},
		"level 2 (0.5 requests/s, run 2)  cool-down, 1m0s left":                    {Stage: sweep.Cooling, Level: 2, Load: 0.5, Mode: capacity.Rate, Repeat: 1, Left: time.Minute},
		"level 1/2 (4 streams)  12 done, 4 in flight, 3/s, 0 failed, 30s left":     {Stage: sweep.Running, Level: 1, Levels: 2, Load: 4, Mode: capacity.Concurrency, Done: 12, InFlight: 4, Rate: 3, Left: 30 * time.Second},
	} {
		if got := progressText(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if newProgressLine(&bytes.Buffer{}) != nil {
		t.Error("a progress line where there is no terminal")
	}
}

// TestLongPauses: a wait after a refusal is said where no progress line shows it.
func TestLongPauses(t *testing.T) {
	var b bytes.Buffer
	note := longPauses(&b)
	note(sweep.Progress{Stage: sweep.Cooling, Load: 4, Left: 5 * time.Second})
	note(sweep.Progress{Stage: sweep.Running, Load: 8, Left: time.Hour})
	note(sweep.Progress{Stage: sweep.Cooling, Load: 8, Left: 90 * time.Second})
	if want := "note: waiting 1m30s before the level of 8 (--cool-down, or what a 429 asked for)\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestTargetParamsByHand: what the target's probes send with every request goes
// with a text, a scenario and a data set by hand, too.
func TestTargetParamsByHand(t *testing.T) {
	var mu sync.Mutex
	bodies := map[string]int{} // enable_thinking of each request
	simulator := sim.New(sim.Config{Engine: sim.Engine{FixedTTFT: 2 * time.Millisecond, FixedTPOT: 2 * time.Millisecond}})
	defer simulator.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			var body struct {
				Thinking *bool `json:"enable_thinking"`
			}
			json.Unmarshal(raw, &body)
			mu.Lock()
			bodies[fmt.Sprint(body.Thinking != nil && !*body.Thinking)]++
			mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		simulator.ServeHTTP(w, r)
	}))
	defer web.Close()
	dir := t.TempDir()
	file, set := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "d.jsonl")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "targets: [{name: a, provider: openai, base_url: '"+web.URL+"', models: [sim-fast], params: {enable_thinking: false}}]\n")
	write(set, `{"prompt": "one"}`)
	for _, args := range [][]string{
		{"probe", "--prompt", "a text"},
		{"sweep", "--concurrency", "1,2", "--requests", "2", "--cool-down", "0s", "--prompt", "a text"},
		{"sweep", "--concurrency", "1,2", "--requests", "2", "--cool-down", "0s", "--scenario", "T1"},
		{"sweep", "--concurrency", "1,2", "--requests", "2", "--cool-down", "0s", "--dataset", set},
	} {
		clear(bodies)
		code, _, errs := tokprobe(t, nil, append(args, "--config.file", file, "--target", "a", "--max-tokens", "4")...)
		if code != exitOK || bodies["false"] != 0 || bodies["true"] == 0 {
			t.Errorf("%v: status %d, requests with enable_thinking: false %v, %s", args, code, bodies, errs)
		}
	}
}
