package probe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxErrBytes  = 300 // of Result.Err and Result.Hint
	maxNameRunes = 100 // of a request id: with its label name it fits an exemplar's 128
)

// oneLine makes a text of unknown origin fit for a log line or a terminal:
// valid UTF-8, no control characters (so no escape sequences, no line feeds),
// runs of white space as one blank, at most limit bytes.
func oneLine(s string, limit int) string {
	// Nothing behind the first few kilobytes can survive the limit; a message
	// of 60 KB is not worth walking through.
	if len(s) > 16*limit {
		s = s[:16*limit]
	}
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case r == utf8.RuneError:
			r = '?'
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		need := utf8.RuneLen(r)
		if blank {
			need++
		}
		if b.Len()+need > limit-len("…") {
			b.WriteString("…")
			return b.String()
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// identifier cleans a request id or a model name: printable, no blanks, valid
// UTF-8, at most maxNameRunes runes.
func identifier(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsSpace(r) {
			continue
		}
		if n++; n > maxNameRunes {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withoutURLSecrets cuts user info and query out of every URL in s, as net/http
// and proxies like to quote whole URLs in their errors.
func withoutURLSecrets(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i+3])
		s = s[i+3:]
		end := strings.IndexAny(s, " \t\r\n\"'<>`)]")
		if end < 0 {
			end = len(s)
		}
		u := s[:end]
		s = s[end:]
		if q := strings.IndexAny(u, "?#"); q >= 0 {
			u = u[:q]
		}
		authority, path, hasPath := strings.Cut(u, "/")
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			authority = authority[at+1:]
		}
		b.WriteString(authority)
		if hasPath {
			b.WriteString("/" + path)
		}
	}
}
