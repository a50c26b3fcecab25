package capacity

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/slo"
)

func TestFromResult(t *testing.T) {
	r := probe.Result{Outcome: probe.OK, Setup: probe.Some(30 * time.Millisecond), TTFT: probe.Some(200 * time.Millisecond),
		Gaps: []time.Duration{20 * time.Millisecond, 40 * time.Millisecond}, OutputTokens: probe.Some(int64(6)), Chunks: 3}
	s := FromResult(r, Timing{Intended: time.Second, Sent: 1100 * time.Millisecond, Done: 2 * time.Second})
	if s.T0 != 1130*time.Millisecond || s.SendDelay() != 130*time.Millisecond || !s.OK() || s.Kind != probe.KindOK {
		t.Errorf("%+v: want t0 at 1.13 s, a send delay of 130 ms, ok", s)
	}
	if got := s.Latency(Rate, s.TTFT); got != probe.Some(330*time.Millisecond) {
		t.Errorf("open-loop TTFT %v, want 330 ms from the intended time", got.V)
	}
	if got := s.Latency(Concurrency, s.TTFT); got != probe.Some(200*time.Millisecond) {
		t.Errorf("closed-loop TTFT %v, want 200 ms from t0", got.V)
	}
	// Events at 1.33, 1.35 and 1.39 s; six tokens in three events weigh 2 each.
	for _, c := range []struct{ from, to, want int }{{0, 9999, 3}, {1330, 1350, 1}, {1329, 1350, 2}, {1390, 9999, 0}, {0, 1329, 0}} {
		if got := s.eventsIn(time.Duration(c.from)*time.Millisecond, time.Duration(c.to)*time.Millisecond); got != c.want {
			t.Errorf("events in (%d, %d] ms: %d, want %d", c.from, c.to, got, c.want)
		}
	}
	if w := s.tokensPerEvent(); w != 2 {
		t.Errorf("weight %g, want 2", w)
	}
}

// ten builds ten requests over 5 s: 6 good, 2 slow, 1 short, 1 refused.
func ten() Run {
	v := server{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Tokens: 10}
	r := Run{Mode: Concurrency, Load: 2, Duration: 5 * time.Second, WantTokens: 10}
	for i := range 10 {
		at := time.Duration(i/2) * time.Second
		if i == 6 || i == 7 {
			v.TTFT = 900 * time.Millisecond
		} else {
			v.TTFT = 200 * time.Millisecond
		}
		s := v.serve(at, at)
		switch i {
		case 8:
			s.Outcome, s.Kind, s.Gaps, s.OutputTokens.V = probe.Short, probe.KindAnswer, nil, 3
		case 9:
			s = Sample{Timing: Timing{Intended: at, Sent: at, Done: at + time.Millisecond}, T0: at, Err: "slow down",
				Outcome: probe.RateLimited, Kind: probe.KindOurs, HTTPStatus: 429, RetryAfter: probe.Some(2 * time.Second)}
		}
		r.Samples = append(r.Samples, s)
	}
	r.SLO = &slo.SLO{Name: "interactive", Objectives: []slo.Objective{
		{SLI: slo.Success, Ratio: 0.8}, {SLI: slo.TTFT, Below: 500 * time.Millisecond, Ratio: 0.7}}}
	return r
}

func TestLevel(t *testing.T) {
	l := NewLevel(ten())
	for _, c := range []struct {
		name string
		got  probe.Opt[float64]
		want float64
	}{
		{"request_throughput", l.RequestThroughput, 8.0 / 5},
		{"output_throughput", l.OutputThroughput, 80.0 / 5},
		{"total_token_throughput", l.TotalTokenThroughput, (80 + 160) / 5.0},
		{"tokens_per_minute", l.TokensPerMinute, 60 * (80 + 160) / 5.0},
		{"error_ratio", l.ErrorRatio, 0.2},
		{"attainment", l.Attainment, 0.6},
		{"request_goodput", l.RequestGoodput, 1.2},
		{"success", l.Objectives[0].Attained, 0.8},
		{"ttft", l.Objectives[1].Attained, 6.0 / 9},
		{"mean ttft", l.Stats[TTFT].At("mean"), 375},
		{"generation", l.Stats[GenerationRate].At("p50"), 10 / 0.38},
	} {
		near(t, c.name, c.got, c.want, 1e-9)
	}
	if l.Completed != 8 || l.Failed != 2 || l.MaxConcurrentRequests != 4 || l.EarlyAnswers != 1 || !l.EndedEarly || l.ServiceFailures != 0 {
		l.Samples = nil
		t.Errorf("%+v: want 8 completed, 2 failed, 4 at once, 1 ended early and flagged", l)
	}
	if !l.Objectives[0].Met || l.Objectives[1].Met || l.MeetsSLO() || l.Objectives[1].Counted != 9 {
		t.Errorf("objectives %+v: want success met, TTFT (9 with a verdict) not", l.Objectives)
	}
	if l.Throttle == nil || l.Throttle.Count != 1 || l.Throttle.RetryAfterS != probe.Some(2.0) {
		t.Errorf("throttle %+v", l.Throttle)
	}
	if n := l.Stats[ITL].N; n != 72 {
		t.Errorf("%d chunk gaps, want 9 of each of 8", n)
	}
	if !slices.ContainsFunc(l.Warnings, func(w string) bool { return strings.Contains(w, "rest on 8 samples") }) {
		t.Errorf("warnings %q do not say that 8 samples are few", l.Warnings)
	}
}

