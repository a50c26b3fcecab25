package wire

import (
	"math"
	"strings"
	"testing"
)

func TestEncode(t *testing.T) {
	hello := []Message{{"user", "Say <hi> & go"}}
	talk := []Message{{"system", "Be brief."}, {"user", "One"}, {"assistant", "1"}, {"system", "In words."}, {"user", "Two"}}
	for _, c := range []struct {
		name, dialect string
		give          Request
		want          string
	}{
		{"chat", "openai-chat", Request{Model: "m", Messages: hello, MaxTokens: 64},
			`{"max_tokens":64,"messages":[{"role":"user","content":"Say <hi> & go"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{"chat, as little as possible", "openai-chat", Request{Messages: hello, NoStreamOptions: true},
			`{"messages":[{"role":"user","content":"Say <hi> & go"}],"stream":true}`},
		{"chat, renamed bound and fixed length", "openai-chat", Request{Model: "m", Messages: hello, MaxTokens: 8, MaxTokensField: "max_completion_tokens", NoStreamOptions: true, IgnoreEOS: true, MinTokens: 8},
			`{"ignore_eos":true,"max_completion_tokens":8,"messages":[{"role":"user","content":"Say <hi> & go"}],"min_tokens":8,"model":"m","stream":true}`},
		{"chat, params win", "openai-chat", Request{Model: "m", Messages: hello, MaxTokens: 8, Params: map[string]any{"max_tokens": 9, "stream_options": map[string]any{"x": 1}, "b": nil, "a": map[string]any{"d": 1, "c": []any{2.5}}}},
			`{"a":{"c":[2.5],"d":1},"b":null,"max_tokens":9,"messages":[{"role":"user","content":"Say <hi> & go"}],"model":"m","stream":true,"stream_options":{"x":1}}`},
		{"completions", "openai-completions", Request{Model: "m", Messages: talk, MaxTokens: 8, MaxTokensField: "max_completion_tokens"},
			`{"max_tokens":8,"model":"m","prompt":"Be brief.\n\nOne\n\n1\n\nIn words.\n\nTwo","stream":true,"stream_options":{"include_usage":true}}`},
		{"anthropic", "anthropic-messages", Request{Model: "m", Messages: talk, IgnoreEOS: true, MinTokens: 8, MaxTokens: 9},
			`{"max_tokens":9,"messages":[{"role":"user","content":"One"},{"role":"assistant","content":"1"},{"role":"user","content":"Two"}],"model":"m","stream":true,"system":"Be brief.\n\nIn words."}`},
		{"anthropic, default bound", "anthropic-messages", Request{Model: "m", Messages: hello, Params: map[string]any{"temperature": 0}},
			`{"max_tokens":64,"messages":[{"role":"user","content":"Say <hi> & go"}],"model":"m","stream":true,"temperature":0}`},
	} {
		d, _ := Lookup(c.dialect)
		for range 3 { // the same bytes every time: prompts are hashed
			got, err := d.Encode(c.give)
			if err != nil || string(got) != c.want {
				t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
			}
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		give          Request
		want          string
	}{
		{"no messages", "openai-chat", Request{}, "no messages"},
		{"no messages", "openai-completions", Request{}, "no messages"},
		{"only system", "anthropic-messages", Request{Messages: []Message{{"system", "x"}}}, "no message but of the role system"},
		{"no JSON", "openai-chat", Request{Messages: []Message{{"user", "x"}}, Params: map[string]any{"temperature": math.NaN()}}, "request body: "},
	} {
		d, _ := Lookup(c.dialect)
		if _, err := d.Encode(c.give); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: error %v, want %q in it", c.dialect, c.name, err, c.want)
		}
	}
}

func TestDialects(t *testing.T) {
	want := []struct{ name, path, key, version string }{
		{"openai-chat", "/v1/chat/completions", "Authorization", ""},
		{"openai-completions", "/v1/completions", "Authorization", ""},
		{"anthropic-messages", "/v1/messages", "x-api-key", "2023-06-01"},
	}
	if got := len(Names()); got != len(want) {
		t.Fatalf("%d dialects, want %d", got, len(want))
	}
	for i, w := range want {
		d, ok := Lookup(w.name)
		if !ok || Names()[i] != w.name || d.Name != w.name || d.Path != w.path || d.KeyHeader != w.key || d.Headers["anthropic-version"] != w.version {
			t.Errorf("dialect %d: got %+v, want %+v", i, d, w)
		}
	}
	if _, ok := Lookup("openai"); ok {
		t.Error("found a dialect that is not in the table")
	}
}
