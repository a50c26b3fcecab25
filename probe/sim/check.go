package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Check says all that is wrong with c, one error a line, each with the mend.
// New takes what it can of a Config that was not checked.
func (c Config) Check() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	served := c.models()
	for i, m := range served {
		if m == "" || slices.Contains(served[:i], m) {
			add("model %q: give each model a name of its own", m)
		}
	}
	named := slices.Concat(slices.Collect(maps.Keys(c.Engines)), slices.Collect(maps.Keys(c.Answers)))
	slices.Sort(named)
	for _, m := range slices.Compact(named) {
		if !slices.Contains(served, m) {
			add("model %q has settings but is not served: the models are %q", m, served)
		}
	}
	for _, m := range served {
		errs = append(errs, c.engine(m).check(m), c.answer(m).check(m))
	}
	if q := c.Quota; q.RPM < 0 || q.TPM < 0 || q.Concurrency < 0 {
		add("quota %+v: limits are 0 (none) or more", q)
	}
	if c.PathPrefix != "" && c.PathPrefix[0] != '/' {
		add("path prefix %q: begin it with a slash", c.PathPrefix)
	}
	for i, f := range c.Faults {
		if err := f.Check(); err != nil {
			add("fault %d: %w", i+1, err)
		}
	}
	return errors.Join(errs...)
}

func (e Engine) check(model string) error {
	switch {
	case !(e.PrefillRate > 0):
		return fmt.Errorf("%s: prefill rate %v tokens/s: must be above 0", model, e.PrefillRate)
	case e.Decode < 0 || e.DecodeSlope < 0 || e.FixedTTFT < 0 || e.FixedTPOT < 0:
		return fmt.Errorf("%s: a time is negative: decode %v, slope %v, fixed TTFT %v, fixed TPOT %v", model, e.Decode, e.DecodeSlope, e.FixedTTFT, e.FixedTPOT)
	case e.FixedTPOT > 0 && e.FixedTTFT == 0:
		return fmt.Errorf("%s: a fixed TPOT of %v needs a fixed TTFT, too", model, e.FixedTPOT)
	case e.Slots < 1 || e.MaxModelLen < 2 || e.KVTokens < 1 || e.BatchTokens < 1:
		return fmt.Errorf("%s: %d slots, %d tokens a model, %d a KV cache, %d a batch: must be above 0", model, e.Slots, e.MaxModelLen, e.KVTokens, e.BatchTokens)
	case e.QueueLimit < -1:
		return fmt.Errorf("%s: queue limit %d: must be -1 (no queue), 0 (no limit) or more", model, e.QueueLimit)
	case !(e.Jitter >= 0 && e.Jitter <= 2):
		return fmt.Errorf("%s: jitter σ %v: must be between 0 and 2", model, e.Jitter)
	}
	return nil
}

func (a Answer) check(model string) error {
	if a.Tokens < 1 || a.Reasoning < 0 || !(a.Spread >= 0 && a.Spread < 1) {
		return fmt.Errorf("%s: an answer of %d tokens, spread %v, %d of reasoning: must be at least 1, in [0, 1) and at least 0", model, a.Tokens, a.Spread, a.Reasoning)
	}
	return nil
}
