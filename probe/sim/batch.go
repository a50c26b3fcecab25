package sim

import (
	"slices"
	"time"
)

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