func TestKindsOfAnSLO(t *testing.T) {
	r := ten()
	r.SLO.Kinds = map[probe.Outcome]probe.Kind{probe.RateLimited: probe.KindOurs, probe.Short: probe.KindOK}
	l := NewLevel(r)
	near(t, "attainment without the refused one and with the short one", l.Attainment, 7.0/9, 1e-9)
}

func TestAbsentIsAbsent(t *testing.T) {
	l := NewLevel(Run{Mode: Rate, Load: 0.5, Samples: []Sample{
		{Timing: Timing{Intended: time.Second, Sent: time.Second, Done: 2 * time.Second}, T0: time.Second, Outcome: probe.Connect, Kind: probe.KindService}}})
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for key := range got {
		if strings.HasSuffix(key, "_ms") && key != "client_lag_p99_ms" || strings.Contains(key, "token") || strings.HasPrefix(key, "steady") || key == "attainment" {
			t.Errorf("%s is %v though nothing was measured", key, got[key])
		}
	}
	if got["request_rate"] != 0.5 || got["max_concurrency"] != nil || got["completed"] != 0.0 || got["failed"] != 1.0 {
		t.Errorf("%s: want request_rate 0.5, max_concurrency null, completed 0, failed 1", b)
	}
}

func TestKeysOfALevel(t *testing.T) {
	l := NewLevel(ten())
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	keys := strings.Fields(`load mode trusted request_rate max_concurrency duration completed failed total_input_tokens total_output_tokens
		request_throughput request_goodput output_throughput total_token_throughput attainment outcomes finish_reasons
		steady_output_throughput steady_request_throughput client_lag_p99_ms`)
	for _, m := range []string{"ttft", "tpot", "itl", "e2el", "first_content", "chunk_gap", "send_delay"} {
		for _, s := range []string{"mean", "median", "std", "p50", "p90", "p95", "p99"} {
			keys = append(keys, s+"_"+m+"_ms")
		}
	}
	for _, k := range keys {
		if _, ok := got[k]; !ok {
			t.Errorf("no key %s", k)
		}
	}
	if got["request_rate"] != "inf" || got["max_concurrency"] != 2.0 || got["median_itl_ms"] != 20.0 || got["p50_chunk_gap_ms"] != 20.0 {
		t.Errorf("request_rate %v, max_concurrency %v, median_itl_ms %v; want inf, 2, 20", got["request_rate"], got["max_concurrency"], got["median_itl_ms"])
	}
}

func TestReportRoundTrip(t *testing.T) {
	r := closedReport(server{TTFT: 123456789, TPOT: 10 * time.Millisecond, Tokens: 64, Slots: 4}, []int{1, 4, 8}, fifty, 0)
	r.Conditions = Conditions{Version: "1.2.3", Model: "m", Ladder: []float64{1, 4, 8}, Seed: 7, Started: time.Unix(1e9, 0).UTC()}
	r.Levels[0].Server = &ServerLoad{WaitingMax: probe.Some(0.0)}
	r.Levels = append(r.Levels, NewLevel(ten()))
	r.Assess(Settings{})
	for _, give := range []Report{r, r.WithoutSamples()} {
		var b bytes.Buffer
		if err := give.Write(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(b.Bytes(), []byte("}\n")) {
			t.Error("no final line feed")
		}
		got, err := ReadReport(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, give) {
			t.Errorf("read back\n%+v\nwant\n%+v", got, give)
		}
	}
	before := r.WithoutSamples()
	r.Assess(Settings{})
	if !reflect.DeepEqual(r.WithoutSamples(), before) {
		t.Error("assessing twice changes the report")
	}
}

func TestReadReportRefuses(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{``, "not a sweep report"},
		{`[]`, "not a sweep report"},
		{`{"levels":[]}`, "no schema_version"},
		{`{"schema_version":2,"mode":"rate","levels":[{}]}`, "schema_version 2 is newer"},
		{`{"schema_version":1,"mode":"burst","levels":[{}]}`, `mode "burst"`},
		{`{"schema_version":1,"mode":"rate","levels":[]}`, "no levels"},
		{`{"schema_version":1,"mode":"rate","levels":[{"p50_ttft_ms":"x"}]}`, "p50_ttft_ms"},
	} {
		if r, err := ReadReport(strings.NewReader(c.give)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ReadReport(%s) = %+v, %v; want an error with %q", c.give, r, err, c.want)
		}
	}
}

