package probe

import (
	"context"
	"fmt"
	"time"
)

// learnSize finds the number of bytes that make the wished number of tokens.
func (c *calibration) learnSize(ctx context.Context) error {
	n := c.spec.Prompt.InputTokens
	spec := c.spec
	spec.Prompt.MaxTokens = sizingTokens
	spec.Prompt.Expect = Expect{}
	spec.Prompt.Params = withBound(c.spec.Prompt.Params, sizingTokens)
	delete(spec.Prompt.Params, "thinking") // its budget has to be below the bound
	for range min(maxSizings, maxCalibrations-c.cost.Requests) {
		size, done := c.nextSize(n)
		if done {
			break
		}
		_, refused := c.start()
		spec.trial = &trial{refused: refused, size: size}
		r := c.ask(ctx, spec)
		if !accepted(r) {
			return c.sizeFailed(ctx, n, r)
		}
		c.measured(size, r)
	}
	c.solve(n)
	return nil
}

func (c *calibration) sizes() *sizes {
	return c.store.model(c.spec.Model).size(c.spec.sizeKey())
}

func (c *calibration) nextSize(n int) (size int, done bool) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	z := c.sizes()
	if z.unreported {
		return 0, true
	}
	return z.next(n)
}

func (c *calibration) measured(size int, r Result) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	z := c.sizes()
	if tokens, ok := r.PromptTokens.Get(); ok {
		z.add(sizePoint{size, int(tokens)})
		return
	}
	z.unreported = true
}

func (c *calibration) solve(n int) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if z := c.sizes(); !z.unreported {
		z.solved[n] = z.size(n)
		if size, done := z.next(n); done {
			z.solved[n] = size
		}
	}
}

func (c *calibration) sizeFailed(ctx context.Context, n int, r Result) error {
	if r.Cut || ctx.Err() != nil {
		return fmt.Errorf("calibration: %w", context.Cause(ctx))
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.sizes().tried[n] = time.Now()
	return fmt.Errorf("calibration of input_tokens %d: %s: %s", n, r.Outcome, r.Err)
}
