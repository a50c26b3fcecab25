package sim

import (
	"strings"
	"unicode"
)

// blockWords is the size of a prefix-cache block.
const blockWords = 16

// maxBlocks bounds the prefix cache; a full one starts anew.
const maxBlocks = 1 << 18

// text is a prompt as the simulator sees it.
type text struct {
	words  int
	blocks []uint64 // hash of the first 16, 32, … words
	hash   uint64
}

// add appends s. A word is a run of letters between spaces; where a script
// has no spaces, each character is one.
func (t *text) add(s string) {
	in := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			if in {
				t.endWord()
			}
			in = false
			continue
		}
		t.mix(uint64(r))
		in = true
		if r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			t.endWord()
			in = false
		}
	}
	if in {
		t.endWord()
	}
}

// mix is a step of FNV-1a.
func (t *text) mix(v uint64) {
	if t.hash == 0 {
		t.hash = 14695981039346656037
	}
	t.hash = (t.hash ^ v) * 1099511628211
}

func (t *text) endWord() {
	t.mix(' ')
	t.words++
	if t.words%blockWords == 0 {
		t.blocks = append(t.blocks, t.hash)
	}
}

// tokens is the size of the prompt: 1.3 tokens a word, rounded up, at least 1.
func (t *text) tokens() int { return max(1, tokensOf(t.words)) }

func tokensOf(words int) int { return (words*13 + 9) / 10 }

// prefixCache remembers the blocks of prompts that were prefilled.
type prefixCache struct{ seen map[uint64]struct{} }

func newPrefixCache() prefixCache { return prefixCache{map[uint64]struct{}{}} }

// match returns how many of the prompt's tokens are cached: whole blocks of
// 16 words (20 tokens, the fraction is dropped), and never the last token,
// which must be computed to continue from it.
func (c *prefixCache) match(blocks []uint64, prompt int) int {
	n := 0
	for _, b := range blocks {
		if _, ok := c.seen[b]; !ok {
			break
		}
		n++
	}
	return min(n*blockWords*13/10, prompt-1)
}

func (c *prefixCache) add(blocks []uint64) {
	if len(c.seen)+len(blocks) > maxBlocks {
		clear(c.seen)
	}
	for _, b := range blocks {
		c.seen[b] = struct{}{}
	}
}

// answerText is what answers are made of, over and over: a word and its space
// are one token. Nothing in it needs escaping in JSON.
const answerText = "Continuous batching lets a server admit new requests at every step, so short answers leave early and " +
	"the batch stays full. Prefill reads the whole prompt at once, decode adds one token for each sequence. A larger batch " +
	"makes every step slower, but the sum of tokens grows until memory or slots run out. "

// vocabulary is answerText cut into tokens; never written to.
var vocabulary = strings.SplitAfter(strings.TrimSuffix(answerText, " ")+" ", " ")

// words appends the tokens [from, to) of an answer that starts at offset.
func words(b []byte, offset uint64, from, to int) []byte {
	n := uint64(len(vocabulary) - 1) // SplitAfter ends with an empty string
	for i := from; i < to; i++ {
		b = append(b, vocabulary[(offset+uint64(i))%n]...)
	}
	return b
}
