package probe

import "fmt"

// maxPrompts bounds the memory for prompt_tokens: a data set of a sweep may
// hold more prompts than are worth remembering.
const maxPrompts = 256

// notePrompt compares the reported size of the prompt with what it should be
// and was, and warns in r where it differs. r is an answer of outcome ok.
func (s *learnedStore) notePrompt(spec Spec, r *Result) {
	prompt, ok := r.PromptTokens.Get()
	busted := spec.Prompt.cache() == CacheBust
	if ok && busted {
		noteCached(prompt, r)
	}
	if spec.trial != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.model(spec.Model)
	size := 0
	if n := spec.Prompt.InputTokens; n > 0 {
		z := l.size(spec.sizeKey())
		size = z.sizeFor(n)
		z.noteSize(n, size, r)
	}
	if ok && busted {
		key := promptKey{spec.protocol(), spec.Prompt.Hash(), size}
		l.noteCount(key, prompt, r)
	}
}

// noteCount compares prompt_tokens with the last count of the same prompt.
func (l *learned) noteCount(key promptKey, prompt int64, r *Result) {
	if last, seen := l.prompts[key]; seen && last != prompt {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"prompt_tokens went from %d to %d for the same prompt: its tokenizer, template or gateway changed", last, prompt))
	}
	if len(l.prompts) >= maxPrompts {
		clear(l.prompts)
	}
	l.prompts[key] = prompt
}

func noteCached(prompt int64, r *Result) {
	cached, ok := r.CachedTokens.Get()
	if !ok || cached*10 <= prompt {
		return
	}
	r.CacheSuspect = true
	r.Warnings = append(r.Warnings, fmt.Sprintf(
		"%d of %d prompt tokens came from a cache although the prompt was new: TTFT flatters", cached, prompt))
}

// noteSize sets the size of a generated prompt right once, by what a real probe
// reports; a later difference is only warned about, since a prompt that changes
// from probe to probe cannot be compared.
func (z *sizes) noteSize(n, size int, r *Result) {
	prompt, ok := r.PromptTokens.Get()
	if !ok {
		r.Warnings = append(r.Warnings, fmt.Sprintf(
			"the size of the prompt is a guess: the endpoint reports no prompt_tokens to calibrate %d against", n))
		return
	}
	if abs(int(prompt)-n) <= tolerance(n) {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("the prompt has %d tokens, not the %d asked for", prompt, n))
	if !z.corrected[n] {
		z.corrected[n] = true
		z.add(sizePoint{size, int(prompt)})
		z.solved[n] = z.size(n)
	}
}
