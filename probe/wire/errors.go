package wire

import (
	"bytes"
	"strings"
)

// Texts of endpoints are cut to these lengths in bytes.
const (
	maxMessage = 2048
	maxName    = 128 // type, code, param
)

// Classes of an ErrorObject.
const (
	classRateLimited   = "rate_limited"
	classOverloaded    = "overloaded"
	classContentFilter = "content_filter"
	classStreamError   = "stream_error"
)

// ParseErrorBody reads the body of an error status. It takes an error object
// in any of the forms seen: an object or a string under "error", the fields at
// the top level, a list that starts with one, FastAPI's "detail", each also
// framed as an event. Plain text, HTML and nothing are not ok.
//
// Code is content_filter or model_not_found wherever code or type names one of
// them: the two that override a status.
func ParseErrorBody(body []byte) (*ErrorObject, bool) {
	in := newLines(bytes.NewReader(body))
	it := in.next()
	if it.kind == itemEnd {
		return nil, false
	}
	r := readError(it.data)
	if r.fault != sound || !r.is && r.obj.Message == "" {
		return nil, false
	}
	e := r.object()
	e.Class = errorClass(e.Code, e.Type) // beside a status a type counts as its code
	return e, true
}

// errorReader finds out whether a JSON text is an error object and what it
// says. It is off the path of ordinary events.
type errorReader struct {
	obj   ErrorObject
	is    bool // an error object inside a stream, by the rules below
	json  byte // first byte of the text: '{', '[', '"', …
	fault fault
}

// readError reads one JSON text. An error object is a JSON object, or a list
// that starts with one, that has
//   - a member "error". Null and false say that there was none: servers that
//     write every field send "error":null beside each token. An empty string
//     says so too, but only beside choices;
//   - or "object" or "type" equal to "error";
//   - or "code" and a "message" in words, but no choices (absent, null or empty).
func readError(text []byte) errorReader {
	var w walker
	w.reset(text)
	r := errorReader{json: w.kind()}
	switch r.json {
	case '{':
		r.top(&w)
	case '[':
		w.enter('[')
		for n := 0; w.more(n, ']'); n++ {
			if n == 0 && w.kind() == '{' {
				r.top(&w)
			} else {
				w.skip()
			}
		}
	case '"':
		r.obj.Message = w.text(maxMessage)
	default:
		w.skip()
	}
	w.end()
	r.fault = w.fault
	return r
}

// object returns the error with its class. The class goes by the code itself:
// inside a stream a type that names a filter is no such code.
func (r *errorReader) object() *ErrorObject {
	e := r.obj
	e.Class = errorClass(e.Code, e.Type)
	for _, name := range []string{"content_filter", "model_not_found"} {
		if strings.EqualFold(e.Code, name) || strings.EqualFold(e.Type, name) {
			e.Code = name
		}
	}
	return &e
}

// errorClass is the class of an error object inside a stream: whatever code it
// has beyond these, it is a stream_error.
func errorClass(code, kind string) string {
	switch {
	case namesRateLimit(code), namesRateLimit(kind), code == "429":
		return classRateLimited
	case strings.Contains(strings.ToLower(kind), "overload"), code == "503", code == "529":
		return classOverloaded
	case code == "content_filter":
		return classContentFilter
	}
	return classStreamError
}

// namesRateLimit takes rate_limit_exceeded, RateLimitError, "rate limit",
// too_many_requests, ThrottlingException and the like.
func namesRateLimit(s string) bool {
	s = strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(s))
	return strings.Contains(s, "ratelimit") || strings.Contains(s, "toomanyrequests") || strings.Contains(s, "throttl")
}

// top reads the object itself.
func (r *errorReader) top(w *walker) {
	var m errorMembers
	m.read(w, 0)
	r.obj = m.obj
	r.is = m.err || m.emptyErr && !m.choices || m.flagged || m.code && m.message && !m.choices
}

// plain makes an error of a field called error with words in it.
func plain(words []byte) *ErrorObject {
	return &ErrorObject{Class: classStreamError, Message: clean(words, maxMessage)}
}
