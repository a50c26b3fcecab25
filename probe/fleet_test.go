package probe_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
)

var (
	_ probe.Prober     = (*probe.Endpoint)(nil)
	_ probe.Calibrator = (*probe.Endpoint)(nil)
	_ probe.Prober     = (*probe.Fleet)(nil)
	_ probe.Calibrator = (*probe.Fleet)(nil)
)

func TestFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fleet probe.Fleet
		r := fleet.Probe(t.Context(), spec())
		if r.Outcome != probe.Internal || r.Err != "no such target" || r.Hint == "" || r.ID != spec().ID {
			t.Errorf("an empty fleet: %+v", r)
		}
		if c := fleet.Calibrate(t.Context(), spec()); c.Err == nil || c.Requests != 0 {
			t.Errorf("an empty fleet: %+v", c)
		}
		script := &probetest.Script{Steps: steps(after(ms, tok("a")+stop+done))}
		fleet.Replace(map[string]*probe.Endpoint{"t": endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: script})})
		if r := fleet.Probe(t.Context(), spec()); r.Outcome != probe.OK {
			t.Errorf("%s: %s", r.Outcome, r.Err)
		}
	})
}

// TestReplaceClosesWhatIsDropped: idle connections at once, those of running
// probes when they end; a probe under way is not cut.
func TestReplaceClosesWhatIsDropped(t *testing.T) {
	held, let := make(chan struct{}), make(chan struct{})
	states := make(chan http.ConnState, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(w, tok("a"))
		if r.Header.Get("X-Hold") != "" {
			held <- struct{}{}
			<-let
		}
		stream(w, stop+done)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) { states <- s }
	server.Start()
	defer server.Close()
	build := func(cfg probe.EndpointConfig) *probe.Endpoint {
		cfg.BaseURL = server.URL
		return endpoint(t, cfg)
	}
	var fleet probe.Fleet
	stays, goes := build(probe.EndpointConfig{}), build(probe.EndpointConfig{Headers: hold})
	fleet.Replace(map[string]*probe.Endpoint{"stays": stays, "t": goes})
	s := spec()
	s.Reuse = true
	var wg sync.WaitGroup
	wg.Go(func() {
		if r := fleet.Probe(t.Context(), s); r.Outcome != probe.OK {
			t.Errorf("the running probe: %s %s", r.Outcome, r.Err)
		}
	})
	<-held
	fleet.Replace(map[string]*probe.Endpoint{"stays": stays})
	if r := fleet.Probe(t.Context(), s); r.Outcome != probe.Internal {
		t.Errorf("a dropped target: %s", r.Outcome)
	}
	close(let)
	wg.Wait()
	for state := range states { // new, active, idle, closed
		if state == http.StateClosed {
			break
		}
	}
	s.Target = "stays"
	for i := range 2 {
		if r := fleet.Probe(t.Context(), s); r.Outcome != probe.OK || r.Reused != (i > 0) {
			t.Errorf("the endpoint that stays: %s, reused %v", r.Outcome, r.Reused)
		}
	}
}

func TestNewEndpointRefuses(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"", `base URL: scheme "": write http:// or https://`},
		{"ftp://h", `base URL: scheme "ftp": write http:// or https://`},
		{"http://", "base URL: no host"},
		{"http://u:hunter22@h", "base URL: holds user info; give credentials as a key or a header"},
		{"http://h/?utm_source=x", "base URL: holds a query or fragment; write only scheme, host and path"},
		{"http://u:hunter22@h:port", `base URL: invalid port`},
	} {
		_, err := probe.NewEndpoint(probe.EndpointConfig{BaseURL: c.give})
		if fmt.Sprint(err) != c.want {
			t.Errorf("%q: %v, want %s", c.give, err, c.want)
		}
	}
}

func hold(context.Context) (http.Header, error) { return http.Header{"X-Hold": {"1"}}, nil }
