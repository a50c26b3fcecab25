package exporter

import (
	"reflect"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// recentSize is how many finished probes tokprobe_recent_failures looks at.
const recentSize = 6

// state is everything the page says about one probe. Its lock is held for
// microseconds only, by Record and by a scrape that reads it.
type state struct {
	mu      sync.Mutex
	watch   roster.Watch
	price   *roster.Price
	every   probe.Opt[time.Duration]
	created *timestamppb.Timestamp

	labels [numFamilies][]labelSet
	slos   []objectiveState

	due, started            uint64
	outcomes                []uint64 // in the order of probe.Outcomes
	skips                   []uint64 // in the order of probe.SkipReasons
	lagSuspect, coalesced   uint64
	stale, cacheSuspect     uint64
	promptChanged           uint64
	tokens                  [4]uint64 // in the order of catalog.TokenTypes
	cost                    float64
	ttft, firstContent, e2e *histogram
	tpot, gap               *histogram
	window                  window
	recent                  [recentSize]bool // a failure of kind service
	finished                int
	last                    *probe.Result // of the last finished probe, without texts
	history                 history
	keep                    HistorySize // how much of it
	lastRun, lastSuccess    time.Time
	promptTokens            probe.Opt[int64] // last count for a busted prompt
	waiting                 uint64           // overlap skips that wait for a verdict
	targetHash              string
}

// objectiveState is one objective of one SLO of this probe.
type objectiveState struct {
	slo       slo.SLO
	objective slo.Objective
	counts    [3]uint64 // in the order of slo.Verdicts
	events    [3]labelSet
	labels    labelSet
}

func newState(id probe.ID, l *labeller, now time.Time) *state {
	s := &state{
		watch:    roster.Watch{ID: id},
		created:  timestamppb.New(now),
		outcomes: make([]uint64, len(probe.Outcomes())),
		skips:    make([]uint64, len(probe.SkipReasons())),

		ttft:         newHistogram(l.families[famTTFT].Buckets, now),
		firstContent: newHistogram(l.families[famFirstContent].Buckets, now),
		e2e:          newHistogram(l.families[famE2E].Buckets, now),
		tpot:         newHistogram(l.families[famTPOT].Buckets, now),
		gap:          newHistogram(l.families[famChunkGap].Buckets, now),
	}
	base := l.base(id)
	for f := range numFamilies {
		s.labels[f] = l.all(f, base)
	}
	s.labels[famCost] = nil
	return s
}

// apply takes over what the configuration says, and keeps every counter. The
// window of exact quantiles starts anew when the question or the endpoint
// changed: a P95 over two different prompts is a P95 of nothing.
func (s *state) apply(w roster.Watch, t roster.Target, l *labeller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed(s.watch.Hash, w.Hash) && !sameQuestion(s.watch.Spec, w.Spec) || changed(s.targetHash, t.Hash) {
		s.window.clear()
		s.promptTokens = probe.Opt[int64]{}
	}
	s.targetHash = t.Hash
	s.applyPrice(t.Price, l)
	s.applySLOs(w.SLOs, l)
	if !w.AllowOverlap {
		s.waiting = 0
	}
	s.watch = w
}

func changed(before, after string) bool { return before != "" && before != after }

// applyPrice starts the money at 0 in a new currency.
func (s *state) applyPrice(p *roster.Price, l *labeller) {
	switch {
	case p == nil:
		s.cost, s.labels[famCost] = 0, nil
	case s.price == nil || s.price.Currency != p.Currency:
		s.cost = 0
		s.labels[famCost] = []labelSet{l.with(l.base(s.watch.ID), catalog.LabelCurrency, p.Currency)}
	}
	s.price = p
}

// applySLOs keeps the counts of objectives that are still there.
func (s *state) applySLOs(list []slo.SLO, l *labeller) {
	type key struct {
		slo string
		sli slo.SLI
	}
	before := map[key][3]uint64{}
	for _, o := range s.slos {
		before[key{o.slo.Name, o.objective.SLI}] = o.counts
	}
	base := l.base(s.watch.ID)
	seen := map[key]bool{}
	var now []objectiveState
	for _, promise := range list {
		for _, objective := range promise.Objectives {
			k := key{promise.Name, objective.SLI}
			if seen[k] {
				continue // two series of one name would spoil the page
			}
			seen[k] = true
			o := objectiveState{slo: promise, objective: objective, counts: before[k]}
			names := []string{catalog.LabelSLO, promise.Name, catalog.LabelSLI, string(objective.SLI)}
			o.labels = l.with(base, names...)
			for i, v := range slo.Verdicts() {
				o.events[i] = l.with(base, append([]string{catalog.LabelVerdict, string(v)}, names...)...)
			}
			now = append(now, o)
		}
	}
	s.slos = now
}

func (s *state) recentFailures() int {
	n := 0
	for _, failed := range s.recent {
		if failed {
			n++
		}
	}
	return n
}

func (s *state) setEvery(d probe.Opt[time.Duration]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.every = d
}

// sameQuestion tells whether two specs would send the same request. Limits
// only cut it short.
func sameQuestion(a, b probe.Spec) bool {
	a.Limits, b.Limits = probe.Limits{}, probe.Limits{}
	return reflect.DeepEqual(a, b)
}
