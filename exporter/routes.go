package exporter

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/pprof"
)

//go:embed style.css
var styleSheet []byte

// maxBody bounds what anybody may send us: no path takes a body.
const maxBody = 64 << 10

// Handler returns all routes of the daemon.
func (s *HTTPServer) Handler() http.Handler {
	c := s.config
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.HandlerFunc(s.statusPage))
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/css; charset=utf-8", styleSheet)
	})
	mux.Handle("GET /metrics", newMetricsHandler(c.Exporter, c.EnableOpenMetrics))
	s.addHealth(mux)
	mux.HandleFunc("GET /api/v1/probes", s.apiProbes)
	if c.Sweeps != nil {
		mux.HandleFunc("GET /api/v1/sweeps", s.apiSweeps)
	}
	if c.Redacted != nil {
		mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
			write(w, "text/plain; charset=utf-8", c.Redacted())
		})
	}
	if c.Reload != nil {
		mux.Handle("/-/reload", s.action(http.HandlerFunc(s.reload)))
	}
	for path, h := range c.Actions {
		mux.Handle(path, s.action(h))
	}
	if c.EnablePprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return secure(http.MaxBytesHandler(mux, maxBody))
}

func (s *HTTPServer) healthHandler() http.Handler {
	mux := http.NewServeMux()
	s.addHealth(mux)
	return secure(mux)
}

func (s *HTTPServer) addHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/plain; charset=utf-8", []byte("tokprobe is healthy.\n"))
	})
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.config.Ready != nil {
			if err := s.config.Ready(); err != nil {
				http.Error(w, "tokprobe is not ready: "+err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		write(w, "text/plain; charset=utf-8", []byte("tokprobe is ready.\n"))
	})
}

// action guards what changes state: POST only, off by default, and not from
// another site's page in a browser of somebody who can reach us.
func (s *HTTPServer) action(h http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "only POST is allowed here", http.StatusMethodNotAllowed)
		case !s.config.EnableLifecycle:
			http.Error(w, "this is turned off; start with --web.enable-lifecycle", http.StatusForbidden)
		case guard.Check(r) != nil:
			http.Error(w, "refused: the request comes from another site", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

func (s *HTTPServer) reload(w http.ResponseWriter, r *http.Request) {
	// A caller that hangs up must not leave half a reload.
	if err := s.config.Reload(context.WithoutCancel(r.Context())); err != nil {
		http.Error(w, fmt.Sprintf("reload failed, the old configuration stays in force:\n%s", err), http.StatusInternalServerError)
		return
	}
	write(w, "text/plain; charset=utf-8", []byte("reloaded\n"))
}

func write(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Write(body) //nolint:errcheck // the reader went away; there is nobody to tell
}

// secure sets the headers that keep a browser from running, guessing or
// framing anything: pages here show text that endpoints sent.
func secure(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		h.ServeHTTP(w, r)
	})
}
