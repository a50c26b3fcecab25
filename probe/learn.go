package probe

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"tokprobe/probe/wire"
)

// relearnAfter is the least time between two calibrations for the same reason:
// a target that refuses everything must not be asked at every tick.
const relearnAfter = 10 * time.Minute

// learnedStore is what one target taught us about its models. The zero value
// knows nothing and is optimistic: every parameter is sent until refused.
type learnedStore struct {
	mu       sync.Mutex
	models   map[string]*learned // model → what is known
	patterns map[string]*regexp.Regexp
}

// learned is what is known about one model of one target.
type learned struct {
	refused    params    // left out, or renamed, from now on
	known      bool      // an answer was had with these parameters
	exactAsked bool      // an exact length was asked for in a calibration …
	exact      bool      // … and the answer had it
	relearn    bool      // a bad_request named a parameter since
	named      params    // those it named
	tried      time.Time // last calibration of parameters that failed
	relearned  time.Time // last calibration because of relearn

	sizes   map[sizeKey]*sizes
	prompts map[string]int64 // prompt → prompt_tokens last reported
	busy    chan struct{}    // closed when the running calibration ends
}

// sizeKey parts the fits of prompt sizes: the dialect's template and the nonce
// are in the count.
type sizeKey struct {
	protocol string
	cache    CacheMode
}

// sizes is what is known about generated prompts of one sizeKey.
type sizes struct {
	sizeFit
	solved     map[int]int       // input tokens asked for → words
	corrected  map[int]bool      // … set right once by a real probe
	tried      map[int]time.Time // … last calibration that failed
	unreported bool              // the endpoint reports no prompt_tokens
}

// params is a set of the parameters that some endpoints refuse.
type params uint8

const (
	paramBound params = 1 << iota // max_tokens; in the refused set: use max_completion_tokens
	paramStreamOptions
	paramIgnoreEOS
	paramMinTokens
)

func (p params) has(q params) bool { return p&q != 0 }

// model returns what is known about a model. The caller holds mu.
func (s *learnedStore) model(name string) *learned {
	l := s.models[name]
	if l == nil {
		if s.models == nil {
			s.models = map[string]*learned{}
		}
		l = &learned{sizes: map[sizeKey]*sizes{}, prompts: map[string]int64{}}
		s.models[name] = l
	}
	return l
}

func (l *learned) size(key sizeKey) *sizes {
	z := l.sizes[key]
	if z == nil {
		z = &sizes{solved: map[int]int{}, corrected: map[int]bool{}, tried: map[int]time.Time{}}
		l.sizes[key] = z
	}
	return z
}

// wordsFor is the number of generated words for n input tokens.
func (z *sizes) wordsFor(n int) int {
	if w, ok := z.solved[n]; ok {
		return w
	}
	return z.words(n)
}

func (s Spec) protocol() string {
	if s.Protocol == "" {
		return protocolChat
	}
	return s.Protocol
}

const (
	protocolChat      = "openai-chat"
	protocolAnthropic = "anthropic-messages"
)

func (s Spec) sizeKey() sizeKey { return sizeKey{s.protocol(), s.Prompt.cache()} }

// trial replaces what is learned while a calibration tries it out.
type trial struct {
	refused params
	words   int // of a generated prompt
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

// request turns a spec into what is sent, with the learned parameters.
func (s *learnedStore) request(vendor string, spec Spec) (wire.Request, error) {
	refused, words := s.inForce(spec)
	p := spec.Prompt
	messages := p.Messages
	if p.InputTokens > 0 {
		text := generate(uint64(p.InputTokens), words) + generatedTail
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

// inForce returns the refused parameters and the size of a generated prompt.
func (s *learnedStore) inForce(spec Spec) (params, int) {
	if spec.trial != nil {
		return spec.trial.refused, spec.trial.words
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.model(spec.Model)
	words := 0
	if n := spec.Prompt.InputTokens; n > 0 {
		words = l.size(spec.sizeKey()).wordsFor(n)
	}
	return l.refused, words
}

// noteBadRequest remembers that a parameter we send was named in a refusal, so
// that the next Calibrate looks into it. body is nil where there was none.
func (s *learnedStore) noteBadRequest(model string, body *wire.ErrorObject) {
	named := refusedBy(body)
	if named == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.model(model)
	l.relearn = true
	l.named |= named
}

// paramNames maps what a refusal may name to what we can do about it.
var paramNames = []struct {
	name  string
	param params
}{
	{"max_tokens", paramBound},
	{"max_completion_tokens", paramBound},
	{"stream_options", paramStreamOptions},
	{"ignore_eos", paramIgnoreEOS},
	{"min_tokens", paramMinTokens},
}

// refusedBy reads which of our parameters an error is about: the error's own
// param member if it names one, else every name in its text. A wrong guess
// costs one request of a calibration, since only what an accepted request
// confirms is kept.
func refusedBy(body *wire.ErrorObject) params {
	if body == nil {
		return 0
	}
	if named := namedIn(body.Param); named != 0 {
		return named
	}
	return namedIn(body.Message)
}

func namedIn(text string) params {
	var named params
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for _, n := range paramNames {
		if slices.Contains(words, n.name) {
			named |= n.param
		}
	}
	return named
}

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
	key := spec.protocol() + " " + spec.Prompt.Hash()
	if n := spec.Prompt.InputTokens; n > 0 {
		z := l.size(spec.sizeKey())
		words := z.wordsFor(n)
		key = fmt.Sprint(key, " ", words)
		z.noteSize(n, words, r)
	}
	if !ok || !busted {
		return
	}
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
func (z *sizes) noteSize(n, words int, r *Result) {
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
		z.add(sizePoint{words, int(prompt)})
		z.solved[n] = z.words(n)
	}
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
