package wire

import (
	"bytes"
	"io"
)

// fill reads once, after making room.
func (l *lines) fill() {
	if l.de == l.ds {
		l.ds, l.de = 0, 0
	}
	if l.pos == l.end {
		l.pos, l.scan, l.end = l.de, l.de, l.de
	}
	if len(l.buf)-l.end < firstBuffer/4 {
		l.makeRoom()
	}
	for tries := 0; ; tries++ {
		n, err := l.r.Read(l.buf[l.end:])
		l.headLen += copy(l.head[l.headLen:], l.buf[l.end:l.end+n])
		l.end += n
		l.rerr = err
		if n > 0 || err != nil {
			return
		}
		if tries == 100 {
			l.rerr = io.ErrNoProgress
			return
		}
	}
}

// makeRoom closes the gaps in the buffer, and doubles it where that is not
// enough. step has refused what would not fit into maxBuffer.
func (l *lines) makeRoom() {
	held, todo := l.de-l.ds, l.end-l.pos
	dst := l.buf
	if len(l.buf)-held-todo < len(l.buf)/2 && len(l.buf) < maxBuffer {
		size := 2 * len(l.buf)
		if size >= maxEvent {
			size = maxBuffer
		}
		dst = make([]byte, size)
	}
	if l.ds > 0 || len(dst) != len(l.buf) {
		copy(dst, l.buf[l.ds:l.de])
	}
	copy(dst[held:], l.buf[l.pos:l.end])
	l.scan -= l.pos - held
	l.buf, l.ds, l.de, l.pos, l.end = dst, 0, held, held, held+todo
}

// begin drops one byte order mark. It returns false while it cannot tell.
func (l *lines) begin() bool {
	const bom = "\xEF\xBB\xBF"
	head := l.buf[l.pos:l.end]
	switch {
	case len(head) >= len(bom) && string(head[:len(bom)]) == bom:
		l.pos += len(bom)
		l.scan = l.pos
	case l.rerr == nil && len(head) < len(bom) && string(head) == bom[:len(head)]:
		return false
	}
	l.begun = true
	return true
}

// lineEnd returns the index of the CR or LF that ends the line at hand, or -1.
// It looks in pieces, so that a buffer full of CR lines is not searched to its
// end for a LF once per line.
func (l *lines) lineEnd() int {
	const piece = 1024
	for l.scan < l.end {
		part := l.buf[l.scan:min(l.scan+piece, l.end)]
		n := bytes.IndexByte(part, '\n')
		if n >= 0 {
			part = part[:n]
		}
		if r := bytes.IndexByte(part, '\r'); r >= 0 {
			n = r
		}
		if n >= 0 {
			return l.scan + n
		}
		l.scan += len(part)
	}
	return -1
}
