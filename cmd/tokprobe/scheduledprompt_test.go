package main

import (
	"strings"
	"testing"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// TestSweepPromptLanguage: a scheduled sweep asks its scenario in its language,
// with the params of the target.
func TestSweepPromptLanguage(t *testing.T) {
	for language, want := range map[string]string{"": "Hello!", "en": "Hello!", "zh": "你好"} {
		p, err := sweepPrompt(roster.Sweep{Scenario: "T1", Language: language, Params: map[string]any{"top_k": 1}})
		if err != nil || !strings.HasPrefix(p.Messages[0].Content, want) || p.Params["top_k"] != 1 {
			t.Errorf("%q: %v, %+v; want %s…", language, err, p, want)
		}
	}
	own := probe.Prompt{Name: "own"}
	if p, err := sweepPrompt(roster.Sweep{Prompt: &own}); err != nil || p.Name != "own" {
		t.Errorf("%v, %+v; want its own prompt", err, p)
	}
}
