package probe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"tokprobe/probe"
)

// picky is an OpenAI-compatible server that refuses some members of a body.
type picky struct {
	refuse func(body map[string]any) (status int, answer string) // 0 accepts
	// count makes prompt_tokens of the text; nil sends no usage.
	count func(text string) int

	mu     sync.Mutex
	bodies []map[string]any
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, body)
	p.mu.Unlock()
	if status, answer := p.refuse(body); status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, answer)
		return
	}
	n := 3
	if body["ignore_eos"] == true {
		n = int(body["max_tokens"].(float64))
	}
	reason := "stop"
	if n != 3 {
		reason = "length"
	}
	io.WriteString(w, role)
	for range n {
		io.WriteString(w, tok("ok "))
	}
	io.WriteString(w, strings.Replace(stop, "stop", reason, 1))
	if p.count != nil {
		text := body["messages"].([]any)[0].(map[string]any)["content"].(string)
		io.WriteString(w, usage(p.count(text), n, 0))
	}
	io.WriteString(w, done)
}

func accept(map[string]any) (int, string) { return 0, "" }

// refuseMember answers with status and body where the request has a member.
func refuseMember(name string, status int, answer string) func(map[string]any) (int, string) {
	return func(body map[string]any) (int, string) {
		if _, ok := body[name]; ok {
			return status, answer
		}
		return 0, ""
	}
}

func TestRefusedParametersAreLearnedOverHTTP(t *testing.T) {
	for _, test := range []struct {
		name, vendor string
		refuse       func(map[string]any) (int, string)
		gone, sent   string // members of the later body
	}{
		{"OpenAI", "openai", refuseMember("max_tokens", 400,
			`{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",`+
				`"type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`),
			"max_tokens", "max_completion_tokens"},
		{"flat, as vLLM was", "vllm", refuseMember("min_tokens", 400,
			`{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'min_tokens'), 'msg': 'Extra inputs are not permitted'}]",`+
				`"type":"BadRequestError","param":null,"code":400}`),
			"min_tokens", "ignore_eos"},
		{"FastAPI", "openai", refuseMember("stream_options", 422,
			`{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":{"include_usage":true}}]}`),
			"stream_options", "max_tokens"},
		{"a string for an error", "openai", refuseMember("stream_options", 400,
			`{"error":"unknown field stream_options"}`), "stream_options", "max_tokens"},
		{"plain text", "openai", refuseMember("stream_options", 400,
			`json: unknown field "stream_options"`), "stream_options", "max_tokens"},
	} {
		p := &picky{refuse: test.refuse}
		srv := httptest.NewServer(p)
		e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL, Vendor: test.vendor})
		s := spec()
		if c := e.Calibrate(t.Context(), s); c.Err != nil || c.Requests != 2 {
			t.Errorf("%s: %d requests, %v", test.name, c.Requests, c.Err)
		}
		if r := e.Probe(t.Context(), s); r.Outcome != probe.OK {
			t.Errorf("%s: %s: %s", test.name, r.Outcome, r.Err)
		}
		last := p.bodies[len(p.bodies)-1]
		if _, ok := last[test.gone]; ok || last[test.sent] == nil {
			t.Errorf("%s: body %v", test.name, last)
		}
		srv.Close()
	}
}

// A probe that meets a refusal starts the learning again by itself.
func TestARefusalOfAProbeIsLearnedFrom(t *testing.T) {
	p := &picky{refuse: accept}
	srv := httptest.NewServer(p)
	defer srv.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL})
	e.Calibrate(t.Context(), spec())
	p.refuse = refuseMember("max_tokens", 400, `{"error":{"message":"no","param":"max_tokens"}}`)
	if c := e.Calibrate(t.Context(), spec()); c.Requests != 0 {
		t.Errorf("known, yet %d requests", c.Requests)
	}
	if r := e.Probe(t.Context(), spec()); r.Outcome != probe.BadRequest {
		t.Errorf("%s: %s", r.Outcome, r.Err)
	}
	if c := e.Calibrate(t.Context(), spec()); c.Requests != 2 || c.Err != nil {
		t.Errorf("%+v", c)
	}
	if r := e.Probe(t.Context(), spec()); r.Outcome != probe.OK {
		t.Errorf("%s: %s", r.Outcome, r.Err)
	}
}

