package sweep

import (
	"fmt"
	"sync"
	"time"

	"tokprobe/probe"
)

// Fuse watches a probe that goes on beside a sweep, the bystander, and blows
// when it suffers: two failures in a row (of kind service, or refused with a
// 429), or a TTFT too many times its median from before the sweep. A nil Fuse
// never blows.
type Fuse struct {
	median time.Duration // of TTFT; 0: not known
	factor float64

	mu     sync.Mutex
	failed int
	reason string
	blown  chan struct{}
}

const (
	fuseFailures = 2
	fuseFactor   = 5 // if nobody says
)

// NewFuse makes a fuse. median is the bystander's median TTFT before the
// sweep, 0 if that is not known; factor is how many times that its TTFT may be,
// 0 means 5. A queue shows in the bystander as in any other request: where
// answers of 20 ms wait 400 ms from the first level past the knee on, a factor
// under 20 ends the sweep there, before the knee is known.
func NewFuse(median time.Duration, factor float64) *Fuse {
	if factor == 0 {
		factor = fuseFactor
	}
	return &Fuse{median: median, factor: factor, blown: make(chan struct{})}
}

// Record tells the fuse how the bystander fared.
func (f *Fuse) Record(r probe.Result) {
	if f == nil || r.Cut || r.LagSuspect {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Kind() == probe.KindService || r.Outcome == probe.RateLimited {
		if f.failed++; f.failed >= fuseFailures {
			f.blow("the bystander probe %s failed %d times in a row, last with %s", r.Probe, f.failed, r.Outcome)
		}
		return
	}
	f.failed = 0
	if ttft, ok := r.TTFT.Get(); ok && f.median > 0 && ttft.Seconds() > f.factor*f.median.Seconds() {
		f.blow("the bystander probe %s had a TTFT of %s, over %g times its median of %s before the sweep (bystander_ttft)",
			r.Probe, ttft.Round(time.Millisecond), f.factor, f.median.Round(time.Millisecond))
	}
}

// blow is called with mu held.
func (f *Fuse) blow(format string, args ...any) {
	if f.reason == "" {
		f.reason = fmt.Sprintf(format, args...)
		close(f.blown)
	}
}

// Blown is closed when the fuse has blown.
func (f *Fuse) Blown() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.blown
}

// Reason says why; empty while the fuse holds.
func (f *Fuse) Reason() string {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reason
}
