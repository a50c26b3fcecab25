package probe

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// setupTime is the most that one TLS handshake may take where nobody waits for
// it any more: a dial that lost the race against a kept connection.
const setupTime = time.Minute

// setup ties a connection that is being made to the request it is made for.
// net/http lets it go on when its request has ended, without any limit on the
// TLS handshake: a server that accepts and says nothing would cost a descriptor
// and two goroutines for every probe, for ever, and a name lookup that hangs
// would be shared with the probes after it.
type setup struct {
	ctx   context.Context // ends with the request
	ready atomic.Bool     // the connection is there: it may outlive the request
}

type setupKey struct{}

// withSetup returns ctx with a setup for connections that are made for it.
func withSetup(ctx context.Context) (context.Context, *setup) {
	s := &setup{ctx: ctx}
	return context.WithValue(ctx, setupKey{}, s), s
}

// tiedContext is for a request without a timeline. A connection that is not
// there yet ends with it.
func tiedContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	ctx, s := withSetup(ctx)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { s.ready.Store(true) },
	}), cancel
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// tied ends a dial, or the handshakes after it, with the request.
func tied(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		s, ok := ctx.Value(setupKey{}).(*setup)
		if !ok {
			return dial(ctx, network, addr)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(s.ctx, cancel)
		conn, err := dial(ctx, network, addr)
		stop()
		if err == nil {
			context.AfterFunc(s.ctx, func() {
				if !s.ready.Load() {
					conn.Close()
				}
			})
		}
		return conn, err
	}
}
