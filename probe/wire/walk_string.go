package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads the string whose opening quote is at hand.
func (w *walker) quoted() (raw []byte, escaped bool) {
	b, i := w.b, w.i+1
	start := i
	for i < len(b) {
		c := b[i]
		switch {
		case c == '"':
			w.i = i + 1
			return b[start:i], escaped
		case c == '\\':
			w.i = i + 1
			if w.escape(); w.fault != sound {
				return nil, false
			}
			escaped, i = true, w.i
		case c < ' ':
			w.i = i
			w.fail()
			return nil, false
		default:
			i++
		}
	}
	w.i = i
	w.fail()
	return nil, false
}

// escape checks what follows a backslash.
func (w *walker) escape() {
	if w.i >= len(w.b) {
		w.fail()
		return
	}
	switch w.b[w.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.i++
	case 'u':
		w.i++
		for k := 0; k < 4; k++ {
			if w.i >= len(w.b) || hexDigit(w.b[w.i]) < 0 {
				w.fail()
				return
			}
			w.i++
		}
	default:
		w.fail()
	}
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// unescape appends the text of a string that the walker accepted. A surrogate
// without its other half becomes U+FFFD. Bytes that are not UTF-8 stay as they
// are: some servers split a character over two events, and put together the
// halves are right again.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
					pair = utf16.DecodeRune(r, hex4(raw[i+3:]))
				}
				if r = pair; pair != utf8.RuneError {
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default: // " \ /
			dst = append(dst, c)
		}
	}
	return dst
}

func hex4(b []byte) rune {
	return hexDigit(b[0])<<12 | hexDigit(b[1])<<8 | hexDigit(b[2])<<4 | hexDigit(b[3])
}
