package probe

import (
	"errors"
	"fmt"
	"maps"

	"tokprobe/probe/wire"
)

// request turns a spec into what is sent, with the learned parameters.
func (s *learnedStore) request(vendor string, spec Spec) (wire.Request, error) {
	refused, size := s.inForce(spec)
	p := spec.Prompt
	messages := p.Messages
	if p.InputTokens > 0 {
		text := generate(generatorSeed, size) + generatedTail
		messages = []wire.Message{{Role: "user", Content: text}}
	}
	if len(messages) == 0 {
		return wire.Request{}, errors.New("the prompt is empty: give it a text, messages or input_tokens")
	}
	switch p.cache() {
	case CacheBust:
		messages = busted(messages)
	case CacheWarm:
	default:
		return wire.Request{}, fmt.Errorf("cache mode %q is not known: write bust or warm", p.Cache)
	}
	req := wire.Request{Model: spec.Model, Messages: messages, Params: p.Params}
	bound, fromParams := p.bound()
	if !fromParams {
		req.MaxTokens = bound
	}
	if spec.protocol() == protocolChat && refused.has(paramBound) {
		req.MaxTokensField = "max_completion_tokens"
	}
	req.NoStreamOptions = refused.has(paramStreamOptions)
	exact := spec.exactLength(vendor, refused)
	req.IgnoreEOS = exact.has(paramIgnoreEOS)
	if exact.has(paramMinTokens) {
		req.MinTokens = bound
	}
	return req, nil
}

// exactLength says which parameters ask for exactly the bound's number of
// tokens, of those not refused. None are sent to servers that were not made
// for it, nor where the answer is expected to end by itself.
func (s Spec) exactLength(vendor string, refused params) params {
	wanted := s.Prompt.ForceLength || vendor == "vllm" && s.Prompt.Expect.FinishReason == ""
	if !wanted || s.protocol() == protocolAnthropic {
		return 0
	}
	return (paramIgnoreEOS | paramMinTokens) &^ refused
}

// withBound returns the params with their own output bound, if they have one,
// set to n.
func withBound(p map[string]any, n int) map[string]any {
	small := maps.Clone(p)
	for _, name := range boundNames {
		if _, ok := small[name]; ok {
			small[name] = n
		}
	}
	delete(small, "min_tokens")
	return small
}
