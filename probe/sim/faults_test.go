package sim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

const ms = time.Millisecond

// TestErrorClasses switches each class on, looks at the answer, and switches it
// off again.
func TestErrorClasses(t *testing.T) {
	tests := []struct {
		class  string
		status int
		body   []string // in this order
	}{
		{"http_500", 500, []string{`{"error":{"message":"`, `"type":"InternalServerError"`, `"code":500}`}},
		{"http_502", 502, []string{"<!DOCTYPE html>"}},
		{"http_503", 503, []string{`"code":503`}},
		{"http_529", 529, []string{`"type":"overloaded_error"`}},
		{"http_429", 429, []string{`"type":"RateLimitError"`}},
		{"http_401", 401, []string{`"code":401`}},
		{"http_404", 404, []string{`"type":"NotFoundError"`}},
		{"http_400", 400, []string{`"type":"BadRequestError"`}},
		{"redirect", 302, nil},
		{"stream_error", 200, []string{`"content":"`, `data: {"error":{"message":"`, `"code":500}`, "[DONE]"}},
		{"html_200", 200, []string{"<!DOCTYPE html>"}},
		{"json_200", 200, []string{`{"id":"chatcmpl-`, `"object":"chat.completion"`, `"usage":{"prompt_tokens":`}},
		{"bad_json", 200, []string{`"content":"`, "data: {\"id\":\"half of an ob\n\n"}},
		{"empty", 200, []string{`"finish_reason":"stop"`, `"completion_tokens":0`, "[DONE]"}},
		{"content_filter", 200, []string{`"content":"`, `"finish_reason":"content_filter"`, "[DONE]"}},
	}
	if len(tests) != len(Classes()) {
		t.Fatalf("%d classes tested of %d", len(tests), len(Classes()))
	}
	bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for i, tt := range tests {
			class, ok := classOf(tt.class)
			if err := s.SetFaults(Faults{ErrorRate: 1, ErrorClass: tt.class, ErrorAfterTokens: 2}); err != nil || !ok {
				t.Fatal(tt.class, err)
			}
			g := ask(t, rt, chatPath, chat("sim-fast", 4))
			rest := g.body
			for _, part := range tt.body {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Errorf("%s: %q is missing or out of order in\n%s", tt.class, part, g.body)
				}
				rest = after
			}
			r := s.Records()[2*i]
			if g.status != tt.status || r.Status != tt.status || r.Outcome != class.Outcome {
				t.Errorf("%s: status %d, recorded %d %s, want %d %s", tt.class, g.status, r.Status, r.Outcome, tt.status, class.Outcome)
			}
			s.SetFaults()
			if g = ask(t, rt, chatPath, chat("sim-fast", 4)); g.status != 200 || s.Records()[2*i+1].Outcome != "ok" {
				t.Errorf("%s switched off: status %d, %+v", tt.class, g.status, s.Records()[2*i+1])
			}
		}
		if r := ask(t, rt, chatPath, chat("sim-fast", 4)); len(r.lines) != 8 {
			t.Errorf("healthy again: %d events, want 8", len(r.lines))
		}
	})
}

func TestSlowFactors(t *testing.T) {
	for name, e := range map[string]Engine{"truth": Truth(), "engine": {PrefillRate: 1e3, Decode: 20 * ms, Slots: 1}} {
		bubble(t, Config{Engine: e}, func(t *testing.T, s *Server, rt http.RoundTripper) {
			before := ask(t, rt, chatPath, chat("sim-fast", 3)).arrived
			s.SetFaults(Faults{TTFTFactor: 3, TPOTFactor: 2, Models: []string{"sim-fast"}})
			slow := ask(t, rt, chatPath, chat("sim-fast", 3)).arrived
			if slow[1] != 3*before[1] || slow[2]-slow[1] != 2*(before[2]-before[1]) || before[2]-before[1] != 20*ms {
				t.Errorf("%s: before %v, with factors 3 and 2 %v", name, before, slow)
			}
			if e.FixedTTFT > 0 {
				if other := ask(t, rt, chatPath, chat("sim-large", 3)).arrived; other[1] != 200*ms {
					t.Errorf("a model without the fault: %v", other)
				}
			}
		})
	}
}

