package probe

import (
	"math"
	"strings"
	"testing"
)

func TestGenerateHasExactlySoManyWords(t *testing.T) {
	for _, n := range []int{1, 2, 14, 15, roundWords() - 1, roundWords(), roundWords() + 1, 5000} {
		text := generate(7, n)
		if got := len(strings.Fields(text)); got != n {
			t.Errorf("asked for %d words, got %d", n, got)
		}
		if text != generate(7, n) {
			t.Errorf("%d words: not the same text twice", n)
		}
		if text != generate(7, n+100)[:len(text)] {
			t.Errorf("%d words are not the beginning of %d", n, n+100)
		}
	}
	if generate(7, 300) == generate(8, 300) {
		t.Error("two seeds give the same text")
	}
	if got, want := generate(1, 3), firstWords(sentences[firstOf(1)], 3); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func firstOf(seed uint64) int {
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	rng := splitmix(seed)
	shuffle(order, &rng)
	return order[0]
}

func TestEveryRoundHasEverySentenceOnceInANewOrder(t *testing.T) {
	text := generate(3, 3*roundWords())
	words := strings.Fields(text)
	for round := range 3 {
		part := strings.Join(words[round*roundWords():(round+1)*roundWords()], " ")
		for _, s := range sentences {
			if got := strings.Count(part, s); got != 1 {
				t.Errorf("round %d has %q %d times", round, s, got)
			}
		}
	}
	first, second := words[:roundWords()], words[roundWords():2*roundWords()]
	if strings.Join(first, " ") == strings.Join(second, " ") {
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
	{"two bytes a token", func(s string) int { return 3 + len(s)/2 }},
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
				words, done := fit.next(n)
				if done {
					break
				}
				requests++
				fit.add(sizePoint{words, tok.count(generate(generatorSeed, words) + generatedTail)})
			}
			words := fit.words(n)
			got := tok.count(generate(generatorSeed, words) + generatedTail)
			if abs(got-n) > tolerance(n) {
				t.Errorf("%s: asked for %d tokens, got %d from %d words after %d requests", tok.name, n, got, words, requests)
			}
			if n > bigPrompt && requests > 2 {
				t.Errorf("%s: %d requests for %d tokens", tok.name, requests, n)
			}
		}
	}
}

func TestSizeFitSurvivesNonsense(t *testing.T) {
	for _, points := range [][]sizePoint{
		{{100, 0}}, {{1, 1}, {1000, 1}}, {{1000, 1}, {1, 1000}}, {{0, math.MaxInt32}}, {{1, 1}, {1_000_000, 100}},
	} {
		fit := sizeFit{points: points}
		if w := fit.words(1000); w < 1 || w > 1_010_000 {
			t.Errorf("points %v: %d words for 1000 tokens", points, w)
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
		generate(1, 100_000)
	}
}
