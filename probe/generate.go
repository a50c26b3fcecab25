package probe

import (
	"math"
	"strings"
)

// generatorVersion changes when the generated text does, so that prompt hashes
// from before and after are not taken for the same prompt.
const generatorVersion = 1

// generatedTail ends every generated prompt.
const generatedTail = "\n\nSummarise the notes above in plain words, at length."

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

// A sizePoint is one measured prompt: so many generated words made so many
// prompt tokens, everything around them included.
type sizePoint struct{ words, tokens int }

// sizeFit turns a wished number of prompt tokens into a number of words for
// one target, model, dialect and cache mode. Its points are shared by all
// prompts there. The zero value guesses.
type sizeFit struct {
	points []sizePoint
}

const (
	guessedRatio    = 1.3 // tokens per word, English in today's tokenizers
	guessedOverhead = 40  // chat template, nonce and tail
	// bigPrompt is where calibrating at full size gets expensive; above it
	// the size is taken from two smaller ones, whole rounds both.
	bigPrompt = 8192
	maxPoints = 64
)

// tolerance is how far a prompt of n tokens may be off: 1 % or 2 tokens.
func tolerance(n int) int { return max(2, n/100) }

// add records a measured prompt; the same words measured again replace it.
func (f *sizeFit) add(p sizePoint) {
	for i := range f.points {
		if f.points[i].words == p.words {
			f.points[i] = p
			return
		}
	}
	if len(f.points) == maxPoints {
		f.points = append(f.points[:0], f.points[1:]...)
	}
	f.points = append(f.points, p)
}

// ratio is tokens per word: the slope between the smallest and the largest
// point, since the overhead of the template drops out there.
func (f *sizeFit) ratio() float64 {
	if len(f.points) == 0 {
		return guessedRatio
	}
	small, large := f.points[0], f.points[0]
	for _, p := range f.points {
		if p.words < small.words {
			small = p
		}
		if p.words > large.words {
			large = p
		}
	}
	ratio := float64(large.tokens-guessedOverhead) / float64(max(1, large.words))
	if large.words-small.words >= 100 {
		ratio = float64(large.tokens-small.tokens) / float64(large.words-small.words)
	}
	return min(max(ratio, 0.25), 20) // a server that counts something else must not blow up the prompt
}

// nearest is the point whose tokens are closest to n.
func (f *sizeFit) nearest(n int) (sizePoint, bool) {
	best := sizePoint{words: 0, tokens: guessedOverhead}
	for i, p := range f.points {
		if i == 0 || abs(p.tokens-n) < abs(best.tokens-n) {
			best = p
		}
	}
	return best, len(f.points) > 0
}

// words is the best known number of words for n tokens, at least 1.
func (f *sizeFit) words(n int) int {
	p, _ := f.nearest(n)
	return max(1, p.words+int(math.Round(float64(n-p.tokens)/f.ratio())))
}

// next says which number of words to measure for a prompt of n tokens; done
// when nothing more needs to be known.
func (f *sizeFit) next(n int) (words int, done bool) {
	if p, ok := f.nearest(n); ok && abs(p.tokens-n) <= tolerance(n)/2 {
		return p.words, true
	}
	if n <= bigPrompt {
		return f.words(n), false
	}
	for _, rounds := range []int{1, 6} {
		if w := rounds * roundWords(); !f.has(w) {
			return w, false
		}
	}
	return f.words(n), true
}

func (f *sizeFit) has(words int) bool {
	for _, p := range f.points {
		if p.words == words {
			return true
		}
	}
	return false
}

func abs(n int) int { return max(n, -n) }
