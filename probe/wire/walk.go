package wire

// maxDepth is how deep JSON may nest, the same bound as encoding/json's.
const maxDepth = 10000

// A walker reads one JSON text strictly (RFC 8259, byte for byte what
// encoding/json.Valid accepts) without allocating: the caller enters objects
// and arrays, takes the strings and numbers it wants and skips the rest.
//
// The first fault sticks: every later call does nothing, so callers check once
// at the end. A text that only lacks its end is told apart from a wrong one,
// because a stream may be cut in the middle of an event.
type walker struct {
	b     []byte
	i     int
	depth int
	fault fault
	name  []byte // scratch for member names with escapes
}

type fault uint8

const (
	sound fault = iota // no fault so far
	short              // the text ends too early
	wrong              // no continuation could make it JSON
)

func (w *walker) reset(b []byte) { w.b, w.i, w.depth, w.fault = b, 0, 0, sound }

// fail records the first fault. At the end of the input it is always short.
func (w *walker) fail() {
	if w.fault == sound {
		w.fault = wrong
		if w.i >= len(w.b) {
			w.fault = short
		}
	}
	w.i = len(w.b)
}

// end checks that nothing but white space is left.
func (w *walker) end() {
	if w.kind() != 0 {
		w.fault, w.i = wrong, len(w.b)
	}
}

// kind skips white space and returns the first byte of what comes next, 0 at
// the end. A NUL byte is no JSON and is reported as a fault.
func (w *walker) kind() byte {
	for w.i < len(w.b) {
		switch c := w.b[w.i]; c {
		case ' ', '\t', '\n', '\r':
			w.i++
		case 0:
			w.fail()
			return 0
		default:
			return c
		}
	}
	return 0
}

// enter goes into the object or array that opens with c. Anything else is
// skipped and false returned.
func (w *walker) enter(c byte) bool {
	if w.kind() != c {
		w.skip()
		return false
	}
	if w.depth++; w.depth > maxDepth {
		w.fault, w.i = wrong, len(w.b)
		return false
	}
	w.i++
	return true
}

// more goes to member or element n of what was entered, and returns false at
// its closing bracket, which it consumes. That something follows is found out
// by whoever reads it.
func (w *walker) more(n int, closing byte) bool {
	c := w.kind()
	switch {
	case w.fault != sound:
	case c == closing:
		w.i++
		w.depth--
		return false
	case n > 0 && c != ',':
		w.fail()
	case n > 0:
		w.i++
	}
	return w.fault == sound
}

// member returns the name of the member at hand and stops before its value.
// The bytes are valid until the next call.
func (w *walker) member() []byte {
	if w.kind() != '"' {
		w.fail()
		return nil
	}
	raw, escaped := w.quoted()
	if w.kind() != ':' {
		w.fail()
		return nil
	}
	w.i++
	if escaped {
		w.name = unescape(w.name[:0], raw)
		return w.name
	}
	return raw
}

// str returns the contents of a string as written and whether it has escapes.
// A value of another type is skipped and is not ok.
func (w *walker) str() (raw []byte, escaped, ok bool) {
	if w.kind() != '"' {
		w.skip()
		return nil, false, false
	}
	raw, escaped = w.quoted()
	return raw, escaped, w.fault == sound
}

// skip passes over one value of any type.
func (w *walker) skip() {
	switch c := w.kind(); c {
	case '{':
		if w.enter('{') {
			for n := 0; w.more(n, '}'); n++ {
				w.member()
				w.skip()
			}
		}
	case '[':
		if w.enter('[') {
			for n := 0; w.more(n, ']'); n++ {
				w.skip()
			}
		}
	case '"':
		w.quoted()
	case 't':
		w.literal("true")
	case 'f':
		w.literal("false")
	case 'n':
		w.literal("null")
	default:
		w.number()
	}
}

func (w *walker) literal(s string) {
	for k := 0; k < len(s); k++ {
		if w.i >= len(w.b) || w.b[w.i] != s[k] {
			w.fail()
			return
		}
		w.i++
	}
}

// number returns a number as written.
func (w *walker) number() []byte {
	start := w.i
	if w.at('-') {
		w.i++
	}
	if w.at('0') {
		w.i++
	} else {
		w.digits()
	}
	if w.at('.') {
		w.i++
		w.digits()
	}
	if w.at('e') || w.at('E') {
		w.i++
		if w.at('+') || w.at('-') {
			w.i++
		}
		w.digits()
	}
	if w.fault != sound {
		return nil
	}
	return w.b[start:w.i]
}

func (w *walker) at(c byte) bool { return w.i < len(w.b) && w.b[w.i] == c }

func (w *walker) digits() {
	start := w.i
	for w.i < len(w.b) && w.b[w.i]-'0' <= 9 {
		w.i++
	}
	if w.i == start {
		w.fail()
	}
}
