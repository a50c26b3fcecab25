package capacity

import (
	"encoding/json"
	"testing"

	"tokprobe/probe"
)

// ladderOf has levels at 1, 2, 4 … with these steady throughputs by run; the
// level's own is their median.
func ladderOf(runs ...[]float64) Report {
	r := Report{Mode: Concurrency}
	load := 1.0
	for _, list := range runs {
		steady := median(list)
		l := Level{Load: load, Mode: Concurrency, Trusted: true, Completed: 50, Outcomes: map[probe.Outcome]int{probe.OK: 50},
			Stats: map[Metric]Summary{}, Repeats: len(list)}
		l.SteadySeconds = probe.Some(30.0)
		l.SteadyOutputThroughput = steady
		if len(list) > 1 {
			l.Runs = list
		}
		r.Levels = append(r.Levels, l)
		load *= 2
	}
	r.Assess(Settings{})
	return r
}

func TestKneeRuns(t *testing.T) {
	type opt = probe.Opt[float64]
	for _, c := range []struct {
		name string
		runs [][]float64
		knee opt
		want *KneeRuns
		text string
	}{
		{"once", [][]float64{{540}, {560}}, probe.Some(1.0), nil, ""},
		{"the example", [][]float64{{542, 530}, {560, 590}}, probe.Some(1.0), &KneeRuns{3, 4, probe.Some(1.0), opt{}},
			"single runs put it at 1 or beyond the ladder (3 of 4 ways to take one run of each level)"},
		{"agreed", [][]float64{{100, 101, 99}, {200, 201, 199}, {202, 203, 201}}, probe.Some(2.0), &KneeRuns{27, 27, probe.Some(2.0), probe.Some(2.0)},
			"single runs agree (27 of 27 ways to take one run of each level)"},
		// At 2 streams 180, or 100 once in three: then 4 is the first that pays.
		{"one dip", [][]float64{{100}, {180, 100, 181}, {182}, {183}}, probe.Some(2.0), &KneeRuns{2, 3, probe.Some(2.0), probe.Some(4.0)},
			"single runs put it from 2 to 4 (2 of 3 ways to take one run of each level)"},
		{"never reached", [][]float64{{100}, {150, 160}, {250, 290}}, opt{}, &KneeRuns{4, 4, opt{}, opt{}},
			"single runs agree (4 of 4 ways to take one run of each level)"},
	} {
		r := ladderOf(c.runs...)
		if r.Knee.Load != c.knee {
			t.Errorf("%s: knee %+v, want %+v", c.name, r.Knee, c.knee)
		}
		if (r.KneeRuns == nil) != (c.want == nil) {
			t.Errorf("%s: %+v, want %+v", c.name, r.KneeRuns, c.want)
			continue
		}
		if c.want == nil {
			continue
		}
		if *r.KneeRuns != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, *r.KneeRuns, *c.want)
		}
		if got := r.KneeRuns.String(); got != c.text {
			t.Errorf("%s: %q, want %q", c.name, got, c.text)
		}
	}
}

// TestKneeRunsBounded: 4,096 ways at most, however many runs there are.
func TestKneeRunsBounded(t *testing.T) {
	many := make([]float64, 100)
	for i := range many {
		many[i] = 100 + float64(i)/100
	}
	r := ladderOf(many, many, many)
	if r.KneeRuns.Of != maxWays || r.KneeRuns.Agree != maxWays {
		t.Errorf("%+v", *r.KneeRuns)
	}
	raw, err := json.Marshal(r.KneeRuns)
	if want := `{"agree":4096,"of":4096,"low":1,"high":1}`; err != nil || string(raw) != want {
		t.Errorf("%s, want %s (%v)", raw, want, err)
	}
}

// TestWarnBacklog: a knee at which the endpoint did not keep up is no load to
// run for long, and the report says what is.
func TestWarnBacklog(t *testing.T) {
	assess := func(done ...float64) Report {
		r := Report{Mode: Rate}
		for i, load := range []float64{8, 14, 20, 26} {
			l := Level{Load: load, Mode: Rate, Trusted: true, Completed: 900, Outcomes: map[probe.Outcome]int{probe.OK: 900}, Stats: map[Metric]Summary{}}
			l.SteadySeconds, l.SteadyRequestThroughput, l.SteadyOfferedRate = probe.Some(45.0), probe.Some(done[i]), probe.Some(load)
			r.Levels = append(r.Levels, l)
		}
		r.Assess(Settings{})
		return r
	}
	const want = "at the knee of 20 requests/s the endpoint finished only 15.5 of 20 a second: beyond 15.5 its backlog grows as long as the load lasts"
	if r := assess(8, 14, 15.5, 15.6); r.Knee.Load != probe.Some(20.0) || len(r.Warnings) != 1 || r.Warnings[0] != want {
		t.Errorf("knee %+v, warnings %q", r.Knee, r.Warnings)
	}
	if r := assess(8, 14, 18.5, 18.6); r.Knee.Load != probe.Some(20.0) || len(r.Warnings) != 0 {
		t.Errorf("kept up: knee %+v, warnings %q", r.Knee, r.Warnings)
	}
}

// TestRefusedStreamsAreNotShort: 8 streams of which 5 are let in are never all
// in flight. More requests would not help, so nobody is told to send them.
func TestRefusedStreamsAreNotShort(t *testing.T) {
	r := ladderOf([]float64{100}, []float64{190})
	refused := Level{Load: 4, Mode: Concurrency, Trusted: true, Completed: 100, Failed: 50,
		Outcomes: map[probe.Outcome]int{probe.OK: 100, probe.RateLimited: 50}, Stats: map[Metric]Summary{}}
	r.Levels, r.Warnings = append(r.Levels, refused), nil
	r.Assess(Settings{})
	if l := r.Levels[2]; l.State != Failing || !l.TooShort || len(r.Warnings) != 0 || r.Knee.Load != probe.Some(2.0) {
		t.Errorf("%s, too short %v, knee %+v, warnings %q; want failing, short and no advice", l.State, l.TooShort, r.Knee, r.Warnings)
	}
}
