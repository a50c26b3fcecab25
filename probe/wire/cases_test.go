package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wireCase is the part of a case file that a decoder can be held to: README.md
// beside the files says what the fields mean.
type wireCase struct {
	Name, Protocol string
	Status         int
	Headers        map[string]string
	Body           []struct{ Data, Base64 string }
	End            string
	Expect         struct {
		Outcome       string
		TTFT          *int   `json:"ttft_segment"`
		FirstContent  *int   `json:"first_content_segment"`
		LastToken     *int   `json:"last_token_segment"`
		OutputTokens  int64  `json:"output_tokens"`
		OutputSource  string `json:"output_tokens_source"`
		PromptTokens  *int64 `json:"prompt_tokens"`
		CachedTokens  *int64 `json:"cached_tokens"`
		Text          *string
		FinishReason  *string `json:"finish_reason"`
		ReasoningText *string `json:"reasoning_text"`
	}
}

// loadCases reads all case files; none is a failure of the test.
func loadCases(t testing.TB) []wireCase {
	files, err := filepath.Glob(filepath.Join("..", "probetest", "testdata", "wire-cases", "*.json"))
	if err != nil || len(files) != 36 {
		t.Fatalf("%d case files (%v), want 36", len(files), err)
	}
	cases := make([]wireCase, len(files))
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(text, &cases[i])
		}
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	return cases
}

// segments returns the writes of a case's body as a client sees them, that is
// decompressed.
func (c wireCase) segments(t testing.TB) [][]byte {
	var segs [][]byte
	for _, s := range c.Body {
		b := []byte(s.Data)
		if s.Base64 != "" {
			var err error
			if b, err = base64.StdEncoding.DecodeString(s.Base64); err != nil {
				t.Fatal(err)
			}
		}
		segs = append(segs, b)
	}
	if c.Headers["Content-Encoding"] != "gzip" {
		return segs
	}
	return gunzipped(t, segs)
}

func gunzipped(t testing.TB, segs [][]byte) [][]byte {
	var out [][]byte
	before := 0
	for i := range segs {
		zr, err := gzip.NewReader(bytes.NewReader(bytes.Join(segs[:i+1], nil)))
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := io.ReadAll(zr) // cut after a flush: what is there counts
		out = append(out, plain[before:])
		before = len(plain)
	}
	return out
}

// errCut stands for the reader's error after a body that did not end properly.
var errCut = errors.New("connection reset")

// pieces is a reader that hands out one piece a Read, then end.
type pieces struct {
	list  [][]byte
	end   error
	reads int // pieces handed out in whole
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.list) > 0 && len(p.list[0]) == 0 {
		p.list = p.list[1:]
		p.reads++
	}
	if len(p.list) == 0 {
		return 0, p.end
	}
	n := copy(b, p.list[0])
	if p.list[0] = p.list[0][n:]; len(p.list[0]) == 0 {
		p.list = p.list[1:]
		p.reads++
	}
	return n, nil
}

// trace is everything a decoder said about a body, as text, and what a caller
// would make of it.
type trace struct {
	lines                         []string
	err                           error
	ttft, firstContent, lastToken int // pieces; -1 for never
	tokens                        int64
	usage                         Usage
	text, reasoning, finish       string
}

func decodeAll(t testing.TB, dialect string, p *pieces) trace {
	d, ok := Lookup(dialect)
	if !ok {
		t.Fatalf("no dialect %q", dialect)
	}
	tr := trace{ttft: -1, firstContent: -1, lastToken: -1}
	dec := d.NewDecoder(p)
	for {
		ev, err := dec.Next()
		if err != nil {
			if _, again := dec.Next(); again != err {
				t.Errorf("error %v, then %v", err, again)
			}
			tr.err = err
			return tr
		}
		tr.lines = append(tr.lines, eventLine(ev))
		tr.take(ev, max(0, p.reads-1))
	}
}

func eventLine(ev Event) string {
	return fmt.Sprintf("text=%q reasoning=%q token=%v content=%v thinking=%v finish=%q id=%q model=%q usage=%v %v",
		ev.Text, ev.Reasoning, ev.Token, ev.Content, ev.Thinking, ev.Finish, ev.ID, ev.Model, ev.HasUsage, ev.Usage)
}

func (tr *trace) take(ev Event, piece int) {
	if ev.Token {
		tr.tokens++
		tr.lastToken = piece
		if tr.ttft < 0 {
			tr.ttft = piece
		}
	}
	if ev.Content && tr.firstContent < 0 {
		tr.firstContent = piece
	}
	tr.text += string(ev.Text)
	tr.reasoning += string(ev.Reasoning)
	if ev.Finish != nil {
		tr.finish = string(ev.Finish)
	}
	for _, c := range []struct{ from, to *Count }{
		{&ev.Usage.Prompt, &tr.usage.Prompt}, {&ev.Usage.Output, &tr.usage.Output},
		{&ev.Usage.Cached, &tr.usage.Cached}, {&ev.Usage.Reasoning, &tr.usage.Reasoning},
	} {
		if c.from.Known {
			*c.to = *c.from
		}
	}
}