// TestHangAndStall: nothing comes, and the record says what a prober should see.
func TestHangAndStall(t *testing.T) {
	tests := []struct {
		give    Faults
		outcome string
		status  int // 0: not even headers
		tokens  int
	}{
		{Faults{Hang: true}, "timeout_first_token", 0, 0},
		{Faults{StallRate: 1}, "timeout_first_token", 200, 0},
		{Faults{StallRate: 1, StallAfterTokens: 3}, "stall", 200, 3},
		{Faults{SlowHeaders: time.Minute}, "cancelled", 0, 0},
	}
	bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for i, tt := range tests {
			s.SetFaults(tt.give)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			start := time.Now()
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://sim"+chatPath, strings.NewReader(chat("sim-fast", 8)))
			resp, err := rt.RoundTrip(req)
			if tt.status == 0 && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v: error %v, want the deadline", tt.give, err)
			}
			if err == nil {
				body, err := io.ReadAll(resp.Body)
				if n := strings.Count(string(body), `"delta":{"content"`); n != tt.tokens || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%+v: %d tokens, then %v", tt.give, n, err)
				}
			}
			if d := time.Since(start); d != 5*time.Second {
				t.Errorf("%+v: ended after %v, want the client's 5 s", tt.give, d)
			}
			cancel()
			time.Sleep(ms)
			if r := s.Records()[i]; r.Outcome != tt.outcome || !r.Cancelled || r.Tokens != tt.tokens || r.Status != tt.status {
				t.Errorf("%+v: record %+v", tt.give, r)
			}
			if h := get(t, rt, "/health"); h.StatusCode != 200 {
				t.Errorf("%+v: /health is %d", tt.give, h.StatusCode)
			}
		}
	})
}

func TestCut(t *testing.T) {
	tests := []struct {
		cut  string
		want error
		out  string
	}{{"truncate", io.ErrUnexpectedEOF, "truncated"}, {"reset", syscall.ECONNRESET, "reset"}}
	for _, tt := range tests {
		bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
			s.SetFaults(Faults{Cut: tt.cut, CutRate: 1, CutAfterTokens: 3})
			g := ask(t, rt, chatPath, chat("sim-fast", 8))
			if !errors.Is(g.err, tt.want) || len(g.lines) != 4 {
				t.Errorf("%s: %d events, then %v", tt.cut, len(g.lines), g.err)
			}
			if r := s.Records()[0]; r.Outcome != tt.out || r.Tokens != 3 || r.Cancelled {
				t.Errorf("%s: record %+v", tt.cut, r)
			}
		})
	}
}

func TestCoalesceSlowHeadersKeepalive(t *testing.T) {
	bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		s.SetFaults(Faults{Coalesce: true})
		g := ask(t, rt, chatPath, chat("sim-fast", 6))
		if len(g.arrived) != 10 || g.arrived[0] != 300*ms || g.arrived[9] != 300*ms {
			t.Errorf("coalesced: %v, want all at 300 ms", g.arrived)
		}
		r := s.Records()[0]
		if d, ok := r.TTFT(); d != 300*ms || !ok || r.StreamedTokens != 6 {
			t.Errorf("coalesced: TTFT %v of %+v", d, r)
		}
		if d, ok := r.TPOT(); ok {
			t.Errorf("coalesced: TPOT %v, want none", d)
		}

		s.SetFaults(Faults{SlowHeaders: 250 * ms})
		start := time.Now()
		resp := post(t, rt, chatPath, chat("sim-fast", 6))
		if d := time.Since(start); d != 250*ms {
			t.Errorf("headers after %v, want 250 ms", d)
		}
		io.Copy(io.Discard, resp.Body)
		if d := time.Since(start); d != 300*ms {
			t.Errorf("end after %v, want 300 ms as without the fault", d)
		}

		s.SetFaults(Faults{Keepalive: 60 * ms})
		g = ask(t, rt, chatPath, chat("sim-fast", 6))
		if n := strings.Count(g.body, ": keep-alive\n\n"); n != 3 || g.arrived[1] != 200*ms {
			t.Errorf("%d comments (want 3: at 60, 120, 180 ms), events %v", n, g.arrived)
		}
	})
}

