package schedule

import (
	"context"
	"reflect"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

const (
	healthEvery   = time.Minute     // for a target with crons only
	healthFastest = time.Second     // however short the probes' interval
	healthLimit   = 5 * time.Second // for one answer
)

// HealthPoller asks the health endpoint of each target once an interval (the
// shortest of its probes), beside the probes and without any effect on them.
// Targets without a health endpoint are left alone.
type HealthPoller struct {
	// Health asks one target; known is false where the answer says nothing,
	// such as 404. It must return when ctx ends.
	Health func(ctx context.Context, t roster.Target) (up, known bool)
	// Set takes each answer; known false also when a target goes away. It
	// must be safe for concurrent use.
	Set func(target string, up, known bool)

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	polls   map[string]poll
}

type poll struct {
	target roster.Target
	every  time.Duration
	stop   context.CancelFunc
}

// Apply polls exactly the targets of r that have a health endpoint and a
// probe. Unchanged ones go on as they were.
func (h *HealthPoller) Apply(r roster.Roster) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.polls == nil {
		h.polls = map[string]poll{}
	}
	every := fastest(r.Watches)
	wanted := map[string]bool{}
	for _, t := range r.Targets {
		if t.HealthURL == "" || every[t.Name] == 0 {
			continue
		}
		wanted[t.Name] = true
		old, runs := h.polls[t.Name]
		if runs && old.every == every[t.Name] && reflect.DeepEqual(old.target, t) {
			continue
		}
		if runs {
			old.stop()
		}
		h.start(t, every[t.Name])
	}
	for name, p := range h.polls {
		if !wanted[name] {
			p.stop()
			delete(h.polls, name)
			h.Set(name, false, false)
		}
	}
}

// Shutdown ends all polls and waits for those under way.
func (h *HealthPoller) Shutdown() {
	h.mu.Lock()
	h.closed = true
	for _, p := range h.polls {
		p.stop()
	}
	h.mu.Unlock()
	h.running.Wait()
}

func fastest(watches []roster.Watch) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, w := range watches {
		e := w.Every
		if e == 0 {
			e = healthEvery
		}
		if old := out[w.ID.Target]; old == 0 || e < old {
			out[w.ID.Target] = max(e, healthFastest)
		}
	}
	return out
}

func (h *HealthPoller) start(t roster.Target, every time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	h.polls[t.Name] = poll{t, every, cancel}
	grid := plan{every: every, phase: roster.Phase(probe.ID{Target: t.Name}, every)}
	h.running.Go(func() {
		for {
			now := time.Now()
			wait := time.NewTimer(grid.next(now).Sub(now))
			select {
			case <-ctx.Done():
				wait.Stop()
				return
			case <-wait.C:
			}
			h.ask(ctx, t, every)
		}
	})
}

func (h *HealthPoller) ask(ctx context.Context, t roster.Target, every time.Duration) {
	asking, cancel := context.WithTimeout(ctx, min(healthLimit, every))
	defer cancel()
	up, known := h.Health(asking, t)
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() == nil { // else the target is gone or changed
		h.Set(t.Name, up, known)
	}
}
