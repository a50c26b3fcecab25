package schedule

import (
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/admit"
)

// pair is a model at a target: what a sweep holds and a Retry-After is about.
type pair struct{ target, model string }

func pairOf(id probe.ID) pair { return pair{id.Target, id.Model} }

// gate is the part of admission that changes while watches run. The zero
// value lets everything through.
type gate struct {
	mu     sync.Mutex
	off    bool // kill switch
	canary bool // a canary is down
	holds  map[pair][]*hold
	taken  map[pair]int // how many holds there ever were
	retry  map[pair]admit.Retry
}

type hold struct{ bystander probe.ID }

// Hold keeps the probes of a model at a target away from a sweep until release
// is called: they skip with reason sweep, but for the bystander (the zero ID
// for none), which goes on and whose ticks are marked. A probe that is running
// when the hold begins goes on and its result is marked too, since the sweep
// disturbs it. Where holds overlap, a probe needs to be the bystander of all.
func (s *Scheduler) Hold(target, model string, bystander probe.ID) (release func()) {
	return s.gate.hold(pair{target, model}, bystander)
}

// Stop is the kill switch: every tick is skipped with reason disabled until
// Resume. Running probes go on.
func (s *Scheduler) Stop() { s.gate.set(func(g *gate) { g.off = true }) }

// Resume undoes Stop.
func (s *Scheduler) Resume() { s.gate.set(func(g *gate) { g.off = false }) }

// SetCanary says whether a canary is down: ticks are skipped with reason
// canary while it is, but for those of Config.CanaryTarget. Give it only a
// canary that can recover while all other probes are silent.
func (s *Scheduler) SetCanary(down bool) { s.gate.set(func(g *gate) { g.canary = down }) }

func (g *gate) set(change func(*gate)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

func (g *gate) hold(p pair, bystander probe.ID) func() {
	h := &hold{bystander}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds == nil {
		g.holds, g.taken = map[pair][]*hold{}, map[pair]int{}
	}
	g.holds[p] = append(g.holds[p], h)
	g.taken[p]++
	return func() { g.release(p, h) }
}

func (g *gate) release(p pair, h *hold) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var left []*hold
	for _, x := range g.holds[p] {
		if x != h {
			left = append(left, x)
		}
	}
	if g.holds[p] = left; left == nil {
		delete(g.holds, p)
	}
}

// view is what the gate says about one watch at one moment.
type view struct {
	off, canary bool
	held        bool // and this is not the bystander
	beside      bool // a sweep runs and this is its bystander
	taken       int
	retry       admit.Retry
}

func (g *gate) look(id probe.ID) view {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := pairOf(id)
	v := view{off: g.off, canary: g.canary, taken: g.taken[p], retry: g.retry[p]}
	for _, h := range g.holds[p] {
		if h.bystander == id {
			v.beside = true
		} else {
			v.held = true
		}
	}
	v.beside = v.beside && !v.held
	return v
}

// asked notes the Retry-After of an answer that told us to slow down; the
// newest answer counts.
func (g *gate) asked(now time.Time, r probe.Result) {
	wait, ok := r.RetryAfter.Get()
	if !ok || wait <= 0 || r.Outcome != probe.RateLimited && r.Outcome != probe.Overloaded {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.retry == nil {
		g.retry = map[pair]admit.Retry{}
	}
	g.retry[pairOf(r.ID)] = admit.Retry{Since: now, For: wait}
}

// keep forgets the Retry-After of what is no longer watched.
func (g *gate) keep(pairs map[pair]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.retry {
		if !pairs[p] {
			delete(g.retry, p)
		}
	}
}
