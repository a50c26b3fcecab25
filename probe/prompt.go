package probe

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"tokprobe/probe/wire"
)

// Hash identifies what a prompt sends: 16 hex digits over everything that
// shapes the request, defaults filled in, but neither the name nor the nonce
// nor what is expected of the answer. Equal hashes mean comparable latencies.
func (p Prompt) Hash() string {
	params, err := json.Marshal(p.Params) // map keys come out sorted
	if err != nil {
		params = fmt.Append(nil, p.Params) // a value JSON cannot hold; fmt sorts the keys too
	}
	shape, err := json.Marshal(struct {
		Messages    []wire.Message
		InputTokens int
		Generator   int
		MaxTokens   int
		Cache       CacheMode
		ForceLength bool
		Params      string
	}{p.Messages, p.InputTokens, generatorVersion, p.maxTokens(), p.cache(), p.ForceLength, string(params)})
	if err != nil {
		shape = params // cannot happen: the struct holds strings and numbers only
	}
	sum := sha256.Sum256(shape)
	return hex.EncodeToString(sum[:8])
}

func (p Prompt) maxTokens() int {
	if p.MaxTokens > 0 {
		return p.MaxTokens
	}
	return DefaultMaxTokens
}

func (p Prompt) cache() CacheMode {
	if p.Cache == "" {
		return CacheBust
	}
	return p.Cache
}

// boundNames are the names of the output bound. Where a prompt's params hold
// one of them, that is the bound and we send no second one beside it.
var boundNames = []string{"max_tokens", "max_completion_tokens"}

// bound returns the number of output tokens the request will allow, and
// whether it comes from the params.
func (p Prompt) bound() (n int, fromParams bool) {
	for _, name := range boundNames {
		v, ok := p.Params[name]
		if !ok {
			continue
		}
		switch v := v.(type) {
		case int:
			return v, true
		case int64:
			return int(v), true
		case float64:
			return int(v), true
		}
		return 0, true
	}
	return p.maxTokens(), false
}

// busted returns messages with a fresh nonce before the first text, without
// touching the caller's slice. It must come first: a server caches a prefix,
// so a nonce at the end would leave everything before it cached.
func busted(messages []wire.Message) []wire.Message {
	fresh := slices.Clone(messages)
	fresh[0].Content = nextNonce() + "\n" + fresh[0].Content
	return fresh
}

const (
	nonceSpace = 1_000_000_000_000 // 12 decimal digits
	// nonceStep has no factor 2 or 5, so adding it again and again passes
	// every one of the 10^12 numbers before one repeats. It is the golden
	// ratio's share of the space: two neighbours differ by 0.618 or 0.382 of
	// it, hence in the first digit, and any 1,000 in a row differ within the
	// first 4 digits. 012345678901 is followed by 630379667650.
	nonceStep = 618_033_988_749
)

// The nonce is the one thing all endpoints of a process share: two targets may
// be the same server behind two names, and there a repeated nonce would be a
// cache hit. The start is random, so restarts do not repeat each other.
var (
	nonceStart = sync.OnceValue(randomStart)
	nonceCount atomic.Uint64
)

func randomStart() uint64 {
	var seed [8]byte
	rand.Read(seed[:]) // never fails since Go 1.24
	return binary.LittleEndian.Uint64(seed[:]) % nonceSpace
}

// nextNonce returns 12 decimal digits, always 12, so that the prompt's length
// does not change with them.
func nextNonce() string {
	return nonceAt(nonceStart(), nonceCount.Add(1))
}

func nonceAt(start, count uint64) string {
	hi, lo := bits.Mul64(count%nonceSpace, nonceStep) // the product takes 80 bits
	n := (start + bits.Rem64(hi, lo, nonceSpace)) % nonceSpace
	digits := strconv.FormatUint(n+nonceSpace, 10) // 1 and the 12 digits
	return digits[1:]
}
