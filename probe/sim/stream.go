package sim

import (
	"net/http"
	"time"
)

// resetDelay lets the client read what was sent before a reset discards it.
const resetDelay = 50 * time.Millisecond

// stream answers with events. It returns how to cut the connection.
func (x *exchange) stream() (cut string) {
	o := x.newOutput()
	defer o.close()
	if x.fate.SlowHeaders > 0 {
		if err := x.sleep(x.fate.SlowHeaders); err != nil {
			return x.broken(err)
		}
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	x.rec.Status = http.StatusOK
	o.buf = o.frame.open(o.buf[:0], x.usage(0))
	if err := o.send(); err != nil {
		return x.broken(err)
	}
	return o.tokens()
}

// tokens sends the answer event by event, and its end.
func (o *output) tokens() (cut string) {
	x, p := o.x, o.x.plan
	for from := 0; from < p.total; {
		if done, cut := o.strike(from); done {
			return cut
		}
		to := o.chunkEnd(from)
		if err := x.await(to-1, o); err != nil {
			return x.broken(err)
		}
		if thinking := from < p.reasoning; !thinking || !p.hidden {
			o.word = words(o.word[:0], p.offset, from, to)
			o.buf = o.frame.delta(o.buf[:0], o.word, thinking, o.usage(to))
			x.wrote(to - from)
			if err := o.send(); err != nil {
				return x.broken(err)
			}
		}
		x.rec.Tokens = to
		from = to
	}
	if done, cut := o.strike(p.total); done {
		return cut
	}
	return o.finish(p.finish, "ok")
}

// chunkEnd returns where the event that starts with token from ends: it holds
// no thinking beside text, and stops short of the next fault.
func (o *output) chunkEnd(from int) int {
	x := o.x
	to := min(from+max(1, x.s.cfg.Style.TokensPerChunk), x.plan.total)
	for _, border := range []int{x.plan.reasoning, x.fate.failAt, x.fate.stallAt, x.fate.cutAt} {
		if from < border && border < to {
			to = border
		}
	}
	return to
}

// strike lets the faults act that are due after so many tokens.
func (o *output) strike(tokens int) (done bool, cut string) {
	x := o.x
	switch {
	case tokens >= x.fate.failAt:
		if tokens == 0 { // as late as a first token would be
			if err := x.await(0, o); err != nil {
				return true, x.broken(err)
			}
		}
		o.fail()
		return true, ""
	case tokens >= x.fate.stallAt:
		x.rec.Outcome = "stall"
		if tokens == 0 {
			x.rec.Outcome = "timeout_first_token"
		}
		x.model.engine.leave(x.seq)
		return true, x.broken(x.await(never-1, o))
	case tokens >= x.fate.cutAt:
		x.rec.Outcome = "truncated"
		if x.fate.Cut == "reset" {
			x.rec.Outcome = "reset"
		}
		o.buf = o.buf[:0]
		o.end() //nolint:errcheck // the connection is cut next
		if x.fate.Cut == "reset" {
			x.sleep(resetDelay) //nolint:errcheck // cut in any case
		}
		return true, x.fate.Cut
	}
	return false, ""
}

// fail ends the stream as the class of failure says.
func (o *output) fail() {
	x := o.x
	c := x.fate.class
	x.rec.Outcome = c.Outcome
	switch c.Name {
	case "bad_json":
		o.buf = append(o.buf[:0], "data: {\"id\":\"half of an ob\n\ndata: [DONE]\n\n"...)
		o.end() //nolint:errcheck // the answer is over either way
	case "stream_error":
		o.buf = o.frame.fail(o.buf[:0], apiError{status: 500, kind: "InternalServerError", message: "Fault stream_error is switched on."})
		o.end() //nolint:errcheck
	case "content_filter":
		o.finish("content_filter", c.Outcome)
	case "empty":
		o.finish("stop", c.Outcome)
	}
}

// finish sends what follows the last token.
func (o *output) finish(reason, outcome string) (cut string) {
	x := o.x
	x.rec.FinishReason = reason
	if x.rec.Outcome == "" {
		x.rec.Outcome = outcome
	}
	if outcome == "ok" && x.rec.StreamedTokens == 0 {
		x.rec.Outcome = "empty"
	}
	o.buf = o.frame.close(o.buf[:0], reason, x.usage(x.rec.Tokens))
	o.end() //nolint:errcheck // the answer is over either way
	return ""
}

// wrote stamps a token event. The stamp is taken before the write: no client
// can have read the token earlier.
func (x *exchange) wrote(tokens int) {
	x.rec.StreamedTokens += tokens
	if !x.fate.Coalesce { // else nothing leaves before the end, see end
		x.stamp(time.Now())
	}
}

func (x *exchange) stamp(now time.Time) {
	if x.rec.FirstToken.IsZero() {
		x.rec.FirstToken = now
	}
	x.rec.LastToken = now
	if x.s.cfg.TokenTimes {
		x.rec.TokenTimes = append(x.rec.TokenTimes, now.Sub(x.rec.Arrival))
	}
}

// sleep waits, unless the client or the server goes away meanwhile.
func (x *exchange) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-x.ctx.Done():
		return errLeft
	case <-x.s.done:
		return errClosed
	}
}
