package sim

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// pipeListener accepts the server ends of in-memory connections.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return memoryAddr("sim") }

// DialContext opens an in-memory connection to the server, whatever the
// address, for clients that bring their own http.Transport: real HTTP/1.1 with
// real keep-alive, but no socket, so it works in synctest bubbles. A closed
// server refuses. A write blocks until the client reads it.
func (s *Server) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: memoryAddr(addr), Err: syscall.ECONNREFUSED}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, refused
	}
	if s.pipes == nil {
		s.pipes = &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		s.handlers.Go(func() {
			s.Serve(context.Background(), s.pipes) //nolint:errcheck // it ends with Close
		})
	}
	l := s.pipes
	s.mu.Unlock()
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, refused
	}
}