func TestExactLengthOverHTTP(t *testing.T) {
	p := &picky{refuse: accept, count: func(s string) int { return len(s) / 4 }}
	srv := httptest.NewServer(p)
	defer srv.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL, Vendor: "vllm"})
	c := e.Calibrate(t.Context(), spec())
	// 13 of the nonce and 30 of the question are 43 bytes, 10 tokens
	if want := (probe.Calibration{Requests: 1, InputTokens: 10, OutputTokens: 32}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	if r := e.Probe(t.Context(), spec()); r.Outcome != probe.OK || r.OutputTokens.V != 64 {
		t.Errorf("%s, %d tokens", r.Outcome, r.OutputTokens.V)
	}
	s := spec()
	s.Prompt.Params = map[string]any{"ignore_eos": false} // the answer ends by itself, after 3
	r := e.Probe(t.Context(), s)
	if r.Outcome != probe.Short || r.Err != `the answer ended after 3 of 64 tokens (finish reason "stop") at a server that can be held to a length` {
		t.Errorf("%s: %s", r.Outcome, r.Err)
	}
}

func TestGeneratedPromptsOverHTTP(t *testing.T) {
	p := &picky{refuse: accept, count: func(s string) int { return 20 + len(s)/4 }}
	srv := httptest.NewServer(p)
	defer srv.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL})
	for _, n := range []int{200, 4000, 128_000} {
		s := spec()
		s.Prompt = probe.Prompt{InputTokens: n}
		if c := e.Calibrate(t.Context(), s); c.Err != nil || c.Requests > 4 || c.InputTokens > 3*8000 {
			t.Errorf("%d: %+v", n, c)
		}
		r := e.Probe(t.Context(), s)
		got, ok := r.PromptTokens.Get()
		if off := got - int64(n); !ok || off*off > int64(max(2, n/100)*max(2, n/100)) || len(r.Warnings) > 0 {
			t.Errorf("asked for %d tokens, got %d; warnings %q", n, got, r.Warnings)
		}
	}
}

func TestExpectOverHTTP(t *testing.T) {
	srv := httptest.NewServer(&picky{refuse: accept})
	defer srv.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL})
	for _, test := range []struct {
		regex string
		want  probe.Outcome
	}{{"^(ok )+$", probe.OK}, {"yes", probe.Assertion}} {
		s := spec()
		s.Prompt.Expect.Regex = test.regex
		if r := e.Probe(t.Context(), s); r.Outcome != test.want || r.Text != "" {
			t.Errorf("%s: %s, text %q", test.regex, r.Outcome, r.Text)
		}
	}
}

func TestACachedNewPromptIsSuspect(t *testing.T) {
	const answer = `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":64}}}` + "\n\n"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, tok("ok"), stop, answer, done)
	}))
	defer srv.Close()
	e := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL})
	for _, test := range []struct {
		cache probe.CacheMode
		want  bool
	}{{"", true}, {probe.CacheBust, true}, {probe.CacheWarm, false}} {
		s := spec()
		s.Prompt.Cache = test.cache
		r := e.Probe(t.Context(), s)
		warned := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "64 of 100 prompt tokens") })
		if r.CacheSuspect != test.want || warned != test.want {
			t.Errorf("%q: suspect %v, warnings %q", test.cache, r.CacheSuspect, r.Warnings)
		}
	}
}

func TestModelsOverHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/api/v1/models" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"glm-4.6"},{"id":"gpt-4o"}]}`)
	}))
	defer srv.Close()
	ids, err := endpoint(t, probe.EndpointConfig{BaseURL: srv.URL + "/api"}).Models(t.Context())
	if err != nil || !slices.Equal(ids, []string{"glm-4.6", "gpt-4o"}) {
		t.Errorf("got %q, %v", ids, err)
	}
	if _, err = endpoint(t, probe.EndpointConfig{BaseURL: srv.URL}).Models(t.Context()); err == nil {
		t.Error("a 404 is no list")
	}
}
