package sweep

import (
	"context"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// closedLoop keeps N streams going: each sends its next request when its last
// one ended. Their starts are spread over about one request, since N requests
// at once measure a burst.
func (l *level) closedLoop() {
	n := streams(l.at.load)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if !sleep(l.ctx, l.s.answer*time.Duration(i)/time.Duration(n)) {
				return
			}
			for {
				k, more := l.next()
				if !more {
					return
				}
				if !l.pause(l.send(k, -1)) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// next hands out the number of the next request of a closed loop.
func (l *level) next() (k int, more bool) {
	if l.ctx.Err() != nil || l.requests == 0 && time.Since(l.start) >= l.duration {
		return 0, false
	}
	k = int(l.handed.Add(1)) - 1
	return k, l.requests == 0 || k < l.requests
}

// pause holds a stream back after a failure, so that an endpoint that refuses
// in a millisecond is not asked a thousand times a second: at most once a
// second a stream after a 429, ten times after another failure. It returns
// false when the level is over.
func (l *level) pause(x capacity.Sample) bool {
	if x.OK() || x.Cut {
		return l.ctx.Err() == nil
	}
	least := 100 * time.Millisecond
	if x.Outcome == probe.RateLimited {
		least = time.Second
	}
	return sleep(l.ctx, x.Sent+least-time.Since(l.start))
}

// openLoop sends every request when its time has come, whether or not earlier
// ones were answered. The times are computed beforehand, so lateness does not
// add up, and latency counts from them, so a backlog cannot hide. When as many
// requests are in flight as we allow ourselves, the level ends: what is sent
// late from there on would measure us.
func (l *level) openLoop() {
	p := l.s.plan
	times, err := capacity.Arrivals{Kind: p.Arrival, Rate: l.at.load, Requests: l.requests,
		Burstiness: p.Burstiness, Seed: p.Seed + uint64(l.at.repeat)}.Times()
	if err != nil {
		l.s.warnf("level %g: %v", l.at.load, err)
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for k, at := range times {
		if !sleep(l.ctx, at-time.Since(l.start)) {
			return
		}
		if int(l.handed.Load())-l.finished() >= p.maxInFlight() {
			l.capped = true
			return
		}
		l.handed.Add(1)
		wg.Go(func() { l.send(k, at) })
	}
}

func (l *level) finished() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.samples)
}

// sleep waits and returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
