package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// HostLock lets one sweep at a time load an endpoint from this machine: two of
// them would measure each other. It is a lock on a file named after host and
// port, so it holds between processes (a daemon and a sweep by hand) as well
// as within one, and goes away with the process. A nil HostLock locks nothing.
type HostLock struct {
	Dir string // of the lock files; empty means the system's for temporary files
}

// BusyError is an endpoint that another sweep holds.
type BusyError struct{ Host string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("another sweep is loading %s from this machine: wait until it is done, since two would measure each other", e.Host)
}

// Acquire takes the lock of a base URL's host and port, or returns a
// *BusyError. Where there is no folder to keep lock files in, nothing is
// locked and the sweep may run.
func (l *HostLock) Acquire(baseURL string) (release func(), err error) { return l.acquire(baseURL) }

func (l *HostLock) acquire(baseURL string) (func(), error) {
	none := func() {}
	if l == nil {
		return none, nil
	}
	host := hostPort(baseURL)
	dir := l.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	sum := sha256.Sum256([]byte(host))
	path := filepath.Join(dir, "tokprobe-sweep-"+hex.EncodeToString(sum[:8])+".lock")
	// Opening before creating: in a shared temporary folder the system may
	// refuse to create what another user already owns.
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		if f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644); err != nil {
			return none, nil
		}
	}
	free, err := tryLock(f)
	if err != nil || !free {
		_ = f.Close()
		if err == nil {
			return nil, &BusyError{host}
		}
		return none, nil
	}
	return func() { _ = f.Close() }, nil // closing unlocks; the file stays
}

// hostPort is the host and port that a base URL leads to.
func hostPort(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
