package probe

import (
	"slices"
	"strings"

	"tokprobe/probe/wire"
)

// params is a set of the parameters that some endpoints refuse.
type params uint8

const (
	paramBound params = 1 << iota // max_tokens; in the refused set: use max_completion_tokens
	paramStreamOptions
	paramIgnoreEOS
	paramMinTokens
)

func (p params) has(q params) bool { return p&q != 0 }

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
