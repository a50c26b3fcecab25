package main

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.uber.org/zap"

	"tokprobe/probe/admit"
)

// saveEvery bounds how often the state file is written, and so how much spend
// a kill -9 forgets.
const saveEvery = 5 * time.Second

// savedState is what outlives a restart.
type savedState struct {
	Ledger []admit.Entry `json:"ledger"`
	// SweepsStopped is the kill switch as thrown by POST: a restart must not
	// set loose what a human has stopped.
	SweepsStopped bool         `json:"sweeps_stopped,omitempty"`
	Sweeps        []savedSweep `json:"sweeps,omitempty"`
}

// collect gathers what is to be saved.
func (d *daemon) collect() savedState {
	return savedState{Ledger: d.sched.Ledger().Snapshot(), SweepsStopped: d.kill.byHand(), Sweeps: d.book.snapshot()}
}

// restore takes up what was saved.
func (d *daemon) restore(s savedState) {
	d.sched.Ledger().Restore(s.Ledger)
	d.book.restore(s.Sweeps)
	if s.SweepsStopped {
		d.kill.set(true)
		d.log.Warn("sweeps were stopped by hand before the restart and stay so until POST /-/sweeps/resume")
	}
}

// stateKeeper saves the state when it has changed. Without a path it does
// nothing.
type stateKeeper struct {
	path    string
	log     *zap.Logger
	collect func() savedState
	saved   func(ok bool) // counts each attempt

	mu      sync.Mutex
	written []byte // what the file holds
	failing bool
}

// restore reads the file and gives its state to take. What cannot be read is
// set aside and never fatal: the worst is a budget that begins anew today.
func (k *stateKeeper) restore(take func(savedState)) {
	if k.path == "" {
		return
	}
	data, err := readState(k.path)
	var s savedState
	if err == nil && data != nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		aside, moveErr := setAside(k.path, time.Now())
		k.log.Warn("the state file is damaged and set aside: today's budgets begin anew, results of sweeps are forgotten",
			zap.String("file", k.path), zap.Error(err), zap.String("set_aside_as", aside), zap.NamedError("rename_error", moveErr))
		return
	}
	if data == nil {
		return
	}
	take(s)
	k.mu.Lock()
	k.written = data
	k.mu.Unlock()
	k.log.Info("state restored", zap.String("file", k.path), zap.Int("ledger_lines", len(s.Ledger)))
}

// run saves every few seconds until ctx ends.
func (k *stateKeeper) run(ctx context.Context) {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.save()
		}
	}
}

// save writes what has changed. A failure is counted each time, logged when it
// begins and when it is over, and tried again with the next save.
func (k *stateKeeper) save() {
	if k == nil || k.path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	data, err := json.Marshal(k.collect())
	if err == nil && bytes.Equal(data, k.written) {
		return
	}
	if err == nil {
		err = writeState(k.path, data)
	}
	k.saved(err == nil)
	switch {
	case err != nil && !k.failing:
		k.log.Error("the state file cannot be written, a restart now would refill budgets; trying again every few seconds",
			zap.String("file", k.path), zap.Error(err))
	case err == nil && k.failing:
		k.log.Info("the state file is written again", zap.String("file", k.path))
	}
	k.failing = err != nil
	if err == nil {
		k.written = data
	}
}
