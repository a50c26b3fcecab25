package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"

	"tokprobe/probe"
)

// spec is request number k of a level. Levels ask the same prompts in the same
// order; the nonce of a busted prompt makes each request new.
func (s *sweep) spec(k int) probe.Spec {
	return probe.Spec{
		ID:       probe.ID{Target: s.plan.Target, Model: s.plan.Model, Probe: "sweep"},
		Protocol: s.plan.Protocol,
		Prompt:   s.plan.Prompts[s.order[k%len(s.order)]],
		Limits:   s.plan.limits(),
		Reuse:    true,
	}
}

// shuffled is 0 … n−1 in an order that seed decides.
func shuffled(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, 0x5eed0fda7a)).Perm(n)
}

// promptsHash identifies what is asked: the hash of the prompt, or one over
// those of all prompts, whatever their order.
func promptsHash(prompts []probe.Prompt) string {
	if len(prompts) == 1 {
		return prompts[0].Hash()
	}
	var sum [sha256.Size]byte
	for _, p := range prompts {
		for i, b := range sha256.Sum256([]byte(p.Hash())) {
			sum[i] ^= b
		}
	}
	return hex.EncodeToString(sum[:8])
}
