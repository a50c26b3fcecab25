package wire

import "io"

// dataAtHand returns and forgets the data lines of an event whose blank line
// has not come.
func (l *lines) dataAtHand() []byte { return l.takeData() }

// finish handles the end of the body: a complete data line at the very end
// counts without its line end and blank line, but only where the body ended
// properly; a line of a body that was cut may have lost its tail.
func (l *lines) finish() item {
	if l.rerr != io.EOF {
		return item{kind: itemEnd, err: l.rerr}
	}
	if it, ok := l.lastLine(); ok {
		return it
	}
	if it, ok := l.dispatch(true); ok {
		return it
	}
	switch {
	case !l.sawData && l.stray.open():
		return item{kind: itemEnd, err: &FormatError{What: "JSON that does not end instead of an event stream", Sample: sample(l.stray.text)}}
	case !l.sawData && !l.framed && l.junk:
		return item{kind: itemEnd, err: &FormatError{What: "no event stream", Sample: sample(l.head[:l.headLen])}}
	}
	return item{kind: itemEnd, err: io.EOF}
}

// lastLine takes a line that ended with the body.
func (l *lines) lastLine() (item, bool) {
	if l.line == lineUnknown && l.pos < l.end {
		l.classify(l.buf[l.pos:l.end], true)
	}
	switch l.line {
	case lineData:
		if l.addData(l.end) {
			return tooLong(l.buf[l.ds:l.de]), true
		}
	case lineHTML:
		return l.html(), true
	case lineError:
		if it, ok := l.takeStray(l.end, true); ok {
			return it, true
		}
	}
	l.pos, l.scan, l.line = l.end, l.end, lineIgnored
	return item{}, false
}
