package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestReadsOnlyWhenNeeded: a caller stamps each Read, so events that are there
// must come out before the next one.
func TestReadsOnlyWhenNeeded(t *testing.T) {
	a, b := chunkText("a"), chunkText("b")
	for _, c := range []struct {
		name  string
		reads []string
		want  []int // for each event, how many reads it took
	}{
		{"one each", []string{a, b}, []int{1, 2}},
		{"two in one", []string{a + b, a}, []int{1, 1, 2}},
		{"one and a half", []string{a + b[:20], b[20:]}, []int{1, 2}},
		{"blank line apart", []string{a[:len(a)-1], "\n"}, []int{2}},
		{"CR CR", []string{a[:len(a)-2] + "\r\r", "data: x"}, []int{1}},
		{"CR LF CR, without the LF", []string{a[:len(a)-2] + "\r\n\r", "\n" + b}, []int{1, 2}},
		{"CR, then LF CR", []string{a[:len(a)-2] + "\r", "\n\r"}, []int{2}},
		{"LF CR", []string{a[:len(a)-2] + "\n\r", b}, []int{1, 2}},
		{"comment between", []string{a, ": ping\n\n", b}, []int{1, 3}},
	} {
		var list [][]byte
		for _, r := range c.reads {
			list = append(list, []byte(r))
		}
		p := &pieces{list: list, end: errCut}
		d, _ := Lookup("openai-chat")
		dec := d.NewDecoder(p)
		for i, want := range c.want {
			if _, err := dec.Next(); err != nil || p.reads != want {
				t.Errorf("%s: event %d after %d reads (%v), want %d", c.name, i, p.reads, err, want)
			}
		}
	}
}

// TestErrorNeedsNoLineEnd: an error text is complete at its closing bracket and
// done at its blank line; a server that leaves the connection open is not
// waited for.
func TestErrorNeedsNoLineEnd(t *testing.T) {
	open := readerFunc(func([]byte) (int, error) { panic("read again") })
	for _, c := range []struct{ give, want string }{
		{`{"error":{"message":"m"}}`, `error object stream_error type="" code="" param="" message="m"`},
		{`error: {"message":"m"}`, `error object stream_error type="" code="" param="" message="m"`},
		{`[{"error":"m"}`, ``}, // the list is still open
		{"data: [DONE]\n\n", `complete`},
		{"<html>\n", `format: HTML instead of an event stream`},
		{`{"choices":[]}`, `format: a JSON answer that was not streamed`},
	} {
		got := func() (got string) {
			defer func() { _ = recover() }()
			d, _ := Lookup("openai-chat")
			_, err := d.NewDecoder(io.MultiReader(strings.NewReader(c.give), open)).Next()
			return verdict(err)
		}()
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.give, got, c.want)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestReadErrors(t *testing.T) {
	d, _ := Lookup("openai-chat")
	// Data and error in one Read: the data counts.
	both := readerFunc(func(b []byte) (int, error) { return copy(b, chunkText("a")), fmt.Errorf("lost: %w", errCut) })
	dec := d.NewDecoder(both)
	if ev, err := dec.Next(); err != nil || string(ev.Text) != "a" {
		t.Errorf("got %q, %v", ev.Text, err)
	}
	if _, err := dec.Next(); !errors.Is(err, errCut) || err.Error() != "lost: connection reset" {
		t.Errorf("got %v, want the reader's own error", err)
	}
	// Reads of nothing do not spin for ever.
	dec = d.NewDecoder(readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, err := dec.Next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
}

// flood gives head, then fill until n bytes have come, then tail.
type flood struct {
	head, fill, tail []byte
	n, at            int
}

func (f *flood) Read(b []byte) (int, error) {
	switch {
	case len(f.head) > 0:
		n := copy(b, f.head)
		f.head = f.head[n:]
		return n, nil
	case f.n > 0:
		total := 0
		for total < len(b) && f.n > 0 {
			rest := f.fill[f.at:]
			n := copy(b[total:], rest[:min(len(rest), f.n)])
			f.at = (f.at + n) % len(f.fill)
			f.n -= n
			total += n
		}
		return total, nil
	case len(f.tail) > 0:
		n := copy(b, f.tail)
		f.tail = f.tail[n:]
		return n, nil
	}
	return 0, io.EOF
}

// TestLongInput: what is not kept costs no memory however long it is, and what
// is kept has a bound.
func TestLongInput(t *testing.T) {
	letters := bytes.Repeat([]byte("x"), 64<<10)
	after := "\n" + chunkText("a") + doneLine
	stray := chunkText("b") // makes it an event stream
	for _, c := range []struct {
		name, head, fill, tail string
		n, memory              int
		want                   string
	}{
		{"comment", ":", "", after, 80 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"unknown field", "x", "", after, 4 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"unknown field, too long", "x", "", after, maxEvent + 1, 64 << 10, `format: a line over 64 MiB`},
		{"id", "id: ", "", after, 4 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"name of an event", "event: ", "", after, 4 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"blanks", " ", " ", after, 4 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"many comments inside an event", "data: {\n", ":" + strings.Repeat("x", 98) + "\n", "data: }\n\n" + doneLine, 4 << 20, 64 << 10, `complete`},
		{"many CR", chunkText("a"), "\r", doneLine, 4 << 20, 64 << 10, `tokens=1 text="a" complete`},
		{"words of an error", "error: ", "", after, 4 << 20, 64 << 10, `error object stream_error type="" code="" param="" message="` + strings.Repeat("x", maxMessage-1) + `"`},
		{"HTML", "<", "", "", 4 << 20, 64 << 10, `format: HTML instead of an event stream`},
		{"data of 64 MiB", `data: {"choices":[{"delta":{"content":"`, "", `"}}]}` + "\n\n" + doneLine, maxEvent - 39, maxBuffer, `tokens=1 complete`},
		{"data over 64 MiB", `data: "`, "", "\"\n\n" + doneLine, maxEvent - 1, maxBuffer, `format: a line over 64 MiB`},
		{"data over 64 MiB in lines", `data: {"x":[` + "\n", "data: " + strings.Repeat("1,", 60) + "\n", "", maxEvent * 9 / 8, maxBuffer, `format: a line over 64 MiB`},
		{"JSON without field", `{"x":"`, "", `"}`, maxEvent * 2, maxBuffer + 80<<20, `format: a line over 64 MiB`},
		{"JSON without field, in lines", stray + "{\n", "1,\n", "", maxEvent * 2, maxBuffer + 80<<20, `tokens=1 text="b" format: a line over 64 MiB`},
	} {
		f := &flood{head: []byte(c.head), fill: letters, tail: []byte(c.tail), n: c.n}
		if c.fill != "" {
			f.fill = bytes.Repeat([]byte(c.fill), 64<<10/len(c.fill))
			f.n -= f.n % len(c.fill)
		}
		d := newDecoder(f, chatMember, nil)
		tr := trace{ttft: -1, firstContent: -1}
		for tr.err == nil {
			var ev Event
			if ev, tr.err = d.Next(); len(ev.Text) > 1<<20 {
				ev.Text = nil
			}
			tr.take(ev, 0)
		}
		if got := tr.summary(); got != c.want {
			t.Errorf("%s: got %.200s, want %.200s", c.name, got, c.want)
		}
		if got := cap(d.in.buf) + cap(d.in.stray.text); got > c.memory {
			t.Errorf("%s: %d bytes held, want at most %d", c.name, got, c.memory)
		}
	}
}
