package sim

import (
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// load runs clients that each send so many requests one after the other, and
// returns tokens a second and the median time to first token.
func load(t *testing.T, s *Server, rt http.RoundTripper, clients, each int) (rate float64, ttft time.Duration) {
	t.Helper()
	start, before := time.Now(), s.Stats().OutputTokens
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range each {
				if g := ask(t, rt, chatPath, chat("sim-fast", 32)); g.status != 200 || g.err != nil {
					t.Errorf("status %d, error %v", g.status, g.err)
				}
			}
		})
	}
	wg.Wait()
	rate = float64(s.Stats().OutputTokens-before) / time.Since(start).Seconds()
	var all []time.Duration
	for _, r := range s.Records()[len(s.Records())-clients*each:] {
		d, _ := r.TTFT()
		all = append(all, d)
	}
	slices.Sort(all)
	return rate, all[len(all)/2]
}

// TestThroughputLaw: with 4 slots, steps of 10 ms + 1 ms a sequence and next to
// no prefill, n ≤ 4 clients get n/(10+n) tokens a millisecond; more clients
// get no more, but wait: with 16, each request waits for three others of
// 32 × 14 = 448 ms.
func TestThroughputLaw(t *testing.T) {
	e := Engine{PrefillRate: 1e9, Decode: 10 * time.Millisecond, DecodeSlope: time.Millisecond, Slots: 4}
	bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		tests := []struct {
			clients int
			rate    float64
			ttft    time.Duration
		}{
			{1, 1000.0 / 11, 11 * time.Millisecond},
			{2, 2000.0 / 12, 12 * time.Millisecond},
			{4, 4000.0 / 14, 14 * time.Millisecond},
			{8, 4000.0 / 14, (448 + 14) * time.Millisecond},
			{16, 4000.0 / 14, (3*448 + 14) * time.Millisecond},
		}
		for _, tt := range tests {
			rate, ttft := load(t, s, rt, tt.clients, 10)
			if math.Abs(rate/tt.rate-1) > 1e-4 {
				t.Errorf("%d clients: %.1f tokens/s, want %.1f", tt.clients, rate, tt.rate)
			}
			if !near(ttft, tt.ttft) {
				t.Errorf("%d clients: TTFT P50 %v, want %v", tt.clients, ttft, tt.ttft)
			}
		}
	})
}

// TestChunkedPrefill: a prompt of 5,202 tokens in steps of 2,048 needs three
// steps of 10 ms, and the prefill of 5,202 tokens at 10,000 a second.
func TestChunkedPrefill(t *testing.T) {
	e := Engine{PrefillRate: 10000, Decode: 10 * time.Millisecond, Slots: 4}
	bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		g := ask(t, rt, chatPath, chatOf("sim-fast", 2, manyWords(4000)))
		prompt := s.Records()[0].PromptTokens
		if prompt != 5202 {
			t.Fatalf("prompt of %d tokens, want 5202: (4000 + 1) × 1.3 rounded up", prompt)
		}
		want := 30*time.Millisecond + 520200*time.Microsecond
		if len(g.arrived) < 3 || !near(g.arrived[1], want) || !near(g.arrived[2], want+10*time.Millisecond) {
			t.Errorf("events after %v, want the first token at %v and the second 10 ms later", g.arrived, want)
		}
	})
}

// near allows for rounding, and for the nanoseconds of a prefill at 1e9 a second.
func near(a, b time.Duration) bool { return a-b < time.Microsecond && b-a < time.Microsecond }

// TestPrefixCache: the second request with the same 100-word prompt finds the
// blocks of its 101 words (6 × 16 = 96 words, 124 tokens) and prefills the
// other 8 of 132 tokens.
func TestPrefixCache(t *testing.T) {
	e := Engine{PrefillRate: 1000, Decode: 10 * time.Millisecond, Slots: 4, PrefixCache: true}
	bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		first := ask(t, rt, chatPath, chatOf("sim-fast", 2, manyWords(100)))
		again := ask(t, rt, chatPath, chatOf("sim-fast", 2, manyWords(100)))
		other := ask(t, rt, chatPath, chatOf("sim-fast", 2, "000000000001\n"+manyWords(100)))
		if !near(first.arrived[1], 142*time.Millisecond) || !near(again.arrived[1], 18*time.Millisecond) {
			t.Errorf("first tokens after %v and %v, want 142 ms and 18 ms", first.arrived[1], again.arrived[1])
		}
		want := []int{0, 124, 0}
		for i, r := range s.Records() {
			if r.CachedTokens != want[i] {
				t.Errorf("request %d: %d cached tokens, want %d", i, r.CachedTokens, want[i])
			}
		}
		if !containsAll(again.body, `"prompt_tokens":132,`, `"cached_tokens":124}`) || !containsAll(other.body, `"cached_tokens":0}`) {
			t.Errorf("usage lacks the cached tokens:\n%s", again.body)
		}
	})
}

