package roster

import (
	"unicode/utf8"

	"tokprobe/probe"
)

// EstimateInput guesses how many tokens a prompt is as an endpoint counts it:
// one for four bytes of ASCII, one for each other character, plus 8 for the
// template and 8 for the digits of a busted prompt. It is for forecasts only;
// what is spent is what the endpoint reports.
func EstimateInput(p probe.Prompt) int {
	if len(p.Messages) == 0 {
		return p.InputTokens // generated and calibrated: all included
	}
	n := 8
	if p.Cache != probe.CacheWarm {
		n += 8
	}
	for _, m := range p.Messages {
		runes := utf8.RuneCountInString(m.Content)
		ascii := 0
		for i := range len(m.Content) {
			if m.Content[i] < utf8.RuneSelf {
				ascii++
			}
		}
		n += (ascii+3)/4 + (runes - ascii) + 4
	}
	return n
}

// EstimateOutput is the most tokens an answer to a prompt may have: the bound
// among its params if there is one, else MaxTokens.
func EstimateOutput(p probe.Prompt) int {
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		switch v := p.Params[name].(type) {
		case int:
			return v
		case int64:
			return int(v)
		case float64:
			return int(v)
		}
	}
	if p.MaxTokens > 0 {
		return p.MaxTokens
	}
	return probe.DefaultMaxTokens
}
