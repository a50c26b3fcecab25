package probe

import (
	"strings"
	"testing"

	"tokprobe/probe/wire"
)

func ask(text string) []wire.Message { return []wire.Message{{Role: "user", Content: text}} }

func TestNonceIsTwelveNewDigitsEachTime(t *testing.T) {
	const n = 100_000
	for _, start := range []uint64{0, 1, nonceSpace - 1, 123_456_789_012} {
		seen := make(map[string]bool, n)
		last := "x"
		for i := range uint64(n) {
			nonce := nonceAt(start, i)
			if len(nonce) != 12 || strings.Trim(nonce, "0123456789") != "" {
				t.Fatalf("start %d, %d: nonce %q is not 12 digits", start, i, nonce)
			}
			if seen[nonce] {
				t.Fatalf("start %d, %d: nonce %s repeats", start, i, nonce)
			}
			if nonce[0] == last[0] {
				t.Fatalf("start %d, %d: %s follows %s, same first digit", start, i, nonce, last)
			}
			seen[nonce], last = true, nonce
		}
	}
}

// The law behind "never repeats" for all 10^12 numbers, not just those tried.
func TestNonceStepSharesNoFactorWithTheSpace(t *testing.T) {
	a, b := uint64(nonceSpace), uint64(nonceStep)
	for b != 0 {
		a, b = b, a%b
	}
	if a != 1 {
		t.Errorf("greatest common divisor is %d, want 1", a)
	}
}

