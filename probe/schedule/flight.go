package schedule

import "sync"

// flight counts what is running and closes drained when, after close, nothing
// is. It differs from a WaitGroup in that nothing can join once it is closed.
type flight struct {
	mu      sync.Mutex
	n       int
	closed  bool
	drained chan struct{}
}

// join counts one more, unless the scheduler is shutting down.
func (f *flight) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.n++
	return true
}

func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n--
	if f.closed && f.n == 0 {
		close(f.drained)
	}
}

func (f *flight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.n == 0 {
		close(f.drained)
	}
}

func (f *flight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *flight) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}
