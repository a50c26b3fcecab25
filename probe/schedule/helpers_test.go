package schedule

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// proberFunc is a Prober from a function.
type proberFunc func(context.Context, probe.Spec) probe.Result

func (f proberFunc) Probe(ctx context.Context, s probe.Spec) probe.Result { return f(ctx, s) }

// takes is a prober whose probes last d and end ok, or cut.
func takes(d time.Duration) proberFunc {
	return func(ctx context.Context, s probe.Spec) probe.Result {
		r := probe.Result{ID: s.ID, Outcome: probe.OK}
		if d == 0 {
			return r
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			r.Cut = true
		}
		return r
	}
}

// tape records every tick.
type tape struct {
	mu    sync.Mutex
	ticks []probe.Tick
}

func (p *tape) Record(t probe.Tick) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticks = append(p.ticks, t)
}

func (p *tape) all() []probe.Tick {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ticks)
}

// counts are the sums of a tape, for one probe or (zero ID) for all.
type counts struct {
	due, started, done int
	skips              map[probe.SkipReason]int
}

func (p *tape) count(id probe.ID) counts {
	c := counts{skips: map[probe.SkipReason]int{}}
	for _, t := range p.all() {
		switch {
		case id != probe.ID{} && t.ID != id:
		case t.Stage == probe.TickDone:
			c.done++
		case t.Skip != probe.NotSkipped:
			c.due++
			c.skips[t.Skip]++
		default:
			c.due++
			c.started++
		}
	}
	return c
}

// starts returns the ticks that started a probe.
func (p *tape) starts(id probe.ID) []probe.Tick {
	var out []probe.Tick
	for _, t := range p.all() {
		if t.ID == id && t.Stage == probe.TickDue && t.Skip == probe.NotSkipped {
			out = append(out, t)
		}
	}
	return out
}

func watch(id probe.ID, every time.Duration) roster.Watch {
	return roster.Watch{ID: id, Spec: probe.Spec{ID: id}, Every: every}
}

func ids(names ...string) []probe.ID {
	var out []probe.ID
	for _, n := range names {
		out = append(out, probe.ID{Target: "t", Model: "org/m", Probe: n})
	}
	return out
}

func plain(watches ...roster.Watch) roster.Roster {
	return roster.Roster{Targets: []roster.Target{{Name: "t", Hash: "1"}}, Watches: watches}
}

// run starts a scheduler on a roster.
func run(t *testing.T, cfg Config, r roster.Roster) *Scheduler {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.pulse.every = time.Hour // a year of seconds takes minutes
	if err := s.Apply(r); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func stop(t *testing.T, s *Scheduler) {
	t.Helper()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
