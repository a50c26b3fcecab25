package main

import (
	"context"
	_ "embed"
	"net"
	"strings"

	"tokprobe/configs"
	"tokprobe/probe/sim"
)

//go:embed demo.yaml
var demoYAML string

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
