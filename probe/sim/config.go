package sim

import (
	"cmp"
	"time"
)

// Config describes a simulated endpoint. The zero value serves sim-fast and
// sim-large without quotas, key or faults.
type Config struct {
	// Models are the ids served; empty means sim-fast and sim-large.
	Models []string
	// Engine is how fast each model is; fields that are zero take the
	// defaults of DefaultEngine. Engines replaces it for the models it names.
	Engine  Engine
	Engines map[string]Engine
	// Answer is what each model says; Answers replaces it by model.
	Answer  Answer
	Answers map[string]Answer
	// Quota is counted per model. The zero value limits nothing.
	Quota Quota
	// Style is how streams are cut into events.
	Style Style

	// APIKey is demanded on /v1/… as Bearer or x-api-key; empty demands none.
	APIKey string
	// Refuse names top-level parameters that the OpenAI protocols answer with
	// a 400 which names them: "max_tokens" (points at max_completion_tokens),
	// "stream_options", "ignore_eos", …
	Refuse []string
	// PathPrefix stands before every path: "/api" for /api/v1/models.
	PathPrefix string
	// Seed makes jitter, faults and answer lengths repeatable.
	Seed uint64
	// Faults are on from the start; see SetFaults.
	Faults []Faults
	// RecordLimit bounds the ring of Records; 0 means 4096. Stats count all.
	RecordLimit int
	// TokenTimes keeps the time of every written token in the Record.
	TokenTimes bool
}

// Engine is the speed and size of one model.
type Engine struct {
	PrefillRate float64       // prompt tokens a second
	Decode      time.Duration // of a step, whatever its batch
	DecodeSlope time.Duration // of a step, for each sequence in its batch
	Slots       int           // sequences in the batch
	// QueueLimit is how many may wait for a slot; the next one gets a 429
	// without Retry-After. 0 means no limit, -1 no queue at all.
	QueueLimit int
	// BatchTokens bounds the tokens of one step (decode and prefill
	// together), so that long prompts are prefilled in chunks; 0 means 2048.
	BatchTokens int
	// KVTokens is the size of the KV cache. A batch that outgrows it loses
	// its youngest sequence, which is computed again later (preemption).
	// 0 means Slots × MaxModelLen: never full.
	KVTokens int
	// PrefixCache skips the prefill of leading blocks of 16 words seen before.
	PrefixCache bool
	MaxModelLen int // prompt + output; 0 means 32768
	// Jitter is the σ of a log-normal factor (median 1) on the prefill of
	// each request and on each step; in truth mode on the time to first token.
	Jitter float64

	// FixedTTFT and FixedTPOT switch the model to truth mode: the first
	// token exactly FixedTTFT after arrival and the next ones FixedTPOT
	// apart, for any load. Slots and queue do not matter then.
	FixedTTFT, FixedTPOT time.Duration
}

// Truth is the engine of benchmarks: first token after 200 ms, then 20 ms a token.
func Truth() Engine {
	return Engine{FixedTTFT: 200 * time.Millisecond, FixedTPOT: 20 * time.Millisecond}
}

// DefaultEngine is the engine of a model that has no settings: sim-large is
// slow, every other one fast.
func DefaultEngine(model string) Engine {
	if model == "sim-large" {
		return Engine{PrefillRate: 3000, Decode: 22 * time.Millisecond, DecodeSlope: 400 * time.Microsecond, Slots: 16}
	}
	return Engine{PrefillRate: 8000, Decode: 8 * time.Millisecond, DecodeSlope: 100 * time.Microsecond, Slots: 32}
}

// Answer is what a model says.
type Answer struct {
	// Tokens is the natural length of the answer (without reasoning); it
	// ends with "stop" there, or earlier with "length" at the request's
	// bound. 0 means 256.
	Tokens int
	// Spread varies Tokens by request: 0.25 means 75 % to 125 %.
	Spread float64
	// Reasoning tokens come first. They are streamed as reasoning_content
	// (Anthropic: a thinking block), or billed and not sent if Hidden.
	Reasoning int
	Hidden    bool
	// IgnoreEOS honours ignore_eos: the answer is as long as its bound.
	// min_tokens is honoured likewise.
	IgnoreEOS bool
}

// Quota is a limit by the minute (any 60 s) or on requests in flight; 0 is
// no limit. Tokens are prompt and output together, taken when the request
// is admitted.
type Quota struct {
	RPM, TPM, Concurrency int
}

// UsageStyle says which events carry usage.
type UsageStyle int

const (
	// UsageOwnEvent: an event of its own after the finish reason, if
	// stream_options.include_usage asks for it.
	UsageOwnEvent UsageStyle = iota
	// UsageInFinish: on the event with the finish reason, always.
	UsageInFinish
	// UsageEveryEvent: running totals on every event and one at the end.
	UsageEveryEvent
	// UsageNever: none.
	UsageNever
)

// Style is how a stream is cut into events. Anthropic streams have their
// role and usage where that protocol puts them.
type Style struct {
	TokensPerChunk int // 0 means 1
	NoRoleChunk    bool
	Usage          UsageStyle
	// ReasoningField is the key of streamed reasoning in chat; empty means
	// reasoning_content.
	ReasoningField string
}

// Demo is a livelier Config than the zero value: jitter and a prefix cache.
func Demo() Config {
	c := Config{Engines: map[string]Engine{}, Seed: 1}
	for _, m := range c.models() {
		e := DefaultEngine(m)
		e.Jitter, e.PrefixCache = 0.08, true
		c.Engines[m] = e
	}
	return c
}

func (c Config) models() []string {
	if len(c.Models) == 0 {
		return []string{"sim-fast", "sim-large"}
	}
	return c.Models
}

func (c Config) engine(model string) Engine {
	e, ok := c.Engines[model]
	if !ok {
		e = c.Engine
	}
	d := DefaultEngine(model)
	e.PrefillRate = cmp.Or(e.PrefillRate, d.PrefillRate)
	if e.Decode == 0 && e.DecodeSlope == 0 {
		e.Decode, e.DecodeSlope = d.Decode, d.DecodeSlope
	}
	e.Slots = cmp.Or(e.Slots, d.Slots)
	e.BatchTokens = max(cmp.Or(e.BatchTokens, 2048), e.Slots+1)
	e.MaxModelLen = cmp.Or(e.MaxModelLen, 32768)
	e.KVTokens = cmp.Or(e.KVTokens, e.Slots*e.MaxModelLen)
	return e
}

func (c Config) answer(model string) Answer {
	a, ok := c.Answers[model]
	if !ok {
		a = c.Answer
	}
	a.Tokens = cmp.Or(a.Tokens, 256)
	return a
}
