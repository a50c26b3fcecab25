package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"go.uber.org/zap"

	"tokprobe/configs"
	"tokprobe/exporter"
	"tokprobe/probe"
	"tokprobe/probe/roster"
)

func TestStreak(t *testing.T) {
	var s streak
	var downs, changes []bool
	for _, bad := range []bool{false, true, false, true, true, true, false, false} {
		changes = append(changes, s.note(bad))
		downs = append(downs, s.down)
	}
	if want := []bool{false, false, false, false, true, true, false, false}; !reflect.DeepEqual(downs, want) {
		t.Errorf("down %v, want %v", downs, want)
	}
	if want := []bool{false, false, false, false, true, false, true, false}; !reflect.DeepEqual(changes, want) {
		t.Errorf("changes %v, want %v", changes, want)
	}
}

// TestBlindness: probes are skipped while any source says so.
func TestBlindness(t *testing.T) {
	var got []bool
	b := blindness{tell: func(down bool) { got = append(got, down) }}
	b.set("machine", true)
	b.set("network", false)
	b.set("network", true)
	b.set("machine", false)
	b.set("network", false)
	if want := []bool{true, true, true, true, false}; !reflect.DeepEqual(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestMachineCanaryTruth: on an idle machine (a bubble) the canary is off by
// nothing; with no way to open a socket it says so.
func TestMachineCanaryTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := newMachineCanary()
		if err != nil {
			t.Fatal(err)
		}
		m.dial = m.sim.DialContext
		if off, err := m.ask(t.Context()); off != 0 || err != nil {
			t.Errorf("off by %v, %v; want 0, nil", off, err)
		}
		m.dial = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
		}
		if _, err := m.ask(t.Context()); err == nil || !strings.Contains(err.Error(), "connect") {
			t.Errorf("%v, want a failure to connect", err)
		}
		m.close()
	})
}

// TestMachineCanarySocket: the same over a real socket that is gone afterwards.
func TestMachineCanarySocket(t *testing.T) {
	m, err := newMachineCanary()
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for range 2 {
		if off, err := m.check(t.Context()); err != nil || off > 5*time.Second {
			t.Errorf("off by %v, %v", off, err)
		}
	}
}

func TestReach(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	}))
	defer server.Close()
	client := canaryClient()
	if err := reach(t.Context(), client, server.URL); err != nil {
		t.Errorf("a redirect is an answer, got %v", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := ln.Addr().String()
	ln.Close()
	err = reach(t.Context(), client, "http://"+gone+"/?token=planted-secret")
	if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want a refused connection without the address", err)
	}
}

// TestHostsDown: 80 % of at least two hosts, by their last fresh result.
func TestHostsDown(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes    map[string]probe.Outcome // by host; "" is no result
		age         time.Duration
		down, known bool
	}{
		"nothing yet":       {outcomes: map[string]probe.Outcome{"a": "", "b": ""}},
		"one host":          {outcomes: map[string]probe.Outcome{"a": probe.Connect}},
		"both of two":       {outcomes: map[string]probe.Outcome{"a": probe.Connect, "b": probe.DNS}, down: true, known: true},
		"one of two":        {outcomes: map[string]probe.Outcome{"a": probe.Connect, "b": probe.OK}, known: true},
		"others fail other": {outcomes: map[string]probe.Outcome{"a": probe.TLS, "b": probe.ServerError}, known: true},
		"four of five":      {outcomes: map[string]probe.Outcome{"a": probe.DNS, "b": probe.DNS, "c": probe.DNS, "d": probe.DNS, "e": probe.OK}, down: true, known: true},
		"three of four":     {outcomes: map[string]probe.Outcome{"a": probe.DNS, "b": probe.DNS, "c": probe.DNS, "d": probe.OK}, known: true},
		"stale":             {outcomes: map[string]probe.Outcome{"a": probe.DNS, "b": probe.DNS}, age: hostsFresh + time.Second},
		"loopback":          {outcomes: map[string]probe.Outcome{"127.0.0.1": probe.Connect, "localhost": probe.Connect, "[::1]": probe.Connect}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hostWatch{}
				var r roster.Roster
				for host := range c.outcomes {
					r.Targets = append(r.Targets, roster.Target{Name: host, BaseURL: "http://" + host + ":8000"})
					r.Watches = append(r.Watches, roster.Watch{ID: probe.ID{Target: host}, Every: time.Minute})
				}
				h.apply(r)
				for host, outcome := range c.outcomes {
					if outcome != "" {
						h.Record(probe.Tick{ID: probe.ID{Target: host}, Stage: probe.TickDone, Result: probe.Result{Outcome: outcome}})
					}
				}
				time.Sleep(c.age)
				h.apply(r) // a reload forgets nothing
				if down, known := h.down(time.Now()); down != c.down || known != c.known {
					t.Errorf("down %v, known %v; want %v, %v", down, known, c.down, c.known)
				}
			})
		})
	}
}

// cable is a network that can be unplugged.
type cable struct{ cut atomic.Bool }

func (w *cable) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.cut.Load() {
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	return &http.Response{StatusCode: http.StatusTeapot, Body: http.NoBody, Request: req}, nil
}

// TestNetworkCanaryURL unplugs the network for a minute: two failures in a row
// stop the probes, and they come back by themselves.
func TestNetworkCanaryURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		start := time.Now()
		d := &daemon{log: zap.NewNop(), exporter: exporter.New(exporter.Config{NoRuntime: true}), hosts: &hostWatch{},
			config: &configs.Config{Canary: configs.Canary{URL: "http://192.0.2.1/"}}}
		last := false
		d.blind = &blindness{tell: func(down bool) {
			if down != last {
				told = append(told, fmt.Sprintf("%v %v", time.Since(start), down))
			}
			last = down
		}}
		ctx, stop := context.WithCancel(t.Context())
		w := &cable{}
		var running sync.WaitGroup
		running.Go(func() { d.watchNetwork(ctx, &http.Client{Transport: w}) })
		gauge := func() float64 {
			v, _ := value(gathered(t, d.exporter), "tokprobe_canary_success", map[string]string{"canary": "network"})
			return v
		}
		time.Sleep(31 * time.Second)
		if gauge() != 1 {
			t.Error("the gauge is not 1 on a good network")
		}
		w.cut.Store(true)
		time.Sleep(time.Minute) // asked at 40 s and 45 s: down
		if gauge() != 0 {
			t.Error("the gauge is not 0 on a dead network")
		}
		w.cut.Store(false)
		time.Sleep(30 * time.Second)
		stop()
		running.Wait()
		if want := []string{"45s true", "1m35s false"}; !reflect.DeepEqual(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

func gathered(t *testing.T, e *exporter.Exporter) map[string]*dto.MetricFamily {
	t.Helper()
	list, err := e.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*dto.MetricFamily{}
	for _, f := range list {
		out[f.GetName()] = f
	}
	return out
}
