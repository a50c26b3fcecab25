package probe

import "math"

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
	return min(max(ratio, 0.1), 20) // a server that counts something else must not blow up the prompt
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

// words is the best known number of words for n tokens, at least 1: between
// two points close around n if there are such, else from the nearest by the
// ratio.
func (f *sizeFit) words(n int) int {
	at, _ := f.nearest(n)
	ratio := f.ratio()
	below, above := sizePoint{tokens: math.MinInt}, sizePoint{tokens: math.MaxInt}
	for _, p := range f.points {
		if p.tokens <= n && p.tokens > below.tokens {
			below = p
		}
		if p.tokens > n && p.tokens < above.tokens {
			above = p
		}
	}
	around := below.tokens != math.MinInt && above.tokens != math.MaxInt
	if gap := above.words - below.words; around && gap > 0 && gap < roundWords() {
		ratio = float64(above.tokens-below.tokens) / float64(gap)
	}
	return max(1, at.words+int(math.Round(float64(n-at.tokens)/ratio)))
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