// TestLastTokenIsComputed: 80 words are five whole blocks and exactly 104
// tokens; with all of them cached, one is computed all the same.
func TestLastTokenIsComputed(t *testing.T) {
	var p text
	p.add(manyWords(80))
	c := newPrefixCache()
	c.add(p.blocks)
	if n := c.match(p.blocks, p.tokens()); n != 103 || len(p.blocks) != 5 {
		t.Errorf("%d tokens of %d blocks cached, want 103 of 5", n, len(p.blocks))
	}
}

// TestPreemption: two sequences of 11 + 32 tokens in a cache of 64 outgrow it;
// the younger one is computed again and both end whole.
func TestPreemption(t *testing.T) {
	e := Engine{PrefillRate: 1e6, Decode: 10 * time.Millisecond, Slots: 4, KVTokens: 64}
	bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		load(t, s, rt, 2, 1)
		st := s.Stats()
		if n := s.models["sim-fast"].stats.preemptions; n == 0 {
			t.Error("no preemption")
		}
		if st.OutputTokens != 64 || st.Outcomes["ok"] != 2 {
			t.Errorf("stats %+v, want 64 tokens of 2 answers", st)
		}
	})
}

// TestLeavingFreesTheSlot: the only slot is taken by a client that leaves
// after its first token; the next request starts with the next step.
func TestLeavingFreesTheSlot(t *testing.T) {
	e := Engine{PrefillRate: 1e9, Decode: 10 * time.Millisecond, Slots: 1}
	bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		leave := post(t, rt, chatPath, chat("sim-fast", 1000))
		time.Sleep(15 * time.Millisecond)
		leave.Body.Close()
		g := ask(t, rt, chatPath, chat("sim-fast", 2))
		if !near(g.arrived[1], 15*time.Millisecond) { // the step that runs ends 5 ms later
			t.Errorf("first token after %v, want 15 ms", g.arrived[1])
		}
		r := s.Records()[0]
		if !r.Cancelled || r.Outcome != "cancelled" || r.Tokens != 1 {
			t.Errorf("record of the client that left: %+v", r)
		}
	})
}

func TestQueueLimit(t *testing.T) {
	tests := []struct{ limit, want int }{{0, 0}, {3, 5}, {-1, 8}}
	for _, tt := range tests {
		e := Engine{Slots: 2, QueueLimit: tt.limit}
		bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					g := ask(t, rt, chatPath, chat("sim-fast", 8))
					if g.status == 429 && (g.header.Get("Retry-After") != "" || !containsAll(g.body, `"type":"RateLimitError"`, `"code":429`)) {
						t.Errorf("429 with %v: %s", g.header, g.body)
					}
				})
			}
			wg.Wait()
			if n := s.Stats().Outcomes["rate_limited"]; n != tt.want {
				t.Errorf("limit %d: %d refused of 10, want %d", tt.limit, n, tt.want)
			}
		})
	}
}

// TestJitterRepeats: the same seed gives the same times, another one others.
func TestJitterRepeats(t *testing.T) {
	run := func(seed uint64) (times []time.Duration) {
		e := DefaultEngine("sim-fast")
		e.Jitter = 0.3
		bubble(t, Config{Engine: e, Seed: seed}, func(t *testing.T, s *Server, rt http.RoundTripper) {
			for range 3 {
				times = append(times, ask(t, rt, chatPath, chat("sim-fast", 16)).arrived...)
			}
		})
		return times
	}
	a, b, c := run(1), run(1), run(2)
	if !slices.Equal(a, b) {
		t.Errorf("seed 1 gave %v, then %v", a, b)
	}
	if slices.Equal(a, c) {
		t.Error("seeds 1 and 2 gave the same times")
	}
}
