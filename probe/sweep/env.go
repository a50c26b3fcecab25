package sweep

import (
	"context"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// Endpoint is what a sweep needs of the thing it loads: *probe.Endpoint is
// one. For the self-audit its Lag must be a running probe.Sentinel, since a
// sample carries our own lag from there.
type Endpoint interface {
	probe.Prober
	probe.Calibrator
	// OpenAll opens n kept connections before the clock runs.
	OpenAll(ctx context.Context, n int) error
}

// Env is the world around a sweep. Only Endpoint is needed.
type Env struct {
	Endpoint Endpoint
	// Progress is told how far the sweep is, about twice a second, from a
	// goroutine of its own but never from two at a time.
	Progress func(Progress)
	// ServerMetrics fetches the endpoint's own /metrics page, once a second
	// during a level.
	ServerMetrics func(context.Context) ([]byte, error)
	// EndLevel ends the running level (or cool-down) with each value; the
	// sweep goes on with the next. To end the sweep, cancel its context.
	EndLevel <-chan struct{}
	// Fuse aborts the sweep when the probes beside it suffer.
	Fuse *Fuse
	// Lock keeps other sweeps from the same endpoint meanwhile.
	Lock *HostLock
}

// Stage says what a sweep is doing.
type Stage string

const (
	Preparing Stage = "preparing" // calibration
	WarmingUp Stage = "warm-up"
	Running   Stage = "running"
	Cooling   Stage = "cool-down"
)

// Progress is how far a sweep is.
type Progress struct {
	Stage         Stage
	Level, Levels int // counted from 1; Levels is 0 for a search
	Load          float64
	Mode          capacity.Mode
	Repeat        int // 0 for the first run of a level
	Done, Total   int // requests; Total is 0 if time ends the level
	InFlight      int
	Rate          float64       // requests finished a second
	Errors        int           // finished, but not ok
	Left          time.Duration // of the stage, estimated; 0 is unknown
}

// Result is a finished sweep.
type Result struct {
	Report capacity.Report
	Cost   Cost
	// HoldOff is how long the model should be left alone after a refusal at
	// the last level; 0 if there was none.
	HoldOff time.Duration
}

// Cost is what a sweep has used: warm-up and calibration included, tokens as
// the endpoint reported them.
type Cost struct {
	Requests                  int
	InputTokens, OutputTokens int64
	// Outcomes of all requests but those of the calibration.
	Outcomes map[probe.Outcome]int
}
