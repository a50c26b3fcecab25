package probe

import (
	"context"
	"fmt"
	"time"

	"tokprobe/probe/wire"
)

const (
	maxCalibrations = 6  // requests of one Calibrate
	maxSizings      = 3  // … of which for the size of a prompt
	exactTokens     = 32 // output of the request that tries the parameters
	sizingTokens    = 8  // output of a request that only counts the prompt
	calibrationTime = 2 * time.Minute
)

// shortAnswer is a question whose natural answer is far below exactTokens, so
// that an answer of just that many shows that the length was obeyed.
const shortAnswer = "Reply with the single word: ok"

// calibration is one running Calibrate.
type calibration struct {
	store  *learnedStore
	vendor string
	spec   Spec
	send   func(context.Context, Spec) Result
	params bool // learn the parameters
	size   bool // learn the size of the generated prompt
	cost   Calibration
}

// calibrate learns what spec needs and is not known, one at a time per model.
// Others who need the same wait and find it known.
func (s *learnedStore) calibrate(ctx context.Context, vendor string, spec Spec, send func(context.Context, Spec) Result) Calibration {
	for {
		c, busy := s.claim(vendor, spec)
		if busy != nil {
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return Calibration{Err: ctx.Err()}
			}
		}
		if c == nil {
			return Calibration{}
		}
		c.send = send
		c.run(ctx)
		return c.cost
	}
}

// claim returns the calibration to be done now, or the end of the one that is
// running, or neither if there is nothing to learn.
func (s *learnedStore) claim(vendor string, spec Spec) (*calibration, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.model(spec.Model)
	c := &calibration{store: s, vendor: vendor, spec: spec}
	now := time.Now()
	due := func(last time.Time) bool { return last.IsZero() || now.Sub(last) >= relearnAfter }

	if spec.protocol() != protocolAnthropic { // there all we send is part of the protocol
		unknown := !l.known || spec.exactLength(vendor, l.refused) != 0 && !l.exactAsked
		again := l.relearn && due(l.relearned)
		c.params = again || unknown && due(l.tried)
		if c.params && again && l.busy == nil {
			l.relearned, l.relearn = now, false
		}
	}
	if n := spec.Prompt.InputTokens; n > 0 {
		z := l.size(spec.sizeKey())
		_, solved := z.solved[n]
		c.size = !solved && !z.unreported && due(z.tried[n])
	}
	if !c.params && !c.size {
		return nil, nil
	}
	if l.busy != nil {
		return nil, l.busy
	}
	l.busy = make(chan struct{})
	return c, nil
}

// run does the requests and lets the next one in.
func (c *calibration) run(ctx context.Context) {
	defer func() {
		c.store.mu.Lock()
		defer c.store.mu.Unlock()
		l := c.store.model(c.spec.Model)
		close(l.busy)
		l.busy = nil
	}()
	if c.params {
		c.cost.Err = c.learnParams(ctx)
	}
	if c.size && c.cost.Err == nil {
		c.cost.Err = c.learnSize(ctx)
	}
}

// ask sends one calibration request, bounded like the spec's own requests.
func (c *calibration) ask(ctx context.Context, spec Spec) Result {
	if spec.Limits.Total == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, calibrationTime)
		defer cancel()
	}
	c.cost.Requests++
	r := c.send(ctx, spec)
	c.cost.InputTokens += r.PromptTokens.V
	c.cost.OutputTokens += r.OutputTokens.V
	return r
}

// learnParams asks until a request is accepted, leaving out or renaming what
// the refusals name, and keeps the set of parameters that was accepted.
func (c *calibration) learnParams(ctx context.Context) error {
	l, refused := c.start()
	spec := c.spec
	spec.Prompt = Prompt{
		Name:        c.spec.Prompt.Name,
		Messages:    []wire.Message{{Role: "user", Content: shortAnswer}},
		MaxTokens:   exactTokens,
		Cache:       c.spec.Prompt.Cache,
		ForceLength: c.spec.Prompt.ForceLength,
		Params:      withBound(c.spec.Prompt.Params, exactTokens),
		Expect:      Expect{FinishReason: c.spec.Prompt.Expect.FinishReason},
	}
	spec.KeepText = true
	var toggled params
	for c.cost.Requests < maxCalibrations {
		spec.trial = &trial{refused: refused}
		c.forget(l)
		r := c.ask(ctx, spec)
		if accepted(r) {
			c.keep(l, refused, spec, r)
			return nil
		}
		named := c.named(l, r) &^ toggled & c.sent(spec, refused)
		if named == 0 {
			return c.failed(ctx, l, r)
		}
		toggled |= named
		refused ^= named
	}
	return c.failed(ctx, l, Result{Outcome: BadRequest, Err: "every combination of parameters was refused"})
}

func (c *calibration) start() (*learned, params) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	l := c.store.model(c.spec.Model)
	return l, l.refused
}

// forget clears what earlier refusals named.
func (c *calibration) forget(l *learned) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	l.named, l.relearn = 0, false
}

// named returns what the refusal r names. The error object of its body came by
// noteBadRequest; the text of the error is the fallback for bodies that hold
// no error object, such as FastAPI's {"detail": [{"loc": ["body", …]}]}.
func (c *calibration) named(l *learned, r Result) params {
	if r.Outcome != BadRequest {
		return 0
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	named := l.named
	l.named, l.relearn = 0, false
	if named == 0 {
		named = namedIn(r.Err)
	}
	return named
}

// sent returns the parameters that can be toggled: those that were sent, and
// the name of the bound, which only openai-chat has two of.
func (c *calibration) sent(spec Spec, refused params) params {
	sent := spec.exactLength(c.vendor, refused) | paramStreamOptions&^refused
	if _, fromParams := spec.Prompt.bound(); spec.protocol() == protocolChat && !fromParams {
		sent |= paramBound
	}
	return sent
}

// accepted says whether the endpoint took the request's parameters, whatever
// it made of the question.
func accepted(r Result) bool {
	switch r.Outcome {
	case OK, Empty, Short, Assertion, ContentFilter:
		return true
	}
	return false
}

func (c *calibration) keep(l *learned, refused params, spec Spec, r Result) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	l.known, l.refused, l.relearn, l.tried = true, refused, false, time.Time{}
	if spec.exactLength(c.vendor, refused) != 0 {
		l.exactAsked, l.exact = true, obeyed(r)
	}
}

// obeyed says whether a short answer was stretched to exactly the asked length.
// Thinking proves nothing: it is longer than that by itself.
func obeyed(r Result) bool {
	return r.OutputTokensSource == "usage" && r.OutputTokens.V == exactTokens &&
		r.FinishReason == "length" && r.FirstContent.OK &&
		r.ReasoningText == "" && r.ReasoningTokens.V == 0
}

// failed notes a calibration of parameters that taught nothing. What was known
// before stays.
func (c *calibration) failed(ctx context.Context, l *learned, r Result) error {
	if r.Cut || ctx.Err() != nil {
		return fmt.Errorf("calibration: %w", context.Cause(ctx))
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	l.tried = time.Now()
	return fmt.Errorf("calibration: %s: %s", r.Outcome, r.Err)
}
