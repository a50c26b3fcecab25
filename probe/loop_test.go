package probe

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"tokprobe/probe/wire"
)

// TestTokensCostNoAllocation: 1,000 tokens more cost next to nothing more than
// the stream itself (the gaps' slice grows a few times).
func TestTokensCostNoAllocation(t *testing.T) {
	d, ok := wire.Lookup(protocolChat)
	if !ok {
		t.Fatal("no dialect")
	}
	const token = `data: {"id":"x","model":"m","choices":[{"index":0,"delta":{"content":" tok\u0065n"}}]}` + "\n\n"
	cost := func(tokens int) float64 {
		body := []byte(strings.Repeat(token, tokens) + "data: [DONE]\n\n")
		return testing.AllocsPerRun(20, func() {
			s := stream{body: &stampedBody{r: bytes.NewReader(body), t0: time.Now()}}
			if err := s.read(d.NewDecoder(s.body), func(time.Duration) {}); err != nil || s.chunks != tokens {
				t.Fatal(err, s.chunks)
			}
		})
	}
	if more := cost(1100) - cost(100); more > 20 {
		t.Errorf("1,000 tokens cost %.0f allocations", more)
	}
}

func TestTextIsBounded(t *testing.T) {
	s := stream{keepText: true}
	piece := []byte(strings.Repeat("é", 1000))
	for range 600 { // 1.2 MB
		s.note(&wire.Event{Text: piece, Reasoning: []byte("a")})
	}
	if n := len(s.text); n > maxTextBytes || n < maxTextBytes-1 || !strings.HasSuffix(string(s.text), "é") {
		t.Errorf("%d bytes, ends with %q", n, s.text[n-2:])
	}
	if len(s.reasoning) != 600 {
		t.Errorf("%d bytes of reasoning", len(s.reasoning))
	}
}
