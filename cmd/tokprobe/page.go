package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"

	"go.uber.org/zap/exp/zapslog"
	"gopkg.in/yaml.v3"

	"tokprobe/exporter"
)

// page is the HTTP side.
func (d *daemon) page(f *serveFlags, c console) *exporter.HTTPServer {
	return exporter.NewHTTPServer(exporter.HTTPConfig{
		Exporter: d.exporter, ListenAddresses: f.listen, WebConfigFile: f.webConfig, HealthAddress: f.healthAddress,
		EnableLifecycle: f.lifecycle, EnablePprof: f.pprof, EnableOpenMetrics: true, // exemplars
		Redacted: d.redacted, Ready: d.ready,
		Reload:    func(context.Context) error { return d.reload() },
		NextDue:   d.nextDue,
		Actions:   d.switches(),
		Sweeps:    d.sweepsNow,
		Version:   versionLine(),
		Logger:    slog.New(zapslog.NewHandler(d.log.Core(), zapslog.WithName("web"))),
		Listening: func(addrs []net.Addr) { d.announce(c, addrs, f) },
	})
}

// announce says on the console where to look.
func (d *daemon) announce(c console, addrs []net.Addr, f *serveFlags) {
	scheme := "http"
	if servesTLS(f.webConfig) {
		scheme = "https"
	}
	r := d.rosterNow()
	fmt.Fprintf(c.out, "tokprobe watches %d probes of %d targets\n", len(r.Watches), len(r.Targets))
	for _, addr := range addrs {
		fmt.Fprintf(c.out, "  status   %s://%s/\n  metrics  %[1]s://%[2]s/metrics\n", scheme, reachable(addr))
	}
	if f.demo {
		fmt.Fprintf(c.out, "  simulator %s  (its own record: %[1]s/sim/stats)\n", r.Targets[0].BaseURL)
	}
}

// servesTLS tells whether a web config file, which has been validated, turns on
// TLS: one with nothing but passwords does not.
func servesTLS(file string) bool {
	if file == "" {
		return false
	}
	text, err := os.ReadFile(file)
	var conf struct {
		TLS map[string]any `yaml:"tls_server_config"`
	}
	return err == nil && yaml.Unmarshal(text, &conf) == nil && len(conf.TLS) > 0
}

// reachable turns a wildcard address into one that can be opened.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
