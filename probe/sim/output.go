package sim

import (
	"net/http"
	"time"
)

// output is the writing side of one stream. Its buffers and its one timer
// are reused from token to token.
type output struct {
	x         *exchange
	frame     framer
	flush     func()
	buf, word []byte
	held      []byte // with Coalesce: all that was sent so far
	keepalive *time.Timer
	every     bool // each event carries usage
}

func (x *exchange) newOutput() *output {
	h := x.head()
	o := &output{x: x, frame: x.d.frame(h), every: h.every, flush: func() {}}
	if f, ok := x.w.(http.Flusher); ok {
		o.flush = f.Flush
	}
	if x.fate.Keepalive > 0 {
		o.keepalive = time.NewTimer(x.fate.Keepalive)
	}
	return o
}

func (o *output) close() {
	if o.keepalive != nil {
		o.keepalive.Stop()
	}
}

// usage is the running total, if events carry it.
func (o *output) usage(tokens int) usage {
	if !o.every {
		return usage{}
	}
	return o.x.usage(tokens)
}

// send writes buf in one piece and flushes it, or holds it back.
func (o *output) send() error {
	if o.x.fate.Coalesce {
		o.held = append(o.held, o.buf...)
		return nil
	}
	return o.write()
}

func (o *output) write() error {
	if len(o.buf) > 0 {
		if _, err := o.x.w.Write(o.buf); err != nil {
			return errLeft
		}
	}
	o.flush()
	return nil
}

// end sends buf as the last of the answer, with all that Coalesce held back.
// The record is closed first, so that who has read the end finds it.
func (o *output) end() error {
	o.buf = append(o.held, o.buf...)
	if len(o.held) > 0 && o.x.rec.StreamedTokens > 0 {
		o.x.stamp(time.Now())
	}
	o.x.settle()
	return o.write()
}

// await waits until token i is made, sending comments meanwhile if that
// fault is on and o is given.
func (x *exchange) await(i int, o *output) error {
	q := x.seq
	if q.fixed && (o == nil || o.keepalive == nil) && i < q.output {
		return x.nap(i)
	}
	var comment <-chan time.Time
	if o != nil && o.keepalive != nil {
		comment = o.keepalive.C
		o.keepalive.Reset(x.fate.Keepalive)
	}
	for {
		due, made := q.due(i)
		if made {
			return nil
		}
		select {
		case <-q.notify:
		case <-due:
		case <-comment:
			o.buf = append(o.buf[:0], ": keep-alive\n\n"...)
			if err := o.send(); err != nil {
				return err
			}
			o.keepalive.Reset(x.fate.Keepalive)
		case <-x.ctx.Done():
			return errLeft
		case <-x.s.done:
			return errClosed
		}
	}
}

// napTime is how late a stream in truth mode may notice that its client left.
const napTime = 250 * time.Millisecond

// nap waits until token i is made in truth mode. A sleep wakes its goroutine
// without a channel and a select of three, some 4 % of what a token costs the
// simulator: with 1,000 streams on two cores that it shares with what it is
// measured by, each percent counts.
func (x *exchange) nap(i int) error {
	for {
		wait := time.Until(x.seq.at(i))
		if wait <= 0 {
			return nil
		}
		time.Sleep(min(wait, napTime))
		select {
		case <-x.ctx.Done():
			return errLeft
		case <-x.s.done:
			return errClosed
		default:
		}
	}
}
