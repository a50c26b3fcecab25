package probe

import (
	"math"
	"strings"
	"testing"
)

func TestGenerateHasExactlySoManyBytes(t *testing.T) {
	for _, n := range []int{0, 1, 2, 71, rounds(1) - 1, rounds(1), rounds(1) + 1, 50_000} {
		text := generate(7, n)
		if len(text) != n {
			t.Errorf("asked for %d bytes, got %d", n, len(text))
		}
		if text != generate(7, n) {
			t.Errorf("%d bytes: not the same text twice", n)
		}
		if text != generate(7, n+100)[:n] {
			t.Errorf("%d bytes are not the beginning of %d", n, n+100)
		}
	}
	if generate(7, 300) == generate(8, 300) {
		t.Error("two seeds give the same text")
	}
}

func TestEveryRoundHasEverySentenceOnceInANewOrder(t *testing.T) {
	text := generate(3, rounds(3))
	parts := []string{text[:rounds(1)], text[rounds(1):rounds(2)], text[rounds(2):]}
	for i, part := range parts {
		for _, s := range sentences {
			if got := strings.Count(part, s); got != 1 {
				t.Errorf("round %d has %q %d times", i, s, got)
			}
		}
	}
	if parts[1] == parts[2] {
		t.Error("two rounds read alike")
	}
}

func TestSentencesAreSeparableByOneSpace(t *testing.T) {
	if len(sentences)%8 != 0 {
		t.Errorf("%d sentences do not fill paragraphs of 8", len(sentences))
	}
	for _, s := range sentences {
		if strings.Join(strings.Fields(s), " ") != s || !strings.HasSuffix(s, ".") {
			t.Errorf("%q", s)
		}
	}
}

// Tokenizers of several kinds, none of them linear in words.
var tokenizers = []struct {
	name  string
	count func(text string) int
}{
	{"a token a word", func(s string) int { return 7 + len(strings.Fields(s)) }},
	{"four bytes a token", func(s string) int { return 25 + len(s)/4 }},
	{"a token a byte", func(s string) int { return 3 + len(s) }},
	{"long words split", func(s string) int {
		n := 300 // a gateway that adds a long system prompt
		for _, w := range strings.Fields(s) {
			n += 1 + (len(w)-1)/5
		}
		return n
	}},
	{"eight words a token", func(s string) int { return 1 + len(strings.Fields(s))/8 }},
}

func TestSizeFitHitsTheAskedSize(t *testing.T) {
	for _, tok := range tokenizers {
		var fit sizeFit // shared by all sizes, as prompts of one model share it
		for _, n := range []int{128_000, 400, 1000, 4000, 8000, 32_000, 401} {
			requests := 0
			for range maxSizings {
				size, done := fit.next(n)
				if done {
					break
				}
				requests++
				fit.add(sizePoint{size, tok.count(generate(generatorSeed, size) + generatedTail)})
			}
			size := fit.size(n)
			got := tok.count(generate(generatorSeed, size) + generatedTail)
			if abs(got-n) > tolerance(n) {
				t.Errorf("%s: asked for %d tokens, got %d from %d bytes after %d requests", tok.name, n, got, size, requests)
			}
			if n > bigPrompt && requests > 2 {
				t.Errorf("%s: %d requests for %d tokens", tok.name, requests, n)
			}
		}
	}
}

// The first guess of 1,000 tokens is beyond what this server takes, the right
// size is not.
func TestSizeFitFindsItsWayBackFromTruncation(t *testing.T) {
	for _, perByte := range []float64{0.3, 0.55, 1.1} {
		truncating := func(s string) int { return min(1500+len(s)/500, 45+int(float64(len(s))*perByte)) }
		var fit sizeFit
		for range maxSizings + 1 { // the last is the first probe's own
			size, _ := fit.next(1000)
			fit.add(sizePoint{size, truncating(generate(generatorSeed, size))})
		}
		if got := truncating(generate(generatorSeed, fit.size(1000))); abs(got-1000) > tolerance(1000) {
			t.Errorf("%v a byte: got %d tokens, points %v", perByte, got, fit.points)
		}
	}
}

func TestSizeFitSurvivesNonsense(t *testing.T) {
	for _, points := range [][]sizePoint{
		{{100, 0}}, {{1, 1}, {1000, 1}}, {{1000, 1}, {1, 1000}}, {{0, math.MaxInt32}}, {{1, 1}, {1_000_000, 100}},
	} {
		fit := sizeFit{points: points}
		if size := fit.size(1000); size < 1 || size > 1_050_000 {
			t.Errorf("points %v: %d bytes for 1000 tokens", points, size)
		}
	}
	var fit sizeFit
	for i := range 1000 {
		fit.add(sizePoint{i, i})
	}
	if len(fit.points) != maxPoints {
		t.Errorf("%d points are kept, want %d", len(fit.points), maxPoints)
	}
}

func BenchmarkGenerate128k(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		generate(1, 560_000)
	}
}
