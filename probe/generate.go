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

// generate returns exactly n words of prose, the same for the same seed.
//
// The text comes in rounds. A round holds every sentence of the bank once, in
// an order of its own, so a whole round always has the same number of tokens
// whatever the tokenizer, and two measured sizes tell the size of any other:
// if 2 rounds are 1,500 tokens and 6 rounds 4,420, a round is 730, and 128,000
// tokens are 1,500 + 173.3 rounds. No two rounds read alike.
func generate(seed uint64, n int) string {
	var b strings.Builder
	b.Grow(n*7 + 64)
	rng := splitmix(seed)
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	for n > 0 {
		shuffle(order, &rng)
		for at, i := range order {
			if b.Len() > 0 {
				b.WriteString(separator(at))
			}
			s := sentences[i]
			count := strings.Count(s, " ") + 1
			if count >= n {
				b.WriteString(firstWords(s, n))
				return b.String()
			}
			b.WriteString(s)
			n -= count
		}
	}
	return b.String()
}

// separator starts a paragraph before every eighth sentence of a round.
func separator(at int) string {
	if at%8 == 0 {
		return "\n\n"
	}
	return " "
}

func firstWords(s string, n int) string {
	for i := range len(s) {
		if s[i] == ' ' {
			if n--; n == 0 {
				return s[:i]
			}
		}
	}
	return s
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

// roundWords is the number of words in one round.
func roundWords() int {
	n := 0
	for _, s := range sentences {
		n += strings.Count(s, " ") + 1
	}
	return n
}
