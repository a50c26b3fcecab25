// Package exporter turns what became of every tick into /metrics, a bounded
// history, log lines and pages.
package exporter

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	versioncollector "github.com/prometheus/client_golang/prometheus/collectors/version"
	dto "github.com/prometheus/client_model/go"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// Config of an Exporter; the zero value works.
type Config struct {
	// NoRuntime leaves out what describes this process and its build:
	// go_*, process_*, tokprobe_build_info.
	NoRuntime bool
}

// Exporter is the Recorder behind /metrics, and a prometheus.Gatherer. What
// describes single probes is kept in compact states of its own and written
// straight into the page; the little that describes targets, sweeps and the
// daemon is in an ordinary registry.
type Exporter struct {
	registry *prometheus.Registry
	daemon   *daemonMetrics

	reloadFailed atomic.Bool // the last attempt; for the status page

	mu       sync.RWMutex
	states   map[probe.ID]*state
	order    []*state // by target, model, probe
	labeller *labeller
	keep     HistorySize
}

// SetHistory says how much is kept of each probe from the next Apply on.
func (e *Exporter) SetHistory(size HistorySize) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep = size
}

// New returns an exporter that watches nothing yet.
func New(config Config) *Exporter {
	e := &Exporter{
		registry: prometheus.NewRegistry(),
		states:   map[probe.ID]*state{},
		labeller: newLabeller(),
	}
	e.daemon = newDaemonMetrics(e.registry)
	if !config.NoRuntime {
		e.registry.MustRegister(
			collectors.NewGoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
			versioncollector.NewCollector("tokprobe"),
		)
	}
	return e
}

// Apply makes the page follow a roster. Series of what is gone disappear, what
// stays keeps its counters, what is new starts at 0.
func (e *Exporter) Apply(r roster.Roster) {
	now := time.Now()
	targets := map[string]roster.Target{}
	for _, t := range r.Targets {
		targets[t.Name] = t
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l := newLabeller() // shared pairs of names that are gone go with the old one
	states := make(map[probe.ID]*state, len(r.Watches))
	order := make([]*state, 0, len(r.Watches))
	for _, w := range r.Watches {
		if states[w.ID] != nil {
			continue // a roster has each once; two would spoil the page
		}
		s := e.states[w.ID]
		if s == nil {
			s = newState(w.ID, l, now)
		}
		s.apply(w, targets[w.ID.Target], l)
		s.setEvery(every(w))
		s.setKeep(e.keep)
		states[w.ID] = s
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b *state) int { return compareID(a.watch.ID, b.watch.ID) })
	e.states, e.order, e.labeller = states, order, l
	e.daemon.apply(r)
}

func compareID(a, b probe.ID) int {
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Probe, b.Probe))
}

// every returns the longest time between two ticks: what an alert on a stale
// probe has to wait for.
func every(w roster.Watch) probe.Opt[time.Duration] {
	if w.Every > 0 {
		return probe.Some(w.Every)
	}
	schedule, err := roster.ParseCron(w.Cron, w.Zone)
	if err != nil {
		return probe.Opt[time.Duration]{}
	}
	return probe.Some(longestGap(schedule))
}

// longestGap looks at a year from a fixed start, at most 2,000 firings. For
// "0 9-17 * * 1-5" it is 64 h, from Friday 17:00 to Monday 9:00.
func longestGap(s roster.Schedule) time.Duration {
	longest := time.Duration(0)
	last := s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	end := last.AddDate(1, 0, 0)
	for range 2000 {
		next := s.Next(last)
		if next.IsZero() || last.After(end) {
			break
		}
		longest = max(longest, next.Sub(last))
		last = next
	}
	return longest
}

// Record implements probe.Recorder. A tick of a probe that is no longer
// watched is dropped.
func (e *Exporter) Record(t probe.Tick) {
	e.mu.RLock()
	s := e.states[t.ID]
	e.mu.RUnlock()
	if s == nil || t.Result.Cut {
		return
	}
	switch t.Stage {
	case probe.TickDue:
		s.recordDue(t)
		if t.Skip == probe.NotSkipped {
			e.daemon.observeDelay(t)
		}
	case probe.TickDone:
		s.recordDone(t, time.Now())
		e.daemon.observeResult(t)
		if expiry := t.Result.CertExpiry; !expiry.IsZero() {
			e.setTarget(e.daemon.certExpiry, unix(expiry), t.ID.Target)
		}
	}
}

// Gather implements prometheus.Gatherer. Everything about one probe is read
// under its lock, so that on every page due equals started plus skipped.
func (e *Exporter) Gather() ([]*dto.MetricFamily, error) { return e.gather(&page{}) }

func (e *Exporter) gather(p *page) ([]*dto.MetricFamily, error) {
	families, err := e.registry.Gather()
	e.mu.RLock()
	order, l := e.order, e.labeller
	e.mu.RUnlock()
	p.reset() // the last one may have ended in a panic
	p.now = time.Now()
	for i, s := range order {
		p.add(s)
		if i%8 == 7 {
			runtime.Gosched() // under a millisecond of work: streams go first
		}
	}
	families = append(families, p.finish(l)...)
	slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return families, err
}

// gatherer gathers into one page again and again. Only one caller at a time
// may use it, and no result after done.
type gatherer struct {
	exporter *Exporter
	page     page
}

// Gather implements prometheus.TransactionalGatherer.
func (g *gatherer) Gather() ([]*dto.MetricFamily, func(), error) {
	families, err := g.exporter.gather(&g.page)
	return families, g.page.reset, err
}
