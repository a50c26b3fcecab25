package wire

import "bytes"

// joined is a text made of one or more JSON strings. One string without
// escapes is not copied; b is nil as long as all of them were empty.
type joined struct {
	b      []byte
	own    []byte // reused
	copied bool   // b is in own
}

func (j *joined) add(raw []byte, escaped bool) {
	switch {
	case len(raw) == 0:
		return
	case j.b == nil && !escaped:
		j.b, j.copied = raw, false
		return
	case j.b == nil:
		j.own = j.own[:0]
	case !j.copied:
		j.own = append(j.own[:0], j.b...)
	}
	j.own = unescape(j.own, raw)
	j.b, j.copied = j.own, true
}

// move appends what from holds.
func (j *joined) move(from *joined) {
	switch {
	case from.b == nil:
	case j.b == nil:
		*j, *from = *from, *j
	default:
		if !j.copied {
			j.own = append(j.own[:0], j.b...)
		}
		j.own = append(j.own, from.b...)
		j.b, j.copied = j.own, true
	}
}

// set takes the string at hand as the whole text.
func (j *joined) set(w *walker) {
	raw, escaped, ok := w.str()
	if j.b = nil; ok {
		j.add(raw, escaped)
	}
}

// count reads a whole number of tokens. Anything else (a string, a fraction, a
// negative or an absurd number) is skipped and unknown.
func count(w *walker) Count {
	if c := w.kind(); c < '0' || c > '9' {
		w.skip()
		return Count{}
	}
	num := w.number()
	whole, fraction, _ := bytes.Cut(num, []byte{'.'})
	n := int64(0)
	for _, c := range whole {
		if c -= '0'; c > 9 || n > 1e15 {
			return Count{}
		}
		n = 10*n + int64(c)
	}
	for _, c := range fraction { // 14.0 is 14
		if c != '0' {
			return Count{}
		}
	}
	return Count{N: n, Known: len(num) > 0}
}

// positive makes a count of 0 unknown.
func positive(n Count) Count {
	n.Known = n.Known && n.N > 0
	return n
}
