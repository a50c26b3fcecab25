package probe

import (
	"context"
	"errors"
	"io"
	"time"

	"tokprobe/probe/wire"
)

const (
	drainTime = 50 * time.Millisecond // after the answer, so that a connection can be kept
	// minStale is how soon after the write a kept connection has to die to
	// count as one that the server had given up.
	minStale = 250 * time.Millisecond
)

// attempt is one request over one connection.
type attempt struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	begin  time.Time
	line   timeline
	dog    *watchdog
}

// newAttempt starts the connect limit.
func (x *exchange) newAttempt() *attempt {
	a := &attempt{begin: time.Now()}
	a.ctx, a.cancel = context.WithCancelCause(x.parent)
	a.dog = newWatchdog(x.spec.Limits, a.begin, a.cancel)
	x.tried = a
	return a
}

// end stops the limits and lets go of the connection.
func (a *attempt) end() {
	a.dog.stop()
	a.cancel(nil)
}

// reason prefers the limit that ended the attempt over the error that made
// somewhere below. What the answer itself says stands: it came first.
func (a *attempt) reason(err error) error {
	var (
		limit  *limitError
		object *wire.ErrorObject
		format *wire.FormatError
	)
	if errors.As(err, &object) || errors.As(err, &format) {
		return err
	}
	if errors.As(context.Cause(a.ctx), &limit) {
		return limit
	}
	return err
}

// stale says whether the attempt died on a kept connection that the server had
// given up: before any byte of a response, and so soon after the write that it
// was no slow answer.
func (x *exchange) stale(a *attempt, err error) bool {
	m := a.line.moments()
	if !m.reused || !m.firstByte.IsZero() || a.ctx.Err() != nil {
		return false
	}
	if _, ok := asStream(err); ok { // the connection lives, only our request was refused
		return false
	}
	wrote := m.wrote
	if wrote.IsZero() {
		wrote = m.t0
	}
	return time.Since(wrote) <= max(minStale, 3*time.Duration(x.e.lastConnect.Load()))
}

// timing writes the phases around t0.
func (x *exchange) timing(a *attempt, m moments) {
	if m.connect.OK {
		x.e.lastConnect.Store(int64(m.connect.V))
	}
	p := &x.r.Phases
	p.DNS, p.Connect, p.TLS, p.Auth = m.dns, m.connect, m.tls, x.creds.spent
	if m.t0.IsZero() {
		return
	}
	x.r.Reused = m.reused
	setup := m.t0.Sub(a.begin)
	if x.r.StaleConnections > 0 {
		setup += x.creds.spent.V // was part of the first attempt's setup
	}
	x.r.Setup = Some(setup)
	if m.wrote.IsZero() {
		return
	}
	p.Send = Some(m.wrote.Sub(m.t0))
	if !m.firstByte.IsZero() {
		// A refusal may come before the request is fully written.
		p.Headers = Some(max(m.firstByte.Sub(m.wrote), 0))
	}
}

// drain reads what follows the answer, usually just the end of the chunked
// body, without which the connection cannot be used again. It is off the clock.
func drain(a *attempt, body io.Reader) {
	patience := time.AfterFunc(drainTime, func() { a.cancel(nil) })
	defer patience.Stop()
	_, _ = io.Copy(io.Discard, body)
}
