package sim

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRPM: exactly 5 requests in any 60 s. They arrive 10 s apart; the sixth,
// at 50 s, is refused for the 10 s until the first leaves the window.
func TestRPM(t *testing.T) {
	bubble(t, Config{Engine: Truth(), Quota: Quota{RPM: 5}}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		start := time.Now()
		for n := range 5 {
			time.Sleep(time.Until(start.Add(time.Duration(n) * 10 * time.Second)))
			g := ask(t, rt, chatPath, chat("sim-fast", 1))
			if g.status != 200 || g.header.Get("x-ratelimit-limit-requests") != "5" || g.header.Get("x-ratelimit-remaining-requests") != string(rune('4'-n)) {
				t.Errorf("request %d: %d %v", n, g.status, g.header)
			}
		}
		time.Sleep(time.Until(start.Add(50 * time.Second)))
		g := ask(t, rt, chatPath, chat("sim-fast", 1))
		if g.status != 429 || g.header.Get("Retry-After") != "10" || g.header.Get("x-ratelimit-remaining-requests") != "0" || g.header.Get("x-ratelimit-reset-requests") != "50s" {
			t.Errorf("sixth request: %d %v", g.status, g.header)
		}
		if !containsAll(g.body, `"type":"requests"`, `"code":"rate_limit_exceeded"`, "Limit 5, Used 5, Requested 1", "try again in 10s") {
			t.Errorf("sixth request: %s", g.body)
		}
		if other := ask(t, rt, chatPath, chat("sim-large", 1)); other.status != 200 {
			t.Errorf("another model: %d", other.status)
		}
		time.Sleep(time.Until(start.Add(60*time.Second - ms)))
		if g := ask(t, rt, chatPath, chat("sim-fast", 1)); g.status != 429 || g.header.Get("Retry-After") != "1" {
			t.Errorf("at 59.999 s: %d %v", g.status, g.header)
		}
		time.Sleep(time.Until(start.Add(60 * time.Second)))
		if g := ask(t, rt, chatPath, chat("sim-fast", 1)); g.status != 200 {
			t.Errorf("at 60 s: %d", g.status)
		}
		if st := s.Stats(); st.Outcomes["rate_limited"] != 2 || st.Outcomes["ok"] != 7 {
			t.Errorf("stats %+v", st)
		}
	})
}

// TestTPM: each request costs 10 prompt tokens and 20 of output; 100 a minute
// pay for three.
func TestTPM(t *testing.T) {
	bubble(t, Config{Engine: Truth(), Quota: Quota{TPM: 100}}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for n := range 4 {
			g := ask(t, rt, chatPath, chat("sim-fast", 20))
			if want := []int{200, 200, 200, 429}[n]; g.status != want {
				t.Errorf("request %d: %d, want %d", n, g.status, want)
			}
			if want := []string{"70", "40", "10", "10"}[n]; g.header.Get("x-ratelimit-remaining-tokens") != want {
				t.Errorf("request %d: %v, want %s tokens to remain", n, g.header, want)
			}
			if n == 3 && !containsAll(g.body, `"type":"tokens"`, "Limit 100, Used 90, Requested 30") {
				t.Errorf("fourth request: %s", g.body)
			}
		}
		if small := ask(t, rt, chatPath, chatOf("sim-fast", 1, "hi")); small.status != 200 {
			t.Errorf("a request of 4 tokens: %d", small.status)
		}
		if large := ask(t, rt, chatPath, chat("sim-fast", 200)); large.status != 429 || large.header.Get("Retry-After") != "60" {
			t.Errorf("a request over the whole quota: %d %v", large.status, large.header)
		}
		time.Sleep(time.Minute)
		if g := ask(t, rt, chatPath, chat("sim-fast", 20)); g.status != 200 || g.header.Get("x-ratelimit-remaining-tokens") != "70" {
			t.Errorf("a minute later: %d %v", g.status, g.header)
		}
	})
}

func TestConcurrencyQuota(t *testing.T) {
	bubble(t, Config{Engine: Truth(), Quota: Quota{Concurrency: 3}}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				g := ask(t, rt, chatPath, chat("sim-fast", 4))
				if g.status == 429 && (g.header.Get("Retry-After") != "1" || !strings.Contains(g.body, `"type":"concurrency"`)) {
					t.Errorf("429: %v %s", g.header, g.body)
				}
			})
		}
		wg.Wait()
		if st := s.Stats(); st.Outcomes["ok"] != 3 || st.Outcomes["rate_limited"] != 5 {
			t.Errorf("stats %+v, want 3 of 8 served", st)
		}
		if g := ask(t, rt, chatPath, chat("sim-fast", 4)); g.status != 200 {
			t.Errorf("afterwards: %d", g.status)
		}
	})
}