func TestNonceDoesNotOverflow(t *testing.T) {
	// (10^12 − 1) · step mod 10^12 = 10^12 − step
	if got, want := nonceAt(0, nonceSpace-1), "381966011251"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := nonceAt(12_345_678_901, 1), "630379667650"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRequestOfABustedPrompt(t *testing.T) {
	var s learnedStore
	spec := Spec{Prompt: Prompt{Messages: []wire.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Hi"}}}}
	first, err := s.request("", spec)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := s.request("", spec)
	for _, req := range []wire.Request{first, second} {
		nonce, rest, _ := strings.Cut(req.Messages[0].Content, "\n")
		if len(nonce) != 12 || rest != "Be brief." || req.Messages[1].Content != "Hi" {
			t.Errorf("messages %q", req.Messages)
		}
	}
	if first.Messages[0].Content == second.Messages[0].Content {
		t.Error("the same nonce twice")
	}
	if got := spec.Prompt.Messages[0].Content; got != "Be brief." {
		t.Errorf("the caller's prompt became %q", got)
	}
}

func TestRequestOfAWarmPromptIsUnchanged(t *testing.T) {
	var s learnedStore
	req, err := s.request("", Spec{Prompt: Prompt{Messages: ask("Hi"), Cache: CacheWarm}})
	if err != nil || req.Messages[0].Content != "Hi" {
		t.Errorf("got %q, %v", req.Messages, err)
	}
}

func TestRequestErrors(t *testing.T) {
	for _, test := range []struct {
		give Prompt
		want string
	}{
		{Prompt{}, "the prompt is empty: give it a text, messages or input_tokens"},
		{Prompt{Messages: ask("Hi"), Cache: "cold"}, `cache mode "cold" is not known: write bust or warm`},
	} {
		var s learnedStore
		if _, err := s.request("", Spec{Prompt: test.give}); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestRequestParameters(t *testing.T) {
	hi := Prompt{Messages: ask("Hi")}
	with := func(change func(*Prompt)) Prompt {
		p := hi
		change(&p)
		return p
	}
	type sent struct {
		max     int
		field   string
		noOpts  bool
		ignore  bool
		minimum int
	}
	all := paramBound | paramStreamOptions | paramIgnoreEOS | paramMinTokens
	for _, test := range []struct {
		name, vendor, protocol string
		refused                params
		prompt                 Prompt
		want                   sent
	}{
		{"default", "openai", "", 0, hi, sent{max: 64}},
		{"own bound", "openai", "", 0, with(func(p *Prompt) { p.MaxTokens = 7 }), sent{max: 7}},
		{"vllm gets an exact length", "vllm", "", 0, hi, sent{max: 64, ignore: true, minimum: 64}},
		{"vllm that refuses min_tokens", "vllm", "", paramMinTokens, hi, sent{max: 64, ignore: true}},
		{"forced elsewhere", "openai", "openai-completions", 0, with(func(p *Prompt) { p.ForceLength = true }), sent{max: 64, ignore: true, minimum: 64}},
		{"vllm prompt that must end by itself", "vllm", "", 0, with(func(p *Prompt) { p.Expect.FinishReason = "stop" }), sent{max: 64}},
		{"vllm prompt of few tokens by its params", "vllm", "", 0, with(func(p *Prompt) { p.Params = map[string]any{"max_tokens": 5} }), sent{ignore: true, minimum: 5}},
		{"no second bound beside that of the params", "openai", "", 0, with(func(p *Prompt) { p.Params = map[string]any{"max_completion_tokens": 5} }), sent{}},
		{"everything refused", "vllm", "", all, hi, sent{max: 64, field: "max_completion_tokens", noOpts: true}},
		{"completions know one name of the bound", "vllm", "openai-completions", all, hi, sent{max: 64, noOpts: true}},
		{"anthropic is never forced", "vllm", "anthropic-messages", 0, with(func(p *Prompt) { p.ForceLength = true }), sent{max: 64}},
	} {
		var s learnedStore
		s.model("m").refused = test.refused
		req, err := s.request(test.vendor, Spec{ID: ID{Model: "m"}, Protocol: test.protocol, Prompt: test.prompt})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		got := sent{req.MaxTokens, req.MaxTokensField, req.NoStreamOptions, req.IgnoreEOS, req.MinTokens}
		if got != test.want || req.Model != "m" {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestPromptHash(t *testing.T) {
	p := Prompt{Name: "chat", Messages: ask("Hi"), Params: map[string]any{"temperature": 0, "b": []any{1, "x"}}}
	hash := p.Hash()
	if len(hash) != 16 || strings.Trim(hash, "0123456789abcdef") != "" {
		t.Fatalf("hash %q is not 16 hex digits", hash)
	}
	for _, test := range []struct {
		name   string
		change func(*Prompt)
		same   bool
	}{
		{"name", func(p *Prompt) { p.Name = "other" }, true},
		{"expectation", func(p *Prompt) { p.Expect.MinTokens = 3 }, true},
		{"default bound spelled out", func(p *Prompt) { p.MaxTokens = 64 }, true},
		{"default cache mode spelled out", func(p *Prompt) { p.Cache = CacheBust }, true},
		{"text", func(p *Prompt) { p.Messages = ask("Ho") }, false},
		{"role", func(p *Prompt) { p.Messages = []wire.Message{{Role: "system", Content: "Hi"}} }, false},
		{"bound", func(p *Prompt) { p.MaxTokens = 65 }, false},
		{"cache mode", func(p *Prompt) { p.Cache = CacheWarm }, false},
		{"forced length", func(p *Prompt) { p.ForceLength = true }, false},
		{"value of a param", func(p *Prompt) { p.Params = map[string]any{"temperature": 1, "b": []any{1, "x"}} }, false},
		{"one param less", func(p *Prompt) { p.Params = map[string]any{"temperature": 0} }, false},
		{"param JSON cannot hold", func(p *Prompt) { p.Params = map[string]any{"f": map[any]any{1: 2}} }, false},
		{"generated", func(p *Prompt) { p.InputTokens = 100 }, false},
	} {
		q := p
		test.change(&q)
		if same := q.Hash() == hash; same != test.same {
			t.Errorf("%s: same hash %v, want %v", test.name, same, test.same)
		}
	}
}
