package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// got is what a simple client saw.
type got struct {
	status  int
	header  http.Header
	body    string
	arrived []time.Duration // of every data line, from the request
	lines   []string        // the data of each
	err     error
}

// post sends one request and does not read the answer.
func post(t *testing.T, rt http.RoundTripper, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://sim"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// ask sends one request and reads the answer line by line.
func ask(t *testing.T, rt http.RoundTripper, path, body string) got {
	t.Helper()
	start := time.Now()
	resp := post(t, rt, path, body)
	defer resp.Body.Close()
	g := got{status: resp.StatusCode, header: resp.Header}
	var all bytes.Buffer
	r := bufio.NewReader(io.TeeReader(resp.Body, &all))
	for {
		line, err := r.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			g.arrived = append(g.arrived, time.Since(start))
			g.lines = append(g.lines, strings.TrimSuffix(data, "\n"))
		}
		if err != nil {
			if err != io.EOF {
				g.err = err
			}
			break
		}
	}
	g.body = all.String()
	return g
}

const chatPath = "/v1/chat/completions"

func chat(model string, tokens int) string {
	return chatOf(model, tokens, "Explain continuous batching in three sentences.")
}

func chatOf(model string, tokens int, prompt string) string {
	b, err := json.Marshal(map[string]any{
		"model": model, "stream": true, "max_tokens": tokens, "stream_options": map[string]any{"include_usage": true},
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func manyWords(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// bubble runs f with a server in virtual time.
func bubble(t *testing.T, cfg Config, f func(*testing.T, *Server, http.RoundTripper)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(cfg)
		defer s.Close()
		f(t, s, s.Transport())
	})
}

func TestTruthModeIsExact(t *testing.T) {
	bubble(t, Config{Engine: Truth(), TokenTimes: true}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		g := ask(t, rt, chatPath, chat("sim-fast", 64))
		// role, 64 tokens, finish, usage, [DONE]
		if len(g.lines) != 68 {
			t.Fatalf("%d events, want 68:\n%s", len(g.lines), g.body)
		}
		if g.arrived[0] != 0 {
			t.Errorf("role after %v, want 0", g.arrived[0])
		}
		for i := range 64 {
			want := 200*time.Millisecond + time.Duration(i)*20*time.Millisecond
			if g.arrived[i+1] != want {
				t.Errorf("token %d after %v, want %v", i, g.arrived[i+1], want)
			}
		}
		r := s.Records()[0]
		ttft, _ := r.TTFT()
		tpot, _ := r.TPOT()
		if ttft != 200*time.Millisecond || tpot != 20*time.Millisecond || r.Tokens != 64 || r.Outcome != "ok" || r.FinishReason != "length" {
			t.Errorf("record %+v", r)
		}
		if r.ID != g.header.Get("X-Request-Id") || !strings.Contains(g.lines[0], `"id":"chatcmpl-`+r.ID+`"`) {
			t.Errorf("id %q, header %q, first event %s", r.ID, g.header.Get("X-Request-Id"), g.lines[0])
		}
		if len(r.TokenTimes) != 64 || r.TokenTimes[63] != 200*time.Millisecond+63*20*time.Millisecond {
			t.Errorf("token times %v", r.TokenTimes)
		}
	})
}

func TestEngineStepOfDoc(t *testing.T) {
	// doc.go: an 80-token prompt on an idle sim-fast takes 18.1 ms to the
	// first token, then 8.1 ms a token. 60 words and the role are 61 words,
	// 61 × 1.3 = 79.3, so 80 tokens.
	bubble(t, Config{}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		g := ask(t, rt, chatPath, chatOf("sim-fast", 3, manyWords(60)))
		want := []time.Duration{0, 18100 * time.Microsecond, 26200 * time.Microsecond, 34300 * time.Microsecond}
		for i, w := range want {
			if g.arrived[i] != w {
				t.Errorf("event %d after %v, want %v", i, g.arrived[i], w)
			}
		}
		if r := s.Records()[0]; r.PromptTokens != 80 {
			t.Errorf("prompt of %d tokens, want 80", r.PromptTokens)
		}
	})
}

func get(t *testing.T, rt http.RoundTripper, path string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sim"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
