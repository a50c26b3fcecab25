package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// OpenAll opens n kept connections at once, those that are idle already
// included. Each is held until all have answered: one that was free sooner
// would be taken for the next, and there would be fewer than n in the end. The
// first error is returned; the other connections stay.
func (e *Endpoint) OpenAll(ctx context.Context, n int) error {
	e.inFlight.Add(1)
	defer e.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all, answered sync.WaitGroup
	var once sync.Once
	var first error
	answered.Add(n)
	for range n {
		all.Go(func() {
			body, err := e.hold(ctx)
			answered.Done()
			if err != nil {
				once.Do(func() { first = err })
				return
			}
			answered.Wait()
			_, _ = io.Copy(io.Discard, io.LimitReader(body, maxAside))
			_ = body.Close()
		})
	}
	all.Wait()
	return first
}

// hold asks for the list of models and returns the answer unread, so that its
// connection is not free yet.
func (e *Endpoint) hold(ctx context.Context) (io.ReadCloser, error) {
	x, header, err := e.aside(ctx)
	if err != nil {
		return nil, err
	}
	ctx, _ = tiedContext(ctx) // ends with that of the caller
	resp, err := e.kept.RoundTrip(getRequest(ctx, e.base.JoinPath("/v1/models"), header))
	if err != nil {
		return nil, x.creds.cleaned(err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the bare connection, which no context ends
		_ = resp.Body.Close()
		return nil, errors.New("status 101 Switching Protocols to GET /v1/models")
	}
	return resp.Body, nil
}