// TestOwnLag: a level is untrusted where our lateness could explain over a
// tenth of TTFT, in the middle or in the tail, and above the floor.
func TestOwnLag(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    Mode
		lag     func(i int) time.Duration
		late    time.Duration
		ttft    time.Duration
		trusted bool
	}{
		{"none", Concurrency, func(int) time.Duration { return 0 }, 0, 200 * time.Millisecond, true},
		{"a tenth", Concurrency, func(int) time.Duration { return 20 * time.Millisecond }, 0, 200 * time.Millisecond, true},
		{"over a tenth", Concurrency, func(int) time.Duration { return 21 * time.Millisecond }, 0, 200 * time.Millisecond, false},
		{"one pause in fifty", Concurrency, func(i int) time.Duration { return time.Duration(toInt(i == 0)) * time.Second }, 0, 200 * time.Millisecond, true},
		{"one in ten", Concurrency, func(i int) time.Duration { return time.Duration(toInt(i%10 == 0)) * time.Second }, 0, 200 * time.Millisecond, false},
		{"under the floor", Concurrency, func(int) time.Duration { return 1900 * time.Microsecond }, 0, 10 * time.Millisecond, true},
		{"sent late", Rate, func(int) time.Duration { return 0 }, 40 * time.Millisecond, 200 * time.Millisecond, false},
		{"sent a little late", Rate, func(int) time.Duration { return 0 }, 10 * time.Millisecond, 200 * time.Millisecond, true},
	} {
		v := server{TTFT: c.ttft, TPOT: 10 * time.Millisecond, Tokens: 10}
		var samples []Sample
		for i := range 50 {
			at := time.Duration(i) * time.Second
			s := v.serve(at, at+c.late)
			s.ClientLag = c.lag(i)
			samples = append(samples, s)
		}
		l := NewLevel(Run{Mode: c.mode, Load: 1, Samples: samples})
		if l.Trusted != c.trusted || c.trusted == strings.Contains(strings.Join(l.Warnings, "\n"), "not to be trusted") {
			t.Errorf("%s: trusted %v, warnings %q; want %v", c.name, l.Trusted, l.Warnings, c.trusted)
		}
	}
}

func TestRepeated(t *testing.T) {
	run := func(ttft time.Duration, lag time.Duration) Run {
		samples := closedLoop(server{TTFT: ttft, TPOT: 10 * time.Millisecond, Tokens: 11}, 4, 40, 0)
		for i := range samples {
			samples[i].ClientLag = lag
		}
		return Run{Mode: Concurrency, Load: 4, Samples: samples}
	}
	// 11 tokens over 4 streams in 0.2, 0.3 and 0.4 s: 220, 146.7, 110 a second.
	l := Repeated([]Run{run(200*time.Millisecond, 0), run(100*time.Millisecond, 0), run(300*time.Millisecond, 0), run(time.Second, time.Minute)})
	near(t, "median of the runs", l.SteadyOutputThroughput, 44/0.3, 1e-9)
	near(t, "spread", l.Spread, (220-110)/(44/0.3), 1e-9)
	if l.Repeats != 3 || !l.Trusted || l.Completed != 120 || l.Stats[TTFT].N != 120 || math.Abs(l.Stats[TTFT].Mean-200) > 1e-9 {
		t.Errorf("%+v: want 3 runs of 40, the untrusted one left out, mean TTFT 200 ms", l)
	}
	if math.Abs(l.Duration-10*(0.2+0.3+0.4)) > 1e-9 {
		t.Errorf("duration %g s, want the sum of the runs, 9 s", l.Duration)
	}
	if one := Repeated([]Run{run(time.Second, 0)}); one.Repeats != 0 || one.Spread.OK {
		t.Errorf("one run: repeats %d, spread %+v; want none", one.Repeats, one.Spread)
	}
	if all := Repeated([]Run{run(time.Second, time.Minute), run(time.Second, time.Minute)}); all.Trusted || all.Repeats != 2 {
		t.Errorf("all untrusted: %+v; want both kept, untrusted", all)
	}
}
