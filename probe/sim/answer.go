package sim

import "math/rand/v2"

// plan is the answer that will be given if nothing goes wrong.
type plan struct {
	reasoning int // tokens of thinking, the first ones
	hidden    bool
	total     int
	finish    string
	offset    uint64 // where in the vocabulary it starts
}

// plan decides what the model will say.
func (m *model) plan(q request, prompt int, seed uint64) plan {
	rng := rand.New(rand.NewPCG(seed, 0xa115))
	natural := float64(m.answer.Tokens) * (1 + m.answer.Spread*(2*rng.Float64()-1))
	p := plan{reasoning: m.answer.Reasoning, hidden: m.answer.Hidden, finish: "stop", offset: rng.Uint64N(1 << 16)}
	p.total = p.reasoning + max(1, int(natural+0.5))
	bound := q.bound
	if room := m.engine.MaxModelLen - prompt; bound == 0 || bound > room {
		bound = room
	}
	if m.answer.IgnoreEOS {
		p.total = max(p.total, q.min)
		if q.ignoreEOS {
			p.total = bound
		}
	}
	if p.total >= bound {
		p.total, p.finish = bound, "length"
	}
	p.reasoning = min(p.reasoning, p.total)
	return p
}
