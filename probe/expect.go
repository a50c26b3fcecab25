package probe

import (
	"fmt"
	"regexp"
)

// needsText says whether the answer's text has to be kept to judge it.
func (x Expect) needsText() bool { return x.Regex != "" }

// judge sets outcome short or assertion, with its Err, on a result that is
// otherwise ok. text is the visible answer. Neither Err nor anything else here
// repeats the text: answers may hold what must not be in a log.
func (s *learnedStore) judge(vendor string, spec Spec, text string, r *Result) {
	if asked, short := s.short(vendor, spec, r); short {
		r.Outcome = Short
		r.Err = fmt.Sprintf("the answer ended after %d of %d tokens (finish reason %q) at a server that can be held to a length",
			r.OutputTokens.V, asked, r.FinishReason)
		return
	}
	x := spec.Prompt.Expect
	if x.Regex != "" {
		re, err := s.pattern(x.Regex)
		if err != nil {
			r.Outcome = Internal
			r.Err = fmt.Sprintf("expect.regex: %v", err)
			return
		}
		if !re.MatchString(text) {
			r.Outcome = Assertion
			r.Err = fmt.Sprintf("expect.regex %q does not match the answer of %d bytes", x.Regex, len(text))
			return
		}
	}
	if x.MinTokens > 0 && r.OutputTokens.V < int64(x.MinTokens) {
		r.Outcome = Assertion
		r.Err = fmt.Sprintf("expect.min_tokens %d: the answer has %d tokens", x.MinTokens, r.OutputTokens.V)
		return
	}
	if x.FinishReason != "" && r.FinishReason != x.FinishReason {
		r.Outcome = Assertion
		r.Err = fmt.Sprintf("expect.finish_reason %q: the answer ended with %q", x.FinishReason, r.FinishReason)
	}
}

// short says whether an answer whose length was asked for exactly, of a server
// known to obey, has fewer tokens. Only counted usage can tell: one chunk may
// hold several tokens.
func (s *learnedStore) short(vendor string, spec Spec, r *Result) (asked int, short bool) {
	if spec.trial != nil || r.OutputTokensSource != "usage" {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.model(spec.Model)
	if !l.exact || spec.exactLength(vendor, l.refused) == 0 {
		return 0, false
	}
	asked, _ = spec.Prompt.bound()
	return asked, r.OutputTokens.V < int64(asked)
}

// pattern compiles a regular expression once.
func (s *learnedStore) pattern(expr string) (*regexp.Regexp, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if re := s.patterns[expr]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if s.patterns == nil {
		s.patterns = map[string]*regexp.Regexp{}
	}
	s.patterns[expr] = re
	return re, nil
}
