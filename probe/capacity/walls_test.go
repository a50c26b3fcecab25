package capacity

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
)

// refusing adds to a level n refusals that say what t says, and makes it last
// seconds in which it let through tokens per minute in 64-token requests.
func refusing(load float64, n int, seconds, tpm float64, t Throttle) Level {
	l := Level{Mode: Concurrency, Load: load, Trusted: true, Completed: 100, Failed: n, Duration: seconds,
		Outcomes: map[probe.Outcome]int{probe.OK: 100, probe.RateLimited: n}, State: Failing,
		TokensPerMinute: probe.Some(tpm), RequestThroughput: probe.Some(tpm / 100 / 60)}
	t.Count = n
	l.Throttle = &t
	return l
}

func fine(load, ttft, tpot float64) Level {
	return Level{Mode: Concurrency, Load: load, Trusted: true, Completed: 100, Duration: 60, State: Scaling,
		Outcomes: map[probe.Outcome]int{probe.OK: 100},
		Stats:    map[Metric]Summary{TTFT: {N: 100, P50: ttft}, TPOT: {N: 100, P50: tpot}}}
}

func TestWalls(t *testing.T) {
	tokens := Throttle{Messages: []string{"Rate limit reached on tokens per min (TPM): Limit 30000"}}
	requests := Throttle{Messages: []string{"you exceeded 300 requests per minute"}}
	count := func(n int64) probe.Opt[int64] { return probe.Some(n) }
	kneeAt := func(load float64) Knee { return Knee{Load: probe.Some(load), Reached: true} }
	failed := fine(16, 100, 10)
	failed.ServiceFailures, failed.Failed, failed.State = 9, 9, Failing
	failed.Outcomes = map[probe.Outcome]int{probe.OK: 100, probe.TimeoutFirstToken: 7, probe.Reset: 2}
	lagging := fine(32, 100, 10)
	lagging.Trusted, lagging.State, lagging.ClientLagP99MS = false, NotJudged, probe.Some(62.0)
	capped := fine(40, 100, 10)
	capped.InFlightCapped = true
	waiting := fine(8, 400, 11)
	waiting.Server = &ServerLoad{WaitingMax: probe.Some(4.0), RunningMax: probe.Some(4.0), KVUseMax: probe.Some(0.97)}
	for _, c := range []struct {
		name     string
		levels   []Level
		knee     Knee
		want     []WallName
		from     float64
		evidence []string
	}{
		{"tpm by its text", []Level{fine(8, 100, 10), refusing(16, 20, 90, 30100, tokens), refusing(32, 60, 61, 29900, tokens)}, kneeAt(8),
			[]WallName{TPMQuota}, 16, []string{"429 from level 16 on at a constant 30,000 tokens a minute", "Limit 30000"}},
		{"order does not matter", []Level{refusing(32, 60, 61, 29900, tokens), refusing(16, 20, 90, 30100, tokens), fine(8, 100, 10)}, kneeAt(8),
			[]WallName{TPMQuota}, 16, []string{"429 from level 16 on at a constant 30,000 tokens a minute"}},
		{"rpm by its text", []Level{fine(8, 100, 10), refusing(16, 20, 90, 30000, requests), refusing(32, 60, 90, 30000, requests)}, kneeAt(8),
			[]WallName{RPMQuota}, 16, []string{"at a constant 300 requests a minute"}},
		{"tpm by what remained", []Level{refusing(16, 20, 90, 30000, Throttle{Messages: []string{"slow down"}, LimitTokens: count(30000),
			RemainingTokens: count(0), LimitRequests: count(9000), RemainingRequests: count(8000)})}, kneeAt(8),
			[]WallName{TPMQuota}, 16, []string{"30,000 tokens a minute", "remaining-tokens was 0"}},
		{"rpm by what remained", []Level{refusing(16, 20, 90, 30000, Throttle{RemainingRequests: count(0), RemainingTokens: count(5000)})}, kneeAt(8),
			[]WallName{RPMQuota}, 16, []string{"300 requests a minute", "remaining-requests was 0"}},
		{"rpm though few tokens remained too", []Level{refusing(16, 20, 90, 30000, Throttle{LimitTokens: count(30000), RemainingTokens: count(1500), RemainingRequests: count(0)})}, kneeAt(8),
			[]WallName{RPMQuota}, 16, nil},
		{"the text beats what remained", []Level{refusing(16, 20, 90, 30000, Throttle{Messages: tokens.Messages, RemainingRequests: count(0)})}, kneeAt(8),
			[]WallName{TPMQuota}, 16, nil},
		{"rpm by a stated limit that was met", []Level{refusing(16, 20, 90, 30000, Throttle{LimitRequests: count(310), LimitTokens: count(90000)})}, kneeAt(8),
			[]WallName{RPMQuota}, 16, []string{"limit-requests is 310"}},
		{"too short for a quota", []Level{refusing(16, 20, 59, 30000, tokens)}, kneeAt(8),
			[]WallName{Errors}, 16, []string{"no such level lasted 1m0s"}},
		{"429 that says nothing", []Level{refusing(16, 20, 90, 30000, Throttle{Messages: []string{"Too Many Requests"}, InFlightLow: probe.Some(1.0), InFlightMax: probe.Some(9.0)})}, kneeAt(8),
			[]WallName{Errors}, 16, []string{"neither its text nor its headers"}},
		{"concurrency by its text", []Level{refusing(16, 20, 10, 30000, Throttle{Messages: []string{"too many concurrent requests"}})}, kneeAt(8),
			[]WallName{ConcurrencyLimit}, 16, []string{"too many concurrent requests"}},
		{"concurrency in Chinese", []Level{refusing(16, 20, 10, 30000, Throttle{Messages: []string{"超过并发上限"}})}, kneeAt(8),
			[]WallName{ConcurrencyLimit}, 16, nil},
		{"concurrency by what was in flight", []Level{
			refusing(16, 20, 10, 30000, Throttle{Messages: []string{"Too Many Requests"}, InFlightLow: probe.Some(8.0), InFlightMax: probe.Some(8.0)}),
			refusing(32, 20, 10, 30000, Throttle{InFlightLow: probe.Some(7.0), InFlightMax: probe.Some(8.0)})}, kneeAt(8),
			[]WallName{ConcurrencyLimit}, 16, []string{"each time with 8 requests in flight"}},
		{"one 429 is none", []Level{fine(8, 100, 10), refusing(16, 1, 90, 30000, tokens)}, Knee{AtLeast: probe.Some(8.0)},
			[]WallName{None}, 0, []string{"no wall was seen up to 8"}},
		{"queue", []Level{fine(4, 95, 10), waiting}, kneeAt(4),
			[]WallName{Queue}, 8, []string{"TTFT P50 rose from 95 ms at 4 to 400 ms at 8", "4 waiting, 4 running, 97 % of the KV cache used"}},
		{"decode", []Level{fine(4, 95, 10), fine(8, 400, 12.5)}, kneeAt(4), []WallName{Decode}, 8, []string{"TPOT P50 rose from 10 ms at 4 to 12 ms at 8"}},
		{"queue shows later", []Level{fine(4, 95, 10), fine(5, 120, 10), fine(8, 400, 10)}, kneeAt(4), []WallName{Queue}, 8, nil},
		{"errors", []Level{fine(8, 100, 10), failed}, kneeAt(8), []WallName{Errors}, 16, []string{"9 of 109 requests, most often timeout_first_token (7)"}},
		{"no key", []Level{{Mode: Concurrency, Load: 1, Failed: 1, State: Failing, Trusted: true, Outcomes: map[probe.Outcome]int{probe.Auth: 1}}}, Knee{},
			[]WallName{Errors}, 1, []string{"1 of 1 requests, most often auth (1)"}},
		{"client lag", []Level{fine(8, 100, 10), lagging}, Knee{AtLeast: probe.Some(8.0)}, []WallName{Client}, 32, []string{"lag P99 62 ms"}},
		{"client cap", []Level{fine(8, 100, 10), capped}, Knee{AtLeast: probe.Some(8.0)}, []WallName{Client}, 40, []string{"our own cap"}},
		{"refused first, then queueing", []Level{fine(4, 95, 10), refusing(8, 20, 90, 30000, tokens), fine(16, 400, 10)}, kneeAt(4), []WallName{TPMQuota, Queue}, 8, nil},
		{"a knee without a cause", []Level{fine(4, 95, 10), fine(8, 180, 12)}, kneeAt(4), []WallName{None}, 0, []string{"stopped rising after 4"}},
		{"nothing", nil, Knee{}, []WallName{None}, 0, []string{"no level could be judged"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			walls := Walls(c.levels, c.knee, Thresholds{})
			var names []WallName
			for _, w := range walls {
				names = append(names, w.Limit)
			}
			if !slices.Equal(names, c.want) {
				t.Fatalf("walls %+v, want %v", walls, c.want)
			}
			if walls[0].FromLoad.V != c.from {
				t.Errorf("from %+v, want %g", walls[0].FromLoad, c.from)
			}
			for _, e := range c.evidence {
				if !strings.Contains(walls[0].Evidence, e) {
					t.Errorf("evidence %q lacks %q", walls[0].Evidence, e)
				}
			}
		})
	}
}

