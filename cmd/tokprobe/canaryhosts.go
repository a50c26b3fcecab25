package main

import (
	"net"
	"net/url"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// hostWatch is a recorder that knows of each host whether the last probe there
// could connect. When nearly all hosts fail at once, the common cause is our
// own network.
type hostWatch struct {
	mu    sync.Mutex
	of    map[string]string // target → host
	hosts map[string]*hostState
}

type hostState struct {
	fresh  time.Duration // how long a result counts
	last   time.Time     // zero: no result yet
	failed bool
}

// hostsFresh is the least time a result counts; else 3 intervals of the host's
// most frequent probe.
const hostsFresh = 5 * time.Minute

// apply follows a roster and keeps what is known of hosts that stay. Loopback
// is not our network.
func (h *hostWatch) apply(r roster.Roster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.hosts
	h.of, h.hosts = map[string]string{}, map[string]*hostState{}
	for _, t := range r.Targets {
		u, err := url.Parse(t.BaseURL)
		if err != nil || loopback(u.Hostname()) {
			continue
		}
		host := u.Hostname()
		h.of[t.Name] = host
		if old := before[host]; old != nil {
			h.hosts[host] = &hostState{last: old.last, failed: old.failed}
		} else if h.hosts[host] == nil {
			h.hosts[host] = &hostState{}
		}
	}
	for _, w := range r.Watches {
		s := h.hosts[h.of[w.ID.Target]]
		if gap := w.Gap(); s != nil && gap > 0 {
			if limit := max(hostsFresh, 3*gap); s.fresh == 0 || limit < s.fresh {
				s.fresh = limit
			}
		}
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Record implements probe.Recorder.
func (h *hostWatch) Record(t probe.Tick) {
	if t.Stage != probe.TickDone || t.Result.Cut {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.hosts[h.of[t.ID.Target]]; s != nil {
		s.last = time.Now()
		s.failed = t.Result.Outcome == probe.DNS || t.Result.Outcome == probe.Connect
	}
}

// down tells whether at least 80 % of the hosts failed to connect when last
// asked; known only with fresh results of two hosts or more. Of 5 hosts that
// is 4, of 2 both.
func (h *hostWatch) down(now time.Time) (down, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen, failed := 0, 0
	for _, s := range h.hosts {
		if s.last.IsZero() || now.Sub(s.last) > s.fresh {
			continue
		}
		seen++
		if s.failed {
			failed++
		}
	}
	return seen >= 2 && 10*failed >= 8*seen, seen >= 2
}
