package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestBadRequests(t *testing.T) {
	cfg := Config{Engine: Engine{MaxModelLen: 100}, Refuse: []string{"max_tokens", "stream_options"}}
	const messages = `"messages":[{"role":"user","content":"hi"}]`
	tests := []struct {
		path, give string
		status     int
		want       []string
	}{
		{chatPath, `{`, 400, []string{`"type":"BadRequestError"`, "error parsing the body", `"code":400`}},
		{chatPath, `{` + messages + `}`, 400, []string{`"param":"model"`}},
		{chatPath, `{"model":"gpt-9",` + messages + `}`, 404, []string{"The model `gpt-9` does not exist.", `"code":"model_not_found"`}},
		{chatPath, `{"model":"sim-fast"}`, 400, []string{`"param":"messages"`}},
		{chatPath, `{"model":"sim-fast","messages":[]}`, 400, []string{`"param":"messages"`}},
		{chatPath, `{"model":"sim-fast","messages":"hi"}`, 400, []string{`"param":"messages"`, "not string"}},
		{chatPath, `{"model":"sim-fast","messages":[{"role":"robot","content":"hi"}]}`, 400, []string{`unexpected role \"robot\"`}},
		{chatPath, `{"model":"sim-fast","max_tokens":5,` + messages + `}`, 400, []string{`"param":"max_tokens"`, "Use 'max_completion_tokens' instead.", "unsupported_parameter"}},
		{chatPath, `{"model":"sim-fast","stream":true,"stream_options":{},` + messages + `}`, 400, []string{"Unrecognized request argument supplied: stream_options"}},
		{chatPath, `{"model":"sim-fast","max_completion_tokens":0,` + messages + `}`, 400, []string{"max_tokens must be at least 1, got 0."}},
		{chatPath, `{"model":"sim-fast","max_completion_tokens":99,` + messages + `}`, 400, []string{"maximum context length is 100 tokens", "you requested 102 tokens (3 in the messages, 99 in the completion)"}},
		{chatPath, `{"model":"sim-fast","n":2,` + messages + `}`, 400, []string{`"param":"n"`}},
		{chatPath, `{"model":"sim-fast","temperature":3,` + messages + `}`, 400, []string{`"param":"temperature"`}},
		{"/v1/completions", `{"model":"sim-fast"}`, 400, []string{`"param":"prompt"`}},
		{"/v1/messages", `{"model":"sim-fast",` + messages + `}`, 400, []string{`{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}`}},
		{"/v1/messages", `{"model":"gpt-9","max_tokens":1,` + messages + `}`, 404, []string{`"type":"not_found_error"`}},
		{"/v1/embeddings", `{}`, 404, nil},
	}
	bubble(t, cfg, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for _, tt := range tests {
			g := ask(t, rt, tt.path, tt.give)
			if g.status != tt.status || !containsAll(g.body, tt.want...) {
				t.Errorf("%s: %d %s\nwant %d with %q", tt.give, g.status, g.body, tt.status, tt.want)
			}
		}
		if st := s.Stats(); st.Requests != len(tests)-1 || st.Outcomes["bad_request"] != len(tests)-3 || st.Outcomes["not_found"] != 2 {
			t.Errorf("stats %+v", st)
		}
	})
}

func TestStreamOptionsNeedAStream(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		g := ask(t, rt, chatPath, `{"model":"sim-fast","stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`)
		if g.status != 400 || !strings.Contains(g.body, "Stream options can only be defined when `stream=True`.") {
			t.Errorf("%d %s", g.status, g.body)
		}
	})
}

func TestKeyAndModels(t *testing.T) {
	bubble(t, Config{APIKey: "k-right", PathPrefix: "/api", Models: []string{"one", "two"}}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		list := func(header, value string) (int, string) {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://sim/api/v1/models", nil)
			req.Header.Set(header, value)
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			return resp.StatusCode, string(b)
		}
		for _, tt := range []struct {
			header, value string
			want          int
		}{
			{"Authorization", "Bearer k-right", 200}, {"x-api-key", "k-right", 200},
			{"Authorization", "k-right", 401}, {"Authorization", "Bearer k-wrong", 401}, {"x-api-key", "", 401},
		} {
			code, body := list(tt.header, tt.value)
			if code != tt.want || strings.Contains(body, "k-") {
				t.Errorf("%s: %s: %d %s", tt.header, tt.value, code, body)
			}
			if code == 200 && !containsAll(body, `"object":"list"`, `"id":"one"`, `"id":"two"`) {
				t.Errorf("models: %s", body)
			}
		}
		if g := ask(t, rt, "/api"+chatPath, chat("one", 1)); g.status != 401 || s.Records()[0].Outcome != "auth" || !strings.Contains(g.body, "invalid_api_key") {
			t.Errorf("no key: %d %s", g.status, g.body)
		}
		if h := get(t, rt, "/api/health"); h.StatusCode != 200 {
			t.Errorf("health %d", h.StatusCode)
		}
		if h := get(t, rt, "/health"); h.StatusCode != 404 {
			t.Errorf("health without the prefix: %d", h.StatusCode)
		}
	})
}

func TestWholeAnswers(t *testing.T) {
	const fields = `"model":"sim-fast","max_tokens":5,`
	bubble(t, Config{Engine: Truth(), Answer: Answer{Reasoning: 2}}, func(t *testing.T, s *Server, rt http.RoundTripper) {
		for path, give := range map[string]string{
			chatPath:          `{` + fields + `"messages":[{"role":"user","content":[{"type":"text","text":"hi there"}]}]}`,
			"/v1/completions": `{` + fields + `"prompt":["hi there"]}`,
			"/v1/messages":    `{` + fields + `"system":"Be short.","messages":[{"role":"user","content":"hi there"}]}`,
		} {
			g := ask(t, rt, path, give)
			var v map[string]any
			if err := json.Unmarshal([]byte(g.body), &v); err != nil || g.status != 200 {
				t.Fatalf("%s: %d %v: %s", path, g.status, err, g.body)
			}
			if u := v["usage"].(map[string]any); u["completion_tokens"] != 5.0 && u["output_tokens"] != 5.0 {
				t.Errorf("%s: usage %v, want 5 tokens", path, u)
			}
		}
		for _, r := range s.Records() {
			if d := r.End.Sub(r.Arrival); d != 280*ms || r.Outcome != "ok" || r.Tokens != 5 || (r.ReasoningTokens != 2) != (r.Protocol == "openai-completions") {
				t.Errorf("record %+v ended after %v, want 280 ms", r, d)
			}
		}
	})
}

// TestCountTokens: 1.3 tokens a word, rounded up; a Chinese character is a word.
func TestCountTokens(t *testing.T) {
	for give, want := range map[string]int{
		"": 1, "one": 2, " one  two\nthree ": 4, "一二三": 4, "vLLM 连续批处理 is": 10, "012345678901\nword": 3,
		manyWords(1000): 1300,
	} {
		var p text
		p.add(give)
		if n := p.tokens(); n != want {
			t.Errorf("%.20q: %d tokens, want %d", give, n, want)
		}
	}
}
