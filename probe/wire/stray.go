package wire

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// stray gathers a JSON text that stands in the body without framing: an error
// object of a server that forgot it was streaming, on one line or pretty
// printed over many, or the value of a field called error.
//
// Only brackets and quotes are watched here; whoever gets the text checks it.
type stray struct {
	text   []byte
	depth  int
	quoted bool
	escape bool
	field  bool // it is the value of a field called error
}

func (s *stray) open() bool { return s.depth > 0 }

// add takes bytes up to the closing bracket and returns how many it took.
func (s *stray) add(b []byte) (n int, closed bool) {
	for i, c := range b {
		switch {
		case s.escape:
			s.escape = false
		case s.quoted:
			s.escape = c == '\\'
			s.quoted = c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				s.text = append(s.text, b[:i+1]...)
				return i + 1, true
			}
		}
	}
	s.text = append(s.text, b...)
	return len(b), false
}

// reset forgets the text; bytes handed out stay valid until the next add.
func (s *stray) reset() { *s = stray{text: s.text[:0]} }

// continues reports whether a line that begins with c can belong to the JSON
// text of the lines before it. Where it is a line of an event stream, those
// lines were no JSON and must not swallow what follows.
func continues(c byte) bool {
	switch {
	case c == 't' || c == 'f' || c == 'n': // true, false, null
		return true
	case 'a' <= c && c <= 'z', c == ':':
		return false
	}
	return true
}

// classify finds out what the line is that begins with b; whole says that b is
// all of it. The line stays lineUnknown while that is open.
func (l *lines) classify(b []byte, whole bool) {
	if l.stray.open() && len(b) > 0 && !l.blanks {
		if continues(b[0]) {
			l.line = lineStray
			return
		}
		l.junk = true
		l.stray.reset()
	}
	text := bytes.TrimLeft(b, " \t")
	indented := l.blanks || len(text) < len(b)
	switch {
	case len(text) == 0 && whole:
		l.line = lineIgnored
	case len(text) == 0:
		l.blanks = true
		l.discard()
	case text[0] == '{' || text[0] == '[':
		l.line = lineStray
	case text[0] == '<' && !l.sawData:
		l.line = lineHTML
	case indented:
		l.ignore()
	default:
		l.field(b, whole)
	}
}

// field tells the fields apart. Names are followed by a colon or stand alone.
func (l *lines) field(b []byte, whole bool) {
	if b[0] == ':' {
		l.line, l.framed = lineComment, true
		return
	}
	for _, f := range [...]struct {
		name string
		kind lineKind
	}{{"data", lineData}, {"event", lineEvent}, {"error", lineError}, {"id", lineIgnored}, {"retry", lineIgnored}} {
		n := len(f.name)
		switch {
		case len(b) > n && b[n] == ':' && string(b[:n]) == f.name, whole && string(b) == f.name:
			l.line, l.framed = f.kind, true
			return
		case !whole && len(b) <= n && string(b) == f.name[:len(b)]:
			return
		}
	}
	l.ignore()
}

func (l *lines) ignore() { l.line, l.junk = lineIgnored, true }

// discard drops what is there of the line at hand.
func (l *lines) discard() {
	l.dropped += l.end - l.pos
	l.pos, l.scan = l.end, l.end
}

// takeStray takes buf[pos:to] of a line that holds JSON without framing or the
// value of a field called error; whole says that the line ends there.
func (l *lines) takeStray(to int, whole bool) (item, bool) {
	if l.line == lineError && !l.startField(to, whole) {
		return l.plainError(to, whole)
	}
	n, closed := l.stray.add(l.buf[l.pos:to])
	l.pos += n
	l.dropped += n
	l.scan = max(l.scan, l.pos)
	switch {
	case closed:
		it := item{kind: itemStray, data: l.stray.text}
		if l.stray.field {
			it.kind = itemField
		}
		l.stray.reset()
		l.line = lineIgnored // the rest of the line
		return it, true
	case len(l.stray.text)+l.de-l.ds > maxEvent:
		return tooLong(l.stray.text), true
	case whole && l.stray.quoted: // a line cannot end inside a JSON string
		l.junk = true
		l.stray.reset()
	case whole:
		l.stray.text = append(l.stray.text, '\n')
	}
	return item{}, false
}

// startField begins a JSON text in the value of a field called error. It
// returns false where the value is no JSON object or list, or not there yet.
func (l *lines) startField(to int, whole bool) bool {
	v := bytes.TrimLeft(value(l.buf[l.pos:to]), " \t")
	if len(v) == 0 || v[0] != '{' && v[0] != '[' {
		return false
	}
	l.stray.reset()
	l.stray.field = true
	l.pos = to - len(v)
	l.line = lineStray
	return true
}

// plainError hands out a field called error with words as its value, once the
// line has ended or has more of them than anybody will read.
func (l *lines) plainError(to int, whole bool) (item, bool) {
	if !whole && to-l.pos < maxMessage {
		return item{}, false
	}
	v := bytes.Trim(value(l.buf[l.pos:to]), " \t")
	l.pos, l.scan = to, max(l.scan, to)
	l.line = lineIgnored
	return item{kind: itemField, data: v[:min(len(v), maxMessage)]}, len(v) > 0
}

// html says that the body is a page; the line at hand begins with its first tag.
func (l *lines) html() item {
	return item{kind: itemEnd, err: &FormatError{What: "HTML instead of an event stream", Sample: sample(l.buf[l.pos:l.end])}}
}

func tooLong(b []byte) item {
	return item{kind: itemEnd, err: &FormatError{What: "a line over 64 MiB", Sample: sample(b)}}
}

// sample makes the beginning of b fit for an error text: one line of UTF-8
// without control characters.
func sample(b []byte) string { return clean(b, sampleSize) }

// clean returns at most limit bytes of b as one line of valid UTF-8 without
// control characters; runs of white space become one space.
func clean(b []byte, limit int) string {
	b = b[:min(len(b), 4*limit)]
	var out strings.Builder
	space := false
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if r <= ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029' {
			space = out.Len() > 0
			continue
		}
		if out.Len()+utf8.RuneLen(r)+1 > limit {
			break
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
	}
	return out.String()
}
