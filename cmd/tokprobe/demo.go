package main

import (
	"context"
	_ "embed"
	"net"
	"strings"
	"time"

	"tokprobe/configs"
	"tokprobe/probe/roster"
	"tokprobe/probe/sim"
)

//go:embed demo.yaml
var demoYAML string

// demoSweepAfter is when the demo's sweep begins: the probes' histograms are
// filled by then.
const demoSweepAfter = 20 * time.Second

// demoSweep runs the demo's sweeps once, soon, so that there is something to
// look at; their cron goes on from there.
func (d *daemon) demoSweep(ctx context.Context) {
	if sleep(ctx, demoSweepAfter) {
		d.sched.RunSweep(func(roster.SweepKey) bool { return true }) //nolint:errcheck // a refusal is recorded
	}
}

// demo runs the embedded simulator until ctx ends and returns the
// configuration that watches it.
func demo(ctx context.Context, opts configs.Options) (*configs.Config, *sim.Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := sim.New(sim.Demo())
	go server.Serve(ctx, ln) //nolint:errcheck // ends with ctx; a probe would show anything else
	cfg, err := configs.Parse([]byte(strings.ReplaceAll(demoYAML, "@SIM@", "http://"+ln.Addr().String())), opts)
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	return cfg, server, nil
}
