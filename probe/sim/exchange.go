package sim

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxBody bounds a request's body: prompts of a million tokens fit.
const maxBody = 16 << 20

// exchange is one completion request and its answer.
type exchange struct {
	s   *Server
	d   *dialect
	n   uint64 // number of the request, from 1
	w   http.ResponseWriter
	ctx context.Context
	rec Record

	model *model
	req   request
	fate  fate
	plan  plan
	seq   *sequence // nil unless admitted

	settled bool
}

var (
	errLeft   = errors.New("client left")
	errClosed = errors.New("server closed")
)

// run answers the request. It returns how the connection is to be cut: "",
// "truncate" or "reset".
func (x *exchange) run(r *http.Request) (cut string) {
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, r.Body, maxBody))
	if err != nil {
		x.refuse(badRequest("", "The body could not be read: %v", err))
		return ""
	}
	if e := x.accept(r, raw); e != nil {
		x.refuse(e)
		return ""
	}
	if x.fate.Hang {
		x.rec.Outcome = "timeout_first_token"
		return x.broken(x.silence())
	}
	if x.fate.class.status != 0 {
		x.canned()
		return ""
	}
	if e := x.admit(); e != nil {
		x.refuse(e)
		return ""
	}
	if !x.req.stream || x.fate.class.Name == "json_200" {
		return x.whole()
	}
	return x.stream()
}

// accept checks key, body and model, and draws the fate.
func (x *exchange) accept(r *http.Request, raw []byte) *apiError {
	if !x.s.authorized(r) {
		return wrongKey()
	}
	req, e := parseRequest(x.d, raw, x.s.cfg.Refuse)
	x.req = req
	x.rec.Stream = req.stream
	m, ok := x.s.models[req.model]
	if req.model != "" && !ok {
		return unknownModel(req.model)
	}
	if ok {
		x.model, x.rec.Model = m, req.model
	}
	if e != nil {
		return e
	}
	x.rec.PromptTokens = req.prompt.tokens()
	x.fate = x.s.faultsFor(req.model).draw(x.s.cfg.Seed, x.n)
	if limit := m.engine.MaxModelLen; x.rec.PromptTokens+max(1, req.bound) > limit {
		return badRequest("", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion).",
			limit, x.rec.PromptTokens+max(1, req.bound), x.rec.PromptTokens, req.bound)
	}
	return nil
}

// admit plans the answer and passes quota and queue.
func (x *exchange) admit() *apiError {
	x.plan = x.model.plan(x.req, x.rec.PromptTokens, x.s.cfg.Seed^x.n)
	if x.d.name == "openai-completions" && !x.plan.hidden {
		x.plan.reasoning = 0 // it has no place for thoughts: they are text
	}
	h, e := x.model.quota.take(x.req.model, x.rec.PromptTokens+x.plan.total, x.rec.Arrival)
	if e != nil {
		return e
	}
	for k, v := range h {
		x.w.Header()[k] = v
	}
	x.seq = &sequence{prompt: x.rec.PromptTokens, output: x.plan.total, blocks: x.req.prompt.blocks}
	if !x.model.engine.submit(x.seq, x.rec.Arrival) {
		x.seq = nil
		x.model.quota.done()
		return queueFull()
	}
	return nil
}

// settle closes the record and gives back what admit took, once. It comes
// before the last write of an answer: a client that has read the end finds its
// record, and its next request meets no quota that it still fills itself.
func (x *exchange) settle() {
	if x.settled {
		return
	}
	x.settled = true
	if x.seq != nil {
		x.model.engine.leave(x.seq)
		x.model.quota.done()
		started, made, cached := x.model.engine.times(x.seq)
		x.rec.PrefillStart, x.rec.CachedTokens = started, cached
		x.rec.ReasoningTokens = min(x.rec.Tokens, x.plan.reasoning)
		x.model.stats.ended(&x.rec, made)
	}
	x.rec.End = time.Now()
	x.s.truth.end(x.rec)
}

// silence waits until the client leaves or the server closes.
func (x *exchange) silence() error {
	select {
	case <-x.ctx.Done():
		return errLeft
	case <-x.s.done:
		return errClosed
	}
}

// broken records an answer that did not come to its end, and says how to cut
// the connection.
func (x *exchange) broken(err error) (cut string) {
	x.rec.Cancelled = err == errLeft
	if err == errClosed {
		x.rec.Outcome = "truncated"
		return "truncate"
	}
	if x.rec.Outcome == "" {
		x.rec.Outcome = "cancelled"
	}
	return ""
}

func (x *exchange) head() head {
	style := x.s.cfg.Style
	return head{
		id: x.rec.ID, model: x.req.model, created: x.rec.Arrival.Unix(), style: style, usage: x.req.usage,
		every: style.Usage == UsageEveryEvent || x.req.every && style.Usage != UsageNever,
	}
}

// usage is the bill after so many tokens.
func (x *exchange) usage(tokens int) usage {
	u := usage{prompt: x.rec.PromptTokens, output: tokens, reasoning: min(tokens, x.plan.reasoning)}
	if x.model.engine.PrefixCache {
		_, _, u.cached = x.model.engine.times(x.seq)
		u.caching = true
	}
	return u
}