// verdict is the error as a word, without samples, which depend on how much
// was there when the decoder gave up.
func verdict(err error) string {
	var obj *ErrorObject
	var format *FormatError
	switch {
	case errors.As(err, &obj):
		return fmt.Sprintf("error object %s type=%q code=%q param=%q message=%q", obj.Class, obj.Type, obj.Code, obj.Param, obj.Message)
	case errors.As(err, &format):
		return "format: " + format.What
	case err == io.EOF:
		return "complete"
	case err == io.ErrUnexpectedEOF:
		return "truncated"
	}
	return "reader: " + err.Error()
}

func (tr trace) String() string {
	return strings.Join(tr.lines, "\n") + "\n" + verdict(tr.err)
}

func (c wireCase) end() error {
	switch c.End {
	case "close":
		return io.EOF
	case "truncate":
		return io.ErrUnexpectedEOF
	}
	return errCut
}

// outcome is the README's name for how a decoder ended, as far as it depends on
// the decoder.
func (tr trace) outcome() string {
	var obj *ErrorObject
	var format *FormatError
	switch {
	case errors.As(tr.err, &obj):
		return obj.Class
	case errors.As(tr.err, &format):
		return "bad_stream"
	case tr.err == io.ErrUnexpectedEOF:
		return "truncated"
	case tr.err == errCut:
		return "cut"
	case tr.finish == "content_filter", tr.finish == "refusal":
		return "content_filter"
	case tr.tokens == 0:
		return "empty"
	}
	return "ok"
}

func TestWireCases(t *testing.T) {
	streams := 0
	for _, c := range loadCases(t) {
		if c.Status != 200 {
			continue
		}
		streams++
		t.Run(c.Name, func(t *testing.T) {
			segs := c.segments(t)
			tr := decodeAll(t, c.Protocol, &pieces{list: append([][]byte(nil), segs...), end: c.end()})
			c.check(t, tr)
			checkSplits(t, c.Protocol, segs, c.end(), tr.String())
		})
	}
	if streams != 29 {
		t.Errorf("%d cases of status 200, want 29", streams)
	}
}

func (c wireCase) check(t *testing.T, tr trace) {
	x := c.Expect
	outcome := x.Outcome
	switch outcome {
	case "reset", "stall", "timeout_first_token", "timeout_total":
		outcome = "cut"
	}
	equal(t, "outcome", tr.outcome(), outcome)
	equal(t, "ttft segment", tr.ttft, orElse(x.TTFT, -1))
	equal(t, "first content segment", tr.firstContent, orElse(x.FirstContent, -1))
	equal(t, "last token segment", tr.lastToken, orElse(x.LastToken, -1))
	output, source := tr.tokens, "chunks"
	if u := tr.usage.Output; u.Known && (u.N > 0 || tr.tokens == 0) {
		output, source = u.N, "usage"
	}
	equal(t, "output tokens", output, x.OutputTokens)
	equal(t, "output source", source, x.OutputSource)
	equal(t, "prompt tokens", tr.usage.Prompt, known(x.PromptTokens))
	equal(t, "cached tokens", tr.usage.Cached, known(x.CachedTokens))
	equal(t, "finish reason", tr.finish, orElse(x.FinishReason, ""))
	equal(t, "text", tr.text, orElse(x.Text, ""))
	equal(t, "reasoning", tr.reasoning, orElse(x.ReasoningText, ""))
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func orElse[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

func known(p *int64) Count {
	if p == nil {
		return Count{}
	}
	return Count{N: *p, Known: true}
}

// checkSplits decodes the same bytes in other pieces and wants the same.
func checkSplits(t testing.TB, dialect string, segs [][]byte, end error, want string) {
	t.Helper()
	body := bytes.Join(segs, nil)
	splits := map[string][][]byte{"whole": {body}}
	if len(body) < 64<<10 {
		splits["bytes"] = split(body, 1)
		for i := range body {
			splits[fmt.Sprint("two parts at ", i)] = [][]byte{body[:i], body[i:]}
		}
	} else {
		splits["bytes"] = split(body, 1)
		splits["7 bytes"] = split(body, 7)
		splits["8191 bytes"] = split(body, 8191)
	}
	for name, list := range splits {
		if got := decodeAll(t, dialect, &pieces{list: list, end: end}).String(); got != want {
			t.Fatalf("split %s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func split(b []byte, n int) [][]byte {
	var list [][]byte
	for len(b) > 0 {
		k := min(n, len(b))
		list = append(list, b[:k])
		b = b[k:]
	}
	return list
}
