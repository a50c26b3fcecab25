package sim

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a simulated endpoint. Close it when done.
type Server struct {
	cfg    Config
	mux    *http.ServeMux
	models map[string]*model
	faults atomic.Pointer[[]Faults]
	truth  truth
	number atomic.Uint64
	done   chan struct{} // closed by Close

	mu       sync.Mutex
	closed   bool
	handlers sync.WaitGroup
	servers  map[*http.Server]struct{}
	pipes    *pipeListener // of DialContext; nil before its first call
}

// model is one served model.
type model struct {
	name   string
	answer Answer
	engine *engine
	quota  *quota
	stats  *modelStats
}

// New returns a server that runs no goroutine until it has work. Faults in
// cfg that make no sense are left out; Faults.Check tells.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), models: map[string]*model{}, done: make(chan struct{}), servers: map[*http.Server]struct{}{}}
	s.truth.limit = cfg.RecordLimit
	if s.truth.limit <= 0 {
		s.truth.limit = 4096
	}
	s.SetFaults(cfg.Faults...) //nolint:errcheck // documented above
	for i, name := range cfg.models() {
		m := &model{name: name, answer: cfg.answer(name), quota: &quota{Quota: cfg.Quota}, stats: &modelStats{}}
		m.engine = newEngine(cfg.engine(name), cfg.Seed+uint64(i), s.done)
		m.engine.vitals = m.stats
		m.engine.slow = func() (float64, float64) { return s.faultsFor(name).factors() }
		s.models[name] = m
	}
	s.routes()
	return s
}

func (s *Server) routes() {
	for _, d := range dialects {
		s.mux.HandleFunc("POST "+d.path, func(w http.ResponseWriter, r *http.Request) { s.complete(d, w, r) })
	}
	s.mux.HandleFunc("GET /v1/models", s.serveModels)
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.mux.HandleFunc("GET /metrics", s.serveMetrics)
	s.mux.HandleFunc("GET /sim/records", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Records()) })
	s.mux.HandleFunc("GET /sim/stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Stats()) })
	s.mux.HandleFunc("GET /sim/faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.Faults()) })
	s.mux.HandleFunc("PUT /sim/faults", s.putFaults)
	s.mux.HandleFunc("DELETE /sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.SetFaults() //nolint:errcheck // nothing to check in none
		writeJSON(w, s.Faults())
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, "the simulator is closed", http.StatusServiceUnavailable)
		return
	}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	if s.cfg.PathPrefix != "" {
		http.StripPrefix(s.cfg.PathPrefix, s.mux).ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// complete serves one completion and keeps its record.
func (s *Server) complete(d *dialect, w http.ResponseWriter, r *http.Request) {
	x := &exchange{s: s, d: d, w: w, ctx: r.Context(), n: s.number.Add(1)}
	x.rec = Record{Protocol: d.name, Arrival: time.Now()}
	x.rec.ID = fmt.Sprintf("%08x%08x", uint32(s.cfg.Seed), x.n)
	w.Header().Set("X-Request-Id", x.rec.ID)
	s.truth.begin()
	cut := x.run(r)
	x.settle()
	if cut != "" {
		cutConnection(w, cut == "reset")
	}
}

// cutConnection ends an answer without its proper end.
func cutConnection(w http.ResponseWriter, reset bool) {
	if m, ok := w.(*memoryWriter); ok {
		m.cut(reset)
		return
	}
	if reset {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				tcp.SetLinger(0) //nolint:errcheck // then it is an orderly close
			}
			conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// Serve answers on ln until ctx ends or Close is called; both cut what is
// running and return nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		ln.Close()
		return nil
	}
	s.servers[srv] = struct{}{}
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	err := srv.Serve(ln)
	s.mu.Lock()
	delete(s.servers, srv)
	s.mu.Unlock()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("simulator: %w", err)
}

// Close cuts every answer, stops the engines and waits for both. It may be
// called more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	for srv := range s.servers {
		srv.Close()
	}
	s.mu.Unlock()
	s.handlers.Wait()
	for _, m := range s.models {
		m.engine.loops.Wait()
	}
	return nil
}

func (s *Server) authorized(r *http.Request) bool {
	if s.cfg.APIKey == "" {
		return true
	}
	key := r.Header.Get("X-Api-Key")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		key = bearer
	}
	return subtle.ConstantTimeCompare([]byte(key), []byte(s.cfg.APIKey)) == 1
}

func (s *Server) serveModels(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(r) {
		e := wrongKey()
		e.write(w, openAIError(*e))
		return
	}
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
		MaxLen  int    `json:"max_model_len"`
	}
	list := []entry{}
	for _, name := range s.cfg.models() {
		list = append(list, entry{name, "model", 1767225600, "sim", s.models[name].engine.MaxModelLen})
	}
	writeJSON(w, map[string]any{"object": "list", "data": list})
}
