package sweep

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"tokprobe/probe/capacity"
)

const progressPeriod = 500 * time.Millisecond

func (s *sweep) tell(p Progress) {
	if s.env.Progress != nil {
		s.env.Progress(p)
	}
}

func (s *sweep) warnf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// warnOnce is warnf for what every level would say again.
func (s *sweep) warnOnce(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.warnings, text) {
		s.warnings = append(s.warnings, text)
	}
}

// report tells the progress of a running level until stop is called.
func (l *level) report() (stop func()) {
	if l.s.env.Progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ticker := time.NewTicker(progressPeriod)
		defer ticker.Stop()
		for {
			l.s.tell(l.progress())
			select {
			case <-ticker.C:
			case <-done:
				l.s.tell(l.progress())
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

func (l *level) progress() Progress {
	l.mu.Lock()
	done, failed := len(l.samples), l.errors
	l.mu.Unlock()
	elapsed := time.Since(l.start)
	p := Progress{Stage: Running, Level: l.at.at, Levels: l.s.levels(), Load: l.at.load, Mode: l.s.plan.Mode,
		Repeat: l.at.repeat, Done: done, Total: l.requests, InFlight: int(l.flying.Load()), Errors: failed}
	if elapsed > 0 {
		p.Rate = float64(done) / elapsed.Seconds()
	}
	switch {
	case l.s.plan.Mode == capacity.Rate:
		p.Left = time.Duration(float64(l.requests)/l.at.load*float64(time.Second)) - elapsed
	case l.requests == 0:
		p.Left = l.duration - elapsed
	case done > 0:
		p.Left = elapsed * time.Duration(l.requests-done) / time.Duration(done)
	}
	p.Left = max(0, p.Left)
	return p
}
