package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseModels(t *testing.T) {
	for _, test := range []struct {
		name, give string
		want       []string
		err        string
	}{
		{"OpenAI", `{"object":"list","data":[{"id":"b","object":"model"},{"id":"a"}]}`, []string{"b", "a"}, ""},
		{"Anthropic", `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X"}],"has_more":false}`, []string{"claude-x"}, ""},
		{"Ollama", `{"models":[{"name":"llama3:8b","model":"llama3:8b"}]}`, []string{"llama3:8b"}, ""},
		{"both", `{"models":[{"name":"x"}],"data":[{"id":"y"}]}`, []string{"y"}, ""},
		{"bare list of objects", `[{"id":"a"},{"model":"b"}]`, []string{"a", "b"}, ""},
		{"bare list of names", `["a","b","a",""]`, []string{"a", "b"}, ""},
		{"names in data", `{"data":["a"]}`, []string{"a"}, ""},
		{"by name", `{"models":{"b":{},"a":{}}}`, []string{"a", "b"}, ""},
		{"odd members hide nothing", `[{"id":7,"name":"a"},3,null,{"id":"b","name":[]}]`, []string{"a", "b"}, ""},
		{"none", `{"data":[]}`, []string{}, ""},
		{"control characters", `["a\u001b[31mb\n"]`, []string{"a[31mb"}, ""},
		{"HTML", `<html>`, nil, "GET /v1/models: the answer is not JSON"},
		{"nothing", ``, nil, "GET /v1/models: the answer is not JSON"},
		{"something else", `{"status":"ok"}`, nil, "GET /v1/models: the answer holds no list of models"},
		{"a text", `"ok"`, nil, "GET /v1/models: the answer holds no list of models"},
	} {
		got, err := parseModels([]byte(test.give))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !slices.Equal(got, test.want) || text != test.err {
			t.Errorf("%s: got %q, %q; want %q, %q", test.name, got, text, test.want, test.err)
		}
	}
}

func TestModelListsAreBounded(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, `["%s"`, strings.Repeat("x", maxModelID+1))
	for i := range maxModels + 10 {
		fmt.Fprintf(&b, `,"model-%d"`, i)
	}
	b.WriteString("]")
	got, err := parseModels([]byte(b.String()))
	if err != nil || len(got) != maxModels || got[0] != "model-0" {
		t.Errorf("%d ids, the first %.20q, %v", len(got), got[0], err)
	}
}

func TestNearest(t *testing.T) {
	ids := []string{"gpt-4o", "gpt-4o-mini", "glm-4.6", "GLM-4.5-Air", "deepseek-v3.1"}
	for _, test := range []struct {
		give string
		n    int
		want []string
	}{
		{"gpt-4o", 1, []string{"gpt-4o"}},
		{"GLM4-6", 1, []string{"glm-4.6"}},
		{"glm-4-5-air", 1, []string{"GLM-4.5-Air"}},
		{"gpt-4omini", 2, []string{"gpt-4o-mini", "gpt-4o"}},
		{"deepseek-ai/DeepSeek-V3.1", 1, []string{"deepseek-v3.1"}},
		{"deepsek", 1, []string{"deepseek-v3.1"}},
		{"gpt-4o", 0, []string{}},
		{"gpt-4o", -1, []string{}},
	} {
		if got := Nearest(test.give, ids, test.n); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.give, got, test.want)
		}
	}
	owned := []string{"qwen2-7b", "some-long-organisation/Qwen3-8B"}
	if got := Nearest("qwen3-8b", owned, 1); !slices.Equal(got, owned[1:]) {
		t.Errorf("the owner in front counts: got %q", got)
	}
	if got := Nearest("a", ids, 99); len(got) != len(ids) {
		t.Errorf("%d of %d ids", len(got), len(ids))
	}
	if got := Nearest("a", nil, 3); len(got) != 0 {
		t.Errorf("of none: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
