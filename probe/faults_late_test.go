package probe

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe/wire"
)

// slowDecoder takes its time between the read that brings an event and handing
// the event over, as parsing on a busy machine does.
type slowDecoder struct {
	wire.Decoder
	pause time.Duration
}

func (d slowDecoder) Next() (wire.Event, error) {
	ev, err := d.Decoder.Next()
	time.Sleep(d.pause) // of the bubble
	return ev, err
}

// pacedReader brings one piece a read, after a pause.
type pacedReader struct {
	pieces []string
	pause  time.Duration
}

func (r *pacedReader) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	time.Sleep(r.pause)
	n := copy(p, r.pieces[0])
	r.pieces = r.pieces[1:]
	return n, nil
}

// TestParsingIsOffTheClock: every time of an answer, its end included, is that
// of the read which brought it, however long the parsing took.
func TestParsingIsOffTheClock(t *testing.T) {
	const event = `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"
	for _, c := range []struct {
		name   string
		pieces []string
		end    time.Duration
	}{
		// Reads return at 100 and, after 30 ms of parsing each, at 230 ms.
		{"done in a read of its own", []string{event, event, "data: [DONE]\n\n"}, 360 * ms},
		{"done with the last token", []string{event, event + "data: [DONE]\n\n"}, 230 * ms},
		{"end of the body", []string{event, event}, 260 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			body := &stampedBody{r: &pacedReader{c.pieces, 100 * ms}, t0: time.Now()}
			s := stream{body: body}
			d, _ := wire.Lookup("openai-chat")
			err := s.read(slowDecoder{d.NewDecoder(body), 30 * ms}, func(time.Duration) {})
			if err != nil || !s.complete {
				t.Fatalf("%s: %v", c.name, err)
			}
			if s.first != 100*ms || s.last != 230*ms || s.maxGap != 130*ms || s.end != c.end {
				t.Errorf("%s: first %s, last %s, gap %s, end %s; want 100ms, 230ms, 130ms, %s", c.name, s.first, s.last, s.maxGap, s.end, c.end)
			}
		})
	}
}

// TestGapsAreBounded: a server that sends more tokens than anybody asked for
// costs a bounded number of gaps.
func TestGapsAreBounded(t *testing.T) {
	s := stream{body: &stampedBody{}}
	for i := range maxGaps + 10 {
		s.token(&wire.Event{Token: true}, time.Duration(i)*ms)
	}
	if len(s.gaps) != maxGaps || s.chunks != maxGaps+10 || s.maxGap != ms {
		t.Errorf("%d gaps of %d tokens, largest %s", len(s.gaps), s.chunks, s.maxGap)
	}
}

// TestRedactorForms holds what is found of a secret in a text.
func TestRedactorForms(t *testing.T) {
	const key = "sk-Zq8/Lk+29vXw0mTn4b"
	var r redactor
	r.header("Authorization", []string{"Bearer " + key})
	r.header("X-Team", []string{"blue whale"})
	for _, c := range []struct{ give, want string }{
		{"wrong key " + key + ".", "wrong key <secret>."},
		{"wrong key " + strings.ToUpper(key), "wrong key <secret>"},
		{`wrong key sk-Zq8\/Lk+29vXw0mTn4b`, "wrong key <secret>"},
		{"wrong key sk-Zq8%2FLk%2B29vXw0mTn4b", "wrong key <secret>"},
		{"wrong key sk-Zq8/Lk&#43;29vXw0mTn4b", "wrong key <secret>&#43;<secret>"},
		{"wrong key sk-Zq8/L\u200bk+29v\x1bXw0mTn4b", "wrong key <secret>"},
		{"wrong key Zq8/Lk+29vXw…", "wrong key <secret>…"},
		{"ends with sk-Z", "ends with <secret>"},
		{"of blue whale", "of <secret>"},
		{"of a blue sky", "of a blue sky"},
		{"an Authorization header lacks Bearer", "an Authorization header lacks Bearer"},
		{strings.Repeat("x", 290) + key, strings.Repeat("x", 290) + "<secret…"},
		{strings.Repeat(key, 200), "<secret>…"},
	} {
		if got := r.line(c.give); got != c.want {
			t.Errorf("%q: got %q, want %q", c.give, got, c.want)
		}
	}
}
