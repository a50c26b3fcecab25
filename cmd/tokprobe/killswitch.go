package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"

	"go.uber.org/zap"
)

// killSwitch stops sweeps: what is due is skipped (reason disabled), what runs
// is aborted. It is thrown by POST /-/sweeps/stop, until /-/sweeps/resume, or
// by a file, while that exists. Probes go on: they are cheap, and the eyes of
// whoever throws the switch. They have a switch of their own
// (/-/probes/stop), which a restart undoes.
type killSwitch struct {
	mu      sync.Mutex
	thrown  bool
	file    string
	changed func() // called after every throw and release; may be nil
}

// set throws or releases the switch by hand.
func (k *killSwitch) set(thrown bool) {
	k.mu.Lock()
	k.thrown = thrown
	changed := k.changed
	k.mu.Unlock()
	if changed != nil {
		changed()
	}
}

func (k *killSwitch) setFile(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.file = path
}

// byHand tells whether the switch was thrown by POST.
func (k *killSwitch) byHand() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.thrown
}

// on returns why sweeps are stopped, empty if they are not. A file that cannot
// be looked at stops them too: the switch fails to the safe side.
func (k *killSwitch) on() string {
	k.mu.Lock()
	thrown, file := k.thrown, k.file
	k.mu.Unlock()
	if thrown {
		return "stopped by POST /-/sweeps/stop"
	}
	if file == "" {
		return ""
	}
	_, err := os.Stat(file)
	switch {
	case err == nil:
		return "the kill switch file " + file + " exists"
	case errors.Is(err, fs.ErrNotExist):
		return ""
	}
	return "the kill switch file cannot be looked at: " + err.Error()
}

// switches are the paths that stop, resume and run; the page guards them.
func (d *daemon) switches() map[string]http.Handler {
	handle := func(did string, do func()) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			do()
			d.log.Warn(did, zap.String("by", r.RemoteAddr))
			fmt.Fprintln(w, did)
		})
	}
	return map[string]http.Handler{
		"/-/sweeps/stop": handle("sweeps are stopped until POST /-/sweeps/resume", func() { d.kill.set(true) }),
		"/-/sweeps/resume": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			d.kill.set(false)
			d.log.Warn("sweeps resumed", zap.String("by", r.RemoteAddr))
			if why := d.kill.on(); why != "" {
				http.Error(w, "sweeps are still stopped: "+why, http.StatusConflict)
				return
			}
			fmt.Fprintln(w, "sweeps resumed")
		}),
		"/api/v1/sweeps/{name}/run": http.HandlerFunc(d.runSweep),
		"/api/v1/probes/{name}/run": http.HandlerFunc(d.runProbes),
		"/-/probes/stop":            handle("probes are stopped until POST /-/probes/resume or a restart", d.sched.Stop),
		"/-/probes/resume":          handle("probes resumed", d.sched.Resume),
	}
}
