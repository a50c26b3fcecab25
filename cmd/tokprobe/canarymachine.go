package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/sim"
	"tokprobe/probe/wire"
)

// The machine canary asks a simulator in this process, over a loopback socket,
// for an answer whose truth is known: first token after 50 ms.
const (
	canaryTTFT = 50 * time.Millisecond
	canaryTPOT = 5 * time.Millisecond
	// canaryLate is how far TTFT may be off: the bound beyond which a probe's
	// own lag makes it suspect.
	canaryLate = 50 * time.Millisecond
)

type machineCanary struct {
	sim      *sim.Server
	endpoint *probe.Endpoint
	dial     func(ctx context.Context, network, addr string) (net.Conn, error) // of the check under way
}

func newMachineCanary() (*machineCanary, error) {
	m := &machineCanary{sim: sim.New(sim.Config{
		Models: []string{"canary"}, Engine: sim.Engine{FixedTTFT: canaryTTFT, FixedTPOT: canaryTPOT}, RecordLimit: 1,
	})}
	var err error
	m.endpoint, err = probe.NewEndpoint(probe.EndpointConfig{Target: "canary", BaseURL: "http://127.0.0.1", DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		return m.dial(ctx, network, addr)
	}})
	return m, err
}

func (m *machineCanary) close() {
	m.endpoint.Close()
	m.sim.Close() //nolint:errcheck // it has none
}

// check returns by how much the measured TTFT is off the truth. The error says
// why nothing could be measured.
func (m *machineCanary) check(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*canaryLimit)
	defer m.listen(ctx)()
	defer cancel()
	return m.ask(ctx)
}

func (m *machineCanary) ask(ctx context.Context) (time.Duration, error) {
	r := m.endpoint.Probe(ctx, probe.Spec{
		ID:     probe.ID{Target: "canary", Model: "canary", Probe: "machine"},
		Prompt: probe.Prompt{Messages: []wire.Message{{Role: "user", Content: "hello"}}, MaxTokens: 4},
		Limits: probe.Limits{Connect: canaryLimit, FirstToken: canaryLimit, Stall: canaryLimit, Total: canaryLimit},
	})
	if r.Outcome != probe.OK || !r.TTFT.OK {
		return 0, fmt.Errorf("%s: %s", r.Outcome, r.Err)
	}
	return (r.TTFT.V - canaryTTFT).Abs(), nil
}

// listen opens a socket for this check only, until ctx ends: nothing listens
// in between, and a process without descriptors left is found out. Where
// loopback cannot be used at all, memory does. It returns what waits for the
// end.
func (m *machineCanary) listen(ctx context.Context) (wait func()) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	switch {
	case err == nil:
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		m.dial = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		return func() {}
	default:
		m.dial = m.sim.DialContext
		return func() {}
	}
	var serving sync.WaitGroup
	serving.Go(func() { m.sim.Serve(ctx, ln) }) //nolint:errcheck // the check shows what is wrong
	m.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", ln.Addr().String())
	}
	return serving.Wait
}
