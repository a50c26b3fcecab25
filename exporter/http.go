package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/exporter-toolkit/web"

	"tokprobe/probe"
)

// DefaultListenAddress is where the daemon serves unless told otherwise.
const DefaultListenAddress = ":9816"

// shutdownGrace is how long a running answer may take once the daemon stops.
const shutdownGrace = 5 * time.Second

// HTTPConfig describes the daemon's own web server. Only Exporter is needed.
type HTTPConfig struct {
	Exporter *Exporter
	// ListenAddresses is DefaultListenAddress if empty.
	ListenAddresses []string
	// WebConfigFile turns on TLS and basic auth, as exporter-toolkit reads
	// it. It covers every path, health included: hence HealthAddress, a
	// plain listener that serves nothing but health. Empty: none.
	WebConfigFile string
	HealthAddress string

	// EnableLifecycle turns on what changes state: /-/reload and Actions.
	EnableLifecycle   bool
	EnablePprof       bool // /debug/pprof/
	EnableOpenMetrics bool

	// Redacted returns the configuration without secrets; nil: no /config.
	Redacted func() []byte
	// Ready returns nil once the configuration is loaded and the scheduler
	// runs, else why not. It must not depend on any target. nil: ready.
	Ready func() error
	// Reload loads the configuration anew; its error goes to the caller.
	Reload func(context.Context) error
	// Actions are further paths that change state, as patterns of
	// http.ServeMux without method: "/-/sweeps/stop". The handler gets POST
	// requests of the same origin only.
	Actions map[string]http.Handler
	// Sweeps returns what /api/v1/sweeps shows as JSON; nil: no such path.
	Sweeps func() any
	// NextDue returns when a probe is due next, if that is known.
	NextDue func(probe.ID) (time.Time, bool)
	// Version is shown on the status page.
	Version string
	// Listening is told the addresses once the sockets are open: where a
	// person should look.
	Listening func(addresses []net.Addr)
	Logger    *slog.Logger // nil: slog.Default
}

// HTTPServer serves the status page, /metrics, the API and health.
type HTTPServer struct {
	config    HTTPConfig
	logger    *slog.Logger
	listeners []net.Listener // open since Listen
}

// NewHTTPServer returns a server that does not listen yet.
func NewHTTPServer(config HTTPConfig) *HTTPServer {
	if len(config.ListenAddresses) == 0 {
		config.ListenAddresses = []string{DefaultListenAddress}
	}
	logger := config.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return &HTTPServer{config: config, logger: logger}
}

// Listen opens the sockets and checks the web config file, so that a second
// daemon on the same address ends before it has sent or saved anything.
// Requests that come before Run wait. Close what was opened with Close.
func (s *HTTPServer) Listen() error {
	if err := web.Validate(s.config.WebConfigFile); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", s.config.WebConfigFile, err)
	}
	var err error
	s.listeners, err = s.listen()
	return err
}

// Close closes the sockets of Listen; after Run there is nothing to close.
func (s *HTTPServer) Close() { closeAll(s.listeners) }

// Run listens, unless Listen has, and serves until ctx is done, then lets
// running answers finish for shutdownGrace and returns nil. Any other end is an
// error. A bad web config file or an address in use is reported before anything
// is served.
func (s *HTTPServer) Run(ctx context.Context) error {
	if s.listeners == nil {
		if err := s.Listen(); err != nil {
			return err
		}
	}
	defer s.Close()
	if s.config.Listening != nil {
		addresses := make([]net.Addr, 0, len(s.listeners))
		for _, l := range s.listeners[:len(s.config.ListenAddresses)] {
			addresses = append(addresses, l.Addr())
		}
		s.config.Listening(addresses)
	}
	return s.serve(ctx, s.listeners)
}

// listen opens the listeners of ListenAddresses and then the health one.
func (s *HTTPServer) listen() ([]net.Listener, error) {
	var listeners []net.Listener
	open := func(address, flag string) error {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w; choose another with %s", address, err, flag)
		}
		listeners = append(listeners, l)
		return nil
	}
	var err error
	for _, address := range s.config.ListenAddresses {
		err = errors.Join(err, open(address, "--web.listen-address"))
	}
	if s.config.HealthAddress != "" {
		err = errors.Join(err, open(s.config.HealthAddress, "--web.health-address"))
	}
	if err != nil {
		closeAll(listeners)
		return nil, err
	}
	return listeners, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close() //nolint:errcheck // it is only a listener
	}
}

// serve runs one server per listener: exporter-toolkit changes the server it
// is given.
func (s *HTTPServer) serve(parent context.Context, listeners []net.Listener) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	handler := s.Handler()
	var wg sync.WaitGroup
	servers := make([]*http.Server, len(listeners))
	for i, l := range listeners {
		h, file := handler, s.config.WebConfigFile
		if i >= len(s.config.ListenAddresses) {
			h, file = s.healthHandler(), ""
		}
		servers[i] = s.newServer(h)
		wg.Go(func() {
			err := web.Serve(l, servers[i], &web.FlagConfig{WebConfigFile: &file}, s.logger)
			if !errors.Is(err, http.ErrServerClosed) {
				cancel(fmt.Errorf("serve on %s: %w", l.Addr(), err))
			}
		})
	}
	<-ctx.Done()
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer stop()
	for _, server := range servers {
		wg.Go(func() {
			if server.Shutdown(grace) != nil {
				server.Close() //nolint:errcheck // the grace is over
			}
		})
	}
	wg.Wait()
	if parent.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

func (s *HTTPServer) newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * time.Minute, // a profile takes 30 s
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
}
