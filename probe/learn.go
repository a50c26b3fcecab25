package probe

import (
	"regexp"
	"sync"
	"time"
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
	prompts map[promptKey]int64 // prompt_tokens last reported
	busy    chan struct{}       // closed when the running calibration ends
}

// sizeKey parts the fits of prompt sizes: the dialect's template and the nonce
// are in the count.
type sizeKey struct {
	protocol string
	cache    CacheMode
}

// promptKey names one text that was sent, but for its nonce.
type promptKey struct {
	protocol, hash string
	words          int // of a generated prompt
}

// sizes is what is known about generated prompts of one sizeKey.
type sizes struct {
	sizeFit
	solved     map[int]int       // input tokens asked for → words
	corrected  map[int]bool      // … set right once by a real probe
	tried      map[int]time.Time // … last calibration that failed
	unreported bool              // the endpoint reports no prompt_tokens
}

// model returns what is known about a model. The caller holds mu.
func (s *learnedStore) model(name string) *learned {
	l := s.models[name]
	if l == nil {
		if s.models == nil {
			s.models = map[string]*learned{}
		}
		l = &learned{sizes: map[sizeKey]*sizes{}, prompts: map[promptKey]int64{}}
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

// Refused tells whether the endpoint has named one of our parameters in a
// refusal of this model since the last calibration, so that Calibrate would
// look into it.
func (e *Endpoint) Refused(model string) bool {
	e.learn.mu.Lock()
	defer e.learn.mu.Unlock()
	return e.learn.model(model).relearn
}
