package sim

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"tokprobe/probe/wire"
)

// decoded is one answer as probe/wire reads it.
type decoded struct {
	text, thinking, finish, id string
	tokens                     int // token events
	usage                      wire.Usage
	usages                     int
	err                        error
}

func decode(t *testing.T, rt http.RoundTripper, d wire.Dialect, q wire.Request) (out decoded) {
	t.Helper()
	body, err := d.Encode(q)
	if err != nil {
		t.Fatal(err)
	}
	resp := post(t, rt, d.Path, string(body))
	if resp.StatusCode != 200 {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %d %s", d.Name, resp.StatusCode, b)
	}
	dec := d.NewDecoder(resp.Body)
	for {
		ev, err := dec.Next()
		if err != nil {
			out.err = err
			return out
		}
		out.text += string(ev.Text)
		out.thinking += string(ev.Reasoning)
		if ev.Token {
			out.tokens++
		}
		if len(ev.Finish) > 0 {
			out.finish = string(ev.Finish)
		}
		if len(ev.ID) > 0 {
			out.id = string(ev.ID)
		}
		if ev.HasUsage {
			out.usage = ev.Usage
			out.usages++
		}
	}
}

// TestDialectsDecode: what probe/wire reads is what the record says was sent.
func TestDialectsDecode(t *testing.T) {
	answers := map[string]Answer{
		"short":    {Tokens: 5},
		"bounded":  {Tokens: 500},
		"thinking": {Tokens: 5, Reasoning: 3},
		"hidden":   {Tokens: 5, Reasoning: 3, Hidden: true},
		"all":      {Tokens: 5, Reasoning: 99, Hidden: true},
		"exact":    {Tokens: 5, IgnoreEOS: true},
	}
	styles := map[string]Style{
		"vllm":  {},
		"llama": {NoRoleChunk: true, Usage: UsageInFinish},
		"spec":  {TokensPerChunk: 3, Usage: UsageEveryEvent, ReasoningField: "reasoning"},
		"none":  {Usage: UsageNever},
	}
	for _, protocol := range wire.Names() {
		d, _ := wire.Lookup(protocol)
		for style := range styles {
			for name := range answers {
				t.Run(d.Name+"/"+style+"/"+name, func(t *testing.T) {
					e := Truth()
					e.PrefixCache = true
					bubble(t, Config{Engine: e, Answer: answers[name], Style: styles[style]}, func(t *testing.T, s *Server, rt http.RoundTripper) {
						q := wire.Request{Model: "sim-fast", MaxTokens: 16, IgnoreEOS: name == "exact", Messages: []wire.Message{{Role: "user", Content: manyWords(20)}}}
						decode(t, rt, d, q)
						checkDecoded(t, decode(t, rt, d, q), s, d.Name)
					})
				})
			}
		}
	}
}

func checkDecoded(t *testing.T, got decoded, s *Server, protocol string) {
	t.Helper()
	r := s.Records()[1]
	if !errors.Is(got.err, io.EOF) {
		t.Errorf("ended with %v, want io.EOF", got.err)
	}
	per := max(1, s.cfg.Style.TokensPerChunk)
	thought := 0
	if !s.cfg.Answer.Hidden {
		thought = r.ReasoningTokens
	}
	said := r.StreamedTokens - thought
	if want := (said+per-1)/per + (thought+per-1)/per; got.tokens != want {
		t.Errorf("%d token events, want %d of record %+v", got.tokens, want, r)
	}
	plan := s.models["sim-fast"].plan(request{bound: 16, ignoreEOS: s.cfg.Answer.IgnoreEOS && protocol != "anthropic-messages"}, r.PromptTokens, s.cfg.Seed^2)
	if plan.total != r.Tokens {
		t.Errorf("%d tokens recorded of %d planned", r.Tokens, plan.total)
	}
	text, thinking := string(words(nil, plan.offset, r.Tokens-said, r.Tokens)), string(words(nil, plan.offset, 0, thought))
	if got.text != text || got.thinking != thinking {
		t.Errorf("text %q and %q, want %q and %q", got.text, got.thinking, text, thinking)
	}
	finish := r.FinishReason
	if protocol == "anthropic-messages" {
		finish = stopReasons[finish]
	}
	if got.finish != finish || !strings.HasSuffix(got.id, r.ID) {
		t.Errorf("finish %q of id %q, want %q of %q", got.finish, got.id, finish, r.ID)
	}
	if s.cfg.Style.Usage == UsageNever && protocol != "anthropic-messages" {
		if got.usages != 0 {
			t.Errorf("%d usage objects, want none", got.usages)
		}
		return
	}
	u := got.usage
	if u.Prompt.N != int64(r.PromptTokens) || u.Output.N != int64(r.Tokens) || u.Cached.N != int64(r.CachedTokens) || r.CachedTokens != 20 {
		t.Errorf("usage %+v, want %d prompt, %d cached (20), %d output", u, r.PromptTokens, r.CachedTokens, r.Tokens)
	}
	if protocol != "anthropic-messages" && u.Reasoning.N != int64(r.ReasoningTokens) {
		t.Errorf("usage %+v, want %d reasoning", u, r.ReasoningTokens)
	}
}
