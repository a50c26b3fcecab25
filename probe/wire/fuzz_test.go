package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// seeds adds the bodies of the wire cases and of the rule tables; an empty
// corpus would make a fuzz target that tries nothing.
func seeds(f *testing.F) {
	n := 0
	for _, c := range loadCases(f) {
		if body := bytes.Join(c.segments(f), nil); len(body) < 32<<10 {
			f.Add(body, uint16(len(body)/2), uint8(n))
			n++
		}
	}
	for _, r := range chatRules {
		f.Add([]byte(r.give), uint16(len(r.give)/2), uint8(n))
		n++
	}
	for _, r := range messagesRules {
		f.Add([]byte(r.give), uint16(len(r.give)/3), uint8(n))
		n++
	}
	if n < 60 {
		f.Fatalf("only %d seeds", n)
	}
}

var ends = []error{io.EOF, io.ErrUnexpectedEOF, errCut}

// decoderLaws holds what is true of every body.
func decoderLaws(t *testing.T, dialect string, body []byte, cut uint16, end uint8) {
	ending := ends[int(end)%len(ends)]
	whole := decodeAll(t, dialect, &pieces{list: [][]byte{body}, end: ending})
	at := int(cut) % (len(body) + 1)
	for _, list := range [][][]byte{{body[:at], body[at:]}, split(body, 1), split(body, 1+at%13)} {
		if got := decodeAll(t, dialect, &pieces{list: list, end: ending}); got.String() != whole.String() {
			t.Fatalf("in %d pieces:\n%s\nwhole:\n%s", len(list), got, whole)
		}
	}
	terminated := bytes.Contains(body, []byte("[DONE]")) || bytes.Contains(body, []byte("stop")) || bytes.Contains(body, []byte(`\u`))
	if whole.err == io.EOF && !terminated && whole.finish == "" {
		t.Fatalf("complete without terminator or finish reason:\n%s", whole)
	}
	if whole.err == io.EOF && ending != io.EOF && !terminated {
		t.Fatalf("complete although the body was cut:\n%s", whole)
	}
}

func FuzzChat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte, cut uint16, end uint8) { decoderLaws(t, "openai-chat", body, cut, end) })
}

func FuzzCompletions(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte, cut uint16, end uint8) {
		decoderLaws(t, "openai-completions", body, cut, end)
	})
}

func FuzzMessages(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte, cut uint16, end uint8) {
		decoderLaws(t, "anthropic-messages", body, cut, end)
	})
}

// FuzzLines compares the framing with a plain reading of the standard, and
// bounds the memory by the input.
func FuzzLines(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte, cut uint16, end uint8) {
		at := int(cut) % (len(body) + 1)
		l := newLines(&pieces{list: [][]byte{body[:at], body[at:]}, end: io.EOF})
		var got []string
		others := false
		for n := 0; ; n++ {
			it := l.next()
			if it.kind == itemEnd {
				break
			}
			if it.kind == itemEvent {
				got = append(got, fmt.Sprintf("%q error=%v", it.data, it.name))
			} else {
				others = true
			}
			if n > len(body) {
				t.Fatal("more items than bytes")
			}
		}
		if len(l.buf) > firstBuffer+4*len(body) || cap(l.stray.text) > 64+4*len(body) {
			t.Fatalf("%d bytes of input, buffers of %d and %d", len(body), len(l.buf), cap(l.stray.text))
		}
		want := plainEvents(body)
		if others || !l.sawData {
			return // errors end a stream; the reader goes on, as the next line does
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// plainEvents is the standard read slowly, with the two additions.
func plainEvents(body []byte) []string {
	text := strings.TrimPrefix(string(body), "\uFEFF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var events, data []string
	name := ""
	dispatch := func() {
		if d := strings.Trim(strings.Join(data, "\n"), " \t\r\n"); d != "" {
			events = append(events, fmt.Sprintf("%q error=%v", d, name == "error"))
		}
		data, name = nil, ""
	}
	rows := strings.Split(text, "\n")
	for i, line := range rows {
		field, val, _ := strings.Cut(line, ":")
		val = strings.TrimPrefix(val, " ")
		switch {
		case line == "" && i < len(rows)-1:
			dispatch()
		case field == "data" && val != "":
			data = append(data, val)
		case field == "event" && i < len(rows)-1:
			name = val
		}
	}
	dispatch()
	return events
}

// FuzzWalker holds the walker to encoding/json: the same texts are JSON, and
// strings say the same.
func FuzzWalker(f *testing.F) {
	n := 0
	for _, c := range loadCases(f) {
		for _, s := range c.segments(f) {
			if _, data, ok := bytes.Cut(s, []byte("data: ")); ok && len(data) < 4096 {
				f.Add(data)
				n++
			}
		}
	}
	for _, s := range jsonTexts {
		f.Add([]byte(s.give))
		n++
	}
	if n < 100 {
		f.Fatalf("only %d seeds", n)
	}
	f.Fuzz(checkWalker)
}

func checkWalker(t *testing.T, text []byte) {
	var w walker
	w.reset(text)
	w.skip()
	w.end()
	if valid := json.Valid(text); valid != (w.fault == sound) {
		t.Fatalf("%q: json.Valid says %v, the walker has fault %d", text, valid, w.fault)
	}
	var d decoder
	for _, member := range []func(*decoder, []byte){chatMember, completionsMember, messagesMember} {
		d = decoder{member: member}
		if got := d.object(text); got != w.fault {
			t.Fatalf("%q: a decoder finds fault %d, skipping finds %d", text, got, w.fault)
		}
	}
	if r := readError(text); r.fault != w.fault {
		t.Fatalf("%q: reading an error finds fault %d, skipping finds %d", text, r.fault, w.fault)
	}
	w.reset(text)
	if raw, _, ok := w.str(); ok && w.i == len(text) && text[0] == '"' {
		var want string
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if got := strings.ToValidUTF8(string(unescape(nil, raw)), "\uFFFD"); got != strings.ToValidUTF8(want, "\uFFFD") && len(bytes.ToValidUTF8(raw, nil)) == len(raw) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	}
}