// TestRatesRepeat: about a third of 300 requests fail, the same ones each time.
func TestRatesRepeat(t *testing.T) {
	run := func(seed uint64) string {
		var fates strings.Builder
		f := Faults{ErrorRate: 0.3, ErrorClass: "http_500"}
		for n := range uint64(300) {
			fates.WriteByte("ox"[min(1, len(f.draw(seed, n).class.Name))])
		}
		return fates.String()
	}
	a := run(7)
	if n := strings.Count(a, "x"); n < 70 || n > 110 {
		t.Errorf("%d of 300 fail, want about 90", n)
	}
	if a != run(7) || a == run(8) {
		t.Error("fates must repeat with the seed and differ between seeds")
	}
}

func TestFaultsOverHTTP(t *testing.T) {
	bubble(t, Config{Engine: Truth()}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		want := Faults{TTFTFactor: 3, Models: []string{"sim-fast"}, ErrorRate: 0.5, ErrorClass: "http_503", Keepalive: 5 * time.Second}
		put := `{"models":["sim-fast"],"ttft_factor":3,"error_rate":0.5,"error_class":"http_503","keepalive":"5s"}`
		if code, body := control(t, rt, "PUT", put); code != 200 || body != "["+put+"]\n" {
			t.Errorf("PUT: %d %s", code, body)
		}
		if f := s.Faults(); len(f) != 1 || !reflect.DeepEqual(f[0], want) {
			t.Errorf("in force: %+v", f)
		}
		if code, body := control(t, rt, "DELETE", ""); code != 200 || body != "[]\n" || len(s.Faults()) != 0 {
			t.Errorf("DELETE: %d %s", code, body)
		}
		for give, want := range map[string]string{
			`{"error_rate":2}`:                     "error_rate is 2",
			`{"error_rate":1}`:                     `error_class "" is unknown: take one of [http_500`,
			`{"ttft_factr":2}`:                     `unknown field "ttft_factr"`,
			`{"keepalive":"5"}`:                    "keepalive: time: missing unit",
			`{"cut":"tear"}`:                       "take truncate or reset",
			`{"hang":`:                             "unexpected end of JSON",
			`[{"hang":true},{"tpot_factor":-1}]`:   "tpot_factor -1",
			`{"error_class":"http_500","hang":[]}`: "cannot unmarshal",
		} {
			if code, body := control(t, rt, "PUT", give); code != 400 || !strings.Contains(body, want) || len(s.Faults()) != 0 {
				t.Errorf("PUT %s: %d %q, want 400 with %q; in force: %v", give, code, body, want, s.Faults())
			}
		}
	})
}

func control(t *testing.T, rt http.RoundTripper, method, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://sim/sim/faults", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

func TestRecordsAndStatsOverHTTP(t *testing.T) {
	bubble(t, Config{Engine: Truth(), RecordLimit: 3}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for n := range 5 {
			ask(t, rt, chatPath, chat("sim-fast", n+1))
		}
		ask(t, rt, chatPath, chat("no-such-model", 1))
		var records []struct {
			ID      string   `json:"id"`
			Outcome string   `json:"outcome"`
			First   *float64 `json:"first_token_s"`
			Last    *float64 `json:"last_token_s"`
			Tokens  int      `json:"tokens"`
		}
		if err := json.NewDecoder(get(t, rt, "/sim/records").Body).Decode(&records); err != nil {
			t.Fatal(err)
		}
		if len(records) != 3 || records[0].Tokens != 4 || records[1].Tokens != 5 || records[2].Outcome != "not_found" || records[2].First != nil {
			t.Fatalf("records %+v, want the last three, oldest first", records)
		}
		if *records[0].First != 0.2 || *records[0].Last != 0.26 {
			t.Errorf("first token %v s, last %v s, want 0.2 and 0.26", *records[0].First, *records[0].Last)
		}
		var st Stats
		if err := json.NewDecoder(get(t, rt, "/sim/stats").Body).Decode(&st); err != nil {
			t.Fatal(err)
		}
		want := Stats{Requests: 6, MaxInFlight: 1, PromptTokens: 5 * 10, OutputTokens: 15, Outcomes: map[string]int{"ok": 5, "not_found": 1}}
		if !reflect.DeepEqual(st, want) {
			t.Errorf("stats %+v, want %+v", st, want)
		}
	})
}
