package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxLate is how far an engine may lag behind its schedule and still catch up.
// Beyond it the process was stopped or starved, and the schedule moves, as a
// stopped engine would not make up for lost steps either.
const maxLate = 250 * time.Millisecond

// sequence is one request inside an engine. Fields below mu belong to the
// engine's lock.
type sequence struct {
	prompt int      // prompt tokens
	output int      // tokens to make
	blocks []uint64 // prefix hashes

	ready  atomic.Int64  // tokens made so far
	notify chan struct{} // one pending wake-up

	// Truth mode: token i is due at first + i × gap.
	fixed bool
	first time.Time
	gap   time.Duration
	timer *time.Timer // belongs to the goroutine that writes the stream

	started   time.Time // of prefill
	firstMade time.Time // end of the step that made the first token
	cached    int       // prompt tokens found in the prefix cache
	todo      int       // tokens to prefill
	share     int       // of them in the running step
	slow      float64   // jitter factor of its prefill
	left      bool
}

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

// begin forms the batch of the step that starts now and returns its length.
// It is false, and the loop has to end, when there is nothing to do.
func (e *engine) begin(now time.Time) (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.preempt()
	e.admit(now)
	if len(e.running) == 0 {
		e.looping = false
		return 0, false
	}
	budget := e.BatchTokens
	for _, q := range e.running {
		if q.todo == 0 {
			budget--
		}
	}
	var work float64
	for _, q := range e.running {
		q.share = min(q.todo, budget)
		budget -= q.share
		work += float64(q.share) * q.slow
	}
	length := float64(e.Decode) + float64(e.DecodeSlope)*float64(len(e.running))
	prefill, decode := e.slow()
	factor := decode
	if work > 0 {
		length += work / e.PrefillRate * float64(time.Second)
		factor = prefill
	}
	return time.Duration(length * factor * e.jitter()), true
}

// preempt drops the youngest sequences while the next token of each does not
// fit into the KV cache. They wait at the head of the queue and are computed
// again, what they have said included.
func (e *engine) preempt() {
	for len(e.running) > 1 && e.held()+len(e.running) > e.KVTokens {
		last := len(e.running) - 1
		q := e.running[last]
		e.running = e.running[:last]
		q.todo = q.prompt + int(q.ready.Load())
		e.queue = slices.Insert(e.queue, 0, q)
		e.vitals.preempted()
	}
}

// held is the number of tokens in the KV cache.
func (e *engine) held() int {
	n := 0
	for _, q := range e.running {
		n += q.prompt + int(q.ready.Load())
	}
	return n
}

func (e *engine) admit(now time.Time) {
	held := e.held()
	for len(e.queue) > 0 && len(e.running) < e.Slots {
		q := e.queue[0]
		held += q.prompt + int(q.ready.Load()) + 1
		if held > e.KVTokens && len(e.running) > 0 {
			return
		}
		e.queue = e.queue[1:]
		if q.started.IsZero() {
			q.started = now
			if e.PrefixCache {
				q.cached = e.cache.match(q.blocks, q.prompt)
				q.todo -= q.cached
			}
		}
		e.running = append(e.running, q)
	}
}

// end hands out the tokens of the step that ended now.
func (e *engine) end(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kept := e.running[:0]
	for _, q := range e.running {
		if q.todo > 0 {
			q.todo -= q.share
			q.share = 0
			if q.todo > 0 {
				kept = append(kept, q)
				continue
			}
			if e.PrefixCache {
				e.cache.add(q.blocks)
			}
		}
		if q.firstMade.IsZero() {
			q.firstMade = now
		}
		if q.ready.Add(1) < int64(q.output) {
			kept = append(kept, q)
		}
		select {
		case q.notify <- struct{}{}:
		default:
		}
	}
	clear(e.running[len(kept):])
	e.running = kept
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

// due says whether token i was made; if not, the channel (truth mode) or
// notify (batching) wakes up when that may have changed.
func (q *sequence) due(i int) (<-chan time.Time, bool) {
	if !q.fixed {
		return nil, q.ready.Load() > int64(i)
	}
	if i >= q.output {
		return nil, false
	}
	wait := time.Until(q.first.Add(time.Duration(i) * q.gap))
	if wait <= 0 {
		return nil, true
	}
	if q.timer == nil {
		q.timer = time.NewTimer(wait)
	} else {
		q.timer.Reset(wait)
	}
	return q.timer.C, false
}
