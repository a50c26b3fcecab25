package wire

import (
	"bytes"
	"io"
)

const (
	// maxEvent bounds the data of one event and the length of one line.
	// Real lines reach megabytes (base64 in tool calls), so it is generous.
	maxEvent = 64 << 20
	// firstBuffer is what a stream starts with. Ordinary events have 200 to
	// 400 bytes; the buffer grows only for a longer one.
	firstBuffer = 8 << 10
	// maxBuffer leaves room to read on behind the longest data.
	maxBuffer = maxEvent + 64<<10
	// sampleSize is how much of unreadable input a FormatError shows.
	sampleSize = 200
)

// item is one thing that a body brought.
type item struct {
	kind itemKind
	data []byte // valid until the next call of lines.next
	name bool   // the event was called "error"
	last bool   // cut off by the proper end of the body: no blank line came
	err  error  // itemEnd: io.EOF, or the error that ended the body
}

type itemKind uint8

const (
	itemEvent itemKind = iota // data of an event, never blank
	itemStray                 // a JSON text outside any field (by its brackets; not checked)
	itemField                 // the value of a field called error, as itemStray or plain text
	itemEnd
)

// lines cuts a body into items by the rules of the WHATWG standard for event
// streams, and finds error texts that lack the framing.
//
// It reads only while it holds no complete item. Whatever is not kept (comments,
// unknown fields) is dropped as it comes, so memory is bounded by maxEvent and
// not by the length of a line.
type lines struct {
	r    io.Reader
	rerr error // what the reader ended with, handed out after the buffer

	// buf[ds:de] is the data of the event at hand, buf[pos:end] what is not
	// yet looked at, and buf[pos:scan] is known to hold no line end.
	buf            []byte
	ds, de         int
	pos, scan, end int

	begun   bool // past the place where a byte order mark may stand
	skipLF  bool // the last line ended with CR: a LF now belongs to it
	line    lineKind
	blanks  bool // white space before the line's first character was dropped
	dropped int  // bytes of this line that are gone

	isError bool             // event: error
	sawData bool             // a data line with a value came, so this is an event stream
	framed  bool             // some line was a comment or a known field
	junk    bool             // something was neither of them
	head    [sampleSize]byte // how the body begins, to be shown if it is no event stream
	headLen int

	stray stray
}

// lineKind is what the line at hand is, as soon as its first bytes tell.
type lineKind uint8

const (
	lineUnknown lineKind = iota // too short to tell yet
	lineData
	lineEvent
	lineError
	lineStray
	lineHTML
	lineComment // dropped, of any length
	lineIgnored // dropped, up to maxEvent
)

func newLines(r io.Reader) lines {
	return lines{r: r, buf: make([]byte, firstBuffer)}
}

// next returns the next item. itemEnd is final.
func (l *lines) next() item {
	for {
		it, ok := l.step()
		if ok {
			return it
		}
		if l.rerr != nil {
			return l.finish()
		}
		l.fill()
	}
}

// step looks through the buffer, line by line, until an item is complete.
func (l *lines) step() (item, bool) {
	if !l.begun && !l.begin() {
		return item{}, false
	}
	for l.pos < l.end {
		if l.skipLF {
			l.skipLF = false
			if l.buf[l.pos] == '\n' {
				l.pos++
				l.scan = l.pos
				continue
			}
		}
		eol := l.lineEnd()
		if eol < 0 {
			return l.partial()
		}
		if it, ok := l.complete(eol); ok {
			return it, true
		}
	}
	return item{}, false
}

// complete takes the line buf[pos:eol] and steps behind its end.
func (l *lines) complete(eol int) (item, bool) {
	if eol == l.pos && l.dropped == 0 && !l.blanks && l.line == lineUnknown {
		l.endLine(eol)
		return l.dispatch(false)
	}
	if l.line == lineUnknown {
		l.classify(l.buf[l.pos:eol], true)
	}
	switch l.line {
	case lineStray, lineError:
		if it, ok := l.takeStray(eol, true); ok {
			return it, true
		}
	case lineData:
		if l.addData(eol) {
			return tooLong(l.buf[l.ds:l.de]), true
		}
	case lineEvent:
		l.isError = string(value(l.buf[l.pos:eol])) == "error"
	case lineHTML:
		return l.html(), true
	case lineIgnored:
		if l.dropped+eol-l.pos > maxEvent {
			return tooLong(l.buf[l.pos:eol]), true
		}
	}
	l.endLine(eol)
	return item{}, false
}

// endLine steps behind the line end at eol.
func (l *lines) endLine(eol int) {
	l.skipLF = l.buf[eol] == '\r'
	l.pos, l.scan = eol+1, eol+1
	l.line, l.dropped, l.blanks = lineUnknown, 0, false
}

// partial looks at a line whose end is not there yet: it finds out what the
// line is and drops what nobody will want.
func (l *lines) partial() (item, bool) {
	if l.line == lineUnknown {
		l.classify(l.buf[l.pos:l.end], false)
	}
	n := l.end - l.pos
	switch l.line {
	case lineStray, lineError:
		return l.takeStray(l.end, false)
	case lineData:
		if l.de-l.ds+n > maxEvent+len("data: ") {
			return tooLong(l.buf[l.pos:l.end]), true
		}
	case lineHTML:
		if n >= sampleSize {
			return l.html(), true
		}
	case lineEvent:
		if n > sampleSize { // no name that matters is this long
			l.isError, l.line = false, lineIgnored
		}
	case lineComment, lineIgnored:
		l.discard()
	}
	if l.line != lineComment && l.dropped > maxEvent {
		return tooLong(l.head[:l.headLen]), true
	}
	return item{}, false
}

// addData appends the value of the data line buf[pos:eol] to the event at hand
// and reports whether that is now too long. Values move down inside the
// buffer: the name before each of them leaves room for the line feed between.
func (l *lines) addData(eol int) bool {
	v := value(l.buf[l.pos:eol])
	switch {
	case len(v) == 0: // blank data is skipped
	case l.de == l.ds:
		l.ds, l.de = eol-len(v), eol
	default:
		l.buf[l.de] = '\n'
		l.de += 1 + copy(l.buf[l.de+1:], v)
	}
	l.sawData = l.sawData || len(v) > 0
	return l.de-l.ds > maxEvent
}

// value returns what stands behind the colon and one optional space.
func value(line []byte) []byte {
	_, v, _ := bytes.Cut(line, []byte{':'})
	if len(v) > 0 && v[0] == ' ' {
		v = v[1:]
	}
	return v
}

// dispatch hands out the event at hand, if it has data.
func (l *lines) dispatch(last bool) (item, bool) {
	it := item{kind: itemEvent, data: l.takeData(), name: l.isError, last: last}
	l.isError = false
	return it, len(it.data) > 0
}

// takeData returns the data of the event at hand without blanks around it; data
// of blanks alone is no data.
func (l *lines) takeData() []byte {
	data := bytes.Trim(l.buf[l.ds:l.de], " \t\r\n")
	l.ds, l.de = 0, 0
	return data
}