// TestRefusalsFromSamples: an endpoint that takes three at a time and refuses
// the rest shows the same number in flight at every refusal; one that refuses
// for the rest of a minute does not.
func TestRefusalsFromSamples(t *testing.T) {
	v := server{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Tokens: 91}
	refuse := func(at time.Duration) Sample {
		return Sample{Timing: Timing{Intended: at, Sent: at, Done: at + time.Millisecond}, T0: at, Outcome: probe.RateLimited, Kind: probe.KindOurs}
	}
	var limited, quota []Sample
	for i := range 60 {
		at := time.Duration(i) * 100 * time.Millisecond
		if i%10 < 3 {
			limited = append(limited, v.serve(at, at))
		} else {
			limited = append(limited, refuse(at))
		}
		if i < 20 {
			quota = append(quota, v.serve(at, at))
		} else {
			quota = append(quota, refuse(at))
		}
	}
	l := NewLevel(Run{Mode: Concurrency, Load: 6, Samples: limited})
	if l.Throttle == nil || l.Throttle.Count != 42 || l.Throttle.InFlightLow.V < 2 || l.Throttle.InFlightMax.V != 3 {
		t.Errorf("throttle %+v, want 42 refusals at 3 in flight", l.Throttle)
	}
	if text := flyingText([]Level{l}); text != ", each time with 3 requests in flight" {
		t.Errorf("evidence %q", text)
	}
	q := NewLevel(Run{Mode: Concurrency, Load: 6, Samples: quota})
	if text := flyingText([]Level{q}); text != "" {
		t.Errorf("evidence %q (%+v); want none: the number in flight falls to 0 as the quota is used up", text, q.Throttle)
	}
	if ok := NewLevel(Run{Mode: Concurrency, Load: 6, Samples: quota[:20]}); ok.Throttle != nil {
		t.Errorf("throttle %+v without a refusal", ok.Throttle)
	}
}

func TestThousands(t *testing.T) {
	for give, want := range map[float64]string{0: "0", 4.26: "4.3", 99.94: "99.9", 100: "100", 999.6: "1,000", 30000: "30,000", 1234567: "1,234,567"} {
		if got := thousands(give); got != want {
			t.Errorf("thousands(%g) = %s, want %s", give, got, want)
		}
	}
}
