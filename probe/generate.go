package probe

import (
	"strings"
)

// generatorVersion changes when the generated text does, so that prompt hashes
// from before and after are not taken for the same prompt.
const generatorVersion = 1

// generatedTail ends every generated prompt.
const generatedTail = "\n\nSummarise the notes above in plain words, at length."

// generatorSeed is the same for all sizes: a shorter prompt is the beginning of
// a longer one, so what one size measured is exactly true in the others.
const generatorSeed = 1

// generate returns exactly n bytes of ASCII prose, the same for the same seed;
// the last word may be cut, since whole words are too coarse: some tokenizers
// make eight tokens of one.
//
// The text comes in rounds. A round holds every sentence of the bank once, in
// an order of its own, so a whole round always has the same number of tokens
// whatever the tokenizer, and two measured sizes tell the size of any other:
// if 1 round is 800 tokens and 6 rounds are 4,450, a round is 730, and 128,000
// tokens are 1 + 174.2 rounds. No two rounds read alike.
func generate(seed uint64, n int) string {
	var b strings.Builder
	b.Grow(n + 256) // a sentence beyond n
	rng := splitmix(seed)
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	for b.Len() < n {
		shuffle(order, &rng)
		for at, i := range order {
			if b.Len() >= n {
				break
			}
			if b.Len() > 0 {
				b.WriteString(separator(at))
			}
			b.WriteString(sentences[i])
		}
	}
	return b.String()[:n]
}

// separator starts a paragraph before every eighth sentence of a round.
func separator(at int) string {
	if at%8 == 0 {
		return "\n\n"
	}
	return " "
}

// splitmix is SplitMix64. The standard library's generators are as good, but
// the text must not change with a new Go release.
type splitmix uint64

func (r *splitmix) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func shuffle(order []int, rng *splitmix) {
	for i := len(order) - 1; i > 0; i-- {
		j := int(rng.next() % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
}

// rounds is the number of bytes in so many whole rounds.
func rounds(n int) int {
	size := 0
	for at, s := range sentences {
		size += len(separator(at)) + len(s)
	}
	return n*size - len(separator(0)) // nothing separates the first sentence
}
