package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// maxLate is how far an engine may lag behind its schedule and still catch up.
// Beyond it the process was stopped or starved, and the schedule moves, as a
// stopped engine would not make up for lost steps either.
const maxLate = 250 * time.Millisecond

// engine batches the sequences of one model. Its loop runs only while there
// is work, so an idle engine has no goroutine.
type engine struct {
	Engine
	done   <-chan struct{}
	slow   func() (prefill, decode float64) // factors of the faults in force
	loops  sync.WaitGroup
	vitals *modelStats

	mu      sync.Mutex
	rng     *rand.Rand
	looping bool
	running []*sequence
	queue   []*sequence
	fixed   int // sequences in truth mode
	cache   prefixCache
}

func newEngine(cfg Engine, seed uint64, done <-chan struct{}) *engine {
	return &engine{Engine: cfg, done: done, rng: rand.New(rand.NewPCG(seed, 0x5eed)), cache: newPrefixCache()}
}

// submit takes a sequence in, or returns false if the queue is full.
func (e *engine) submit(q *sequence, arrival time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q.slow = e.jitter()
	if e.FixedTTFT > 0 {
		e.fix(q, arrival)
		return true
	}
	if e.QueueLimit != 0 && len(e.running)+len(e.queue) >= e.Slots+max(0, e.QueueLimit) {
		return false
	}
	q.notify = make(chan struct{}, 1)
	q.todo = q.prompt
	e.queue = append(e.queue, q)
	if !e.looping {
		e.looping = true
		e.loops.Go(e.loop)
	}
	return true
}

func (e *engine) fix(q *sequence, arrival time.Time) {
	prefill, decode := e.slow()
	q.fixed = true
	q.started = arrival
	q.first = arrival.Add(time.Duration(float64(e.FixedTTFT) * prefill * q.slow))
	q.gap = time.Duration(float64(e.FixedTPOT) * decode)
	q.firstMade = q.first
	if e.PrefixCache {
		q.cached = e.cache.match(q.blocks, q.prompt)
		e.cache.add(q.blocks)
	}
	e.fixed++
}

// leave takes a sequence out, finished or not; once more does nothing.
func (e *engine) leave(q *sequence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if q.left {
		return
	}
	q.left = true
	if q.fixed {
		e.fixed--
		return
	}
	same := func(o *sequence) bool { return o == q }
	e.running = slices.DeleteFunc(e.running, same)
	e.queue = slices.DeleteFunc(e.queue, same)
}

// loop runs steps until there is no work. A step begins a nanosecond after the
// one before it ended, on the same schedule: that is no time on a real clock,
// but in a synctest bubble it lets every request of that instant arrive first,
// so that simulations do not depend on the order of goroutines.
func (e *engine) loop() {
	next := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for e.sleep(timer, next.Add(1)) {
		d, ok := e.begin(next)
		if !ok {
			return
		}
		next = next.Add(d)
		if time.Until(next) < -maxLate {
			next = time.Now()
		}
		if !e.sleep(timer, next) {
			return
		}
		e.end(next)
	}
}

// sleep waits for a moment; it is false if the server closes meanwhile.
func (e *engine) sleep(timer *time.Timer, until time.Time) bool {
	wait := time.Until(until)
	if wait <= 0 {
		return true
	}
	timer.Reset(wait)
	select {
	case <-timer.C:
		return true
	case <-e.done:
		return false
	}
}

// load returns what the gauges of /metrics show.
func (e *engine) load() (running, waiting int, kv float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running) + e.fixed, len(e.queue), float64(e.held()) / float64(e.KVTokens)
}

// times returns when prefill began and the first token was made (zero if
// they did not happen), and the cached prompt tokens.
func (e *engine) times(q *sequence) (started, first time.Time, cached int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return q.started, q.firstMade, q.cached
}

func (e *engine) jitter() float64 {
	if e.Jitter == 0 {
		return 1
	}
	return math.Exp(e.Jitter * e.rng.NormFloat64())
}
