package probe

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Fleet is all endpoints by target. Its zero value has none. It implements
// Prober and Calibrator and is safe for concurrent use.
type Fleet struct {
	endpoints atomic.Pointer[map[string]*Endpoint]
}

// Replace sets the endpoints, keyed by target. Those that are no longer among
// them are closed; their running probes go on to the end.
func (f *Fleet) Replace(now map[string]*Endpoint) {
	kept := make(map[*Endpoint]bool, len(now))
	copied := make(map[string]*Endpoint, len(now))
	for target, e := range now {
		copied[target], kept[e] = e, true
	}
	before := f.endpoints.Swap(&copied)
	if before == nil {
		return
	}
	for _, e := range *before {
		if !kept[e] {
			e.Close()
		}
	}
}

// Close closes every endpoint.
func (f *Fleet) Close() { f.Replace(nil) }

func (f *Fleet) endpoint(target string) *Endpoint {
	if m := f.endpoints.Load(); m != nil {
		return (*m)[target]
	}
	return nil
}

// Probe implements Prober. A target that is not there is outcome internal.
func (f *Fleet) Probe(ctx context.Context, spec Spec) Result {
	if e := f.endpoint(spec.Target); e != nil {
		return e.Probe(ctx, spec)
	}
	r := Result{ID: spec.ID, Start: time.Now(), Protocol: spec.protocol(), Outcome: Internal, Err: "no such target"}
	r.Hint = hint(hintFacts{result: &r})
	return r
}

// Calibrate implements Calibrator. A target that is not there has nothing to
// learn; its probe will tell why.
func (f *Fleet) Calibrate(ctx context.Context, spec Spec) Calibration {
	if e := f.endpoint(spec.Target); e != nil {
		return e.Calibrate(ctx, spec)
	}
	return Calibration{Err: fmt.Errorf("no target %q", spec.Target)}
}
