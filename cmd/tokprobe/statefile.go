package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stateFormat is the version of the file. A file of another version counts as
// damaged: half-understood spend is worse than none.
const stateFormat = 1

// maxStateFile bounds what is read; a thousand sweeps are about 10 MB.
const maxStateFile = 64 << 20

// envelope is the file: the state as it was written, and its checksum, so
// that a torn or edited file is not taken for a record of money spent.
type envelope struct {
	Format int             `json:"format"`
	SHA256 string          `json:"sha256"` // of the bytes of state
	State  json.RawMessage `json:"state"`
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// writeState replaces the file at once or not at all: a temporary file beside
// it, flushed to disk, takes its name. state is JSON without needless space.
func writeState(path string, state []byte) error {
	data, err := json.Marshal(envelope{stateFormat, checksum(state), state})
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	temp := path + ".tmp" // one name: a crash leaves one file, not a pile
	if err := writeSynced(temp, append(data, '\n')); err != nil {
		os.Remove(temp) //nolint:errcheck // it may be what fills the disk
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(dir)
}

func writeSynced(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the new name last. Not every file system can; the data is
// safe by then.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	d.Sync() //nolint:errcheck // see above
	return nil
}

// readState returns the state in the file, nil if there is no file. A file that
// cannot be trusted is an error.
func readState(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStateFile+1))
	var e envelope
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxStateFile:
		return nil, fmt.Errorf("is larger than %d MiB", maxStateFile>>20)
	case len(data) == 0:
		return nil, errors.New("is empty")
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	switch {
	case e.Format != stateFormat:
		return nil, fmt.Errorf("has format %d, this version reads %d", e.Format, stateFormat)
	case e.SHA256 != checksum(e.State):
		return nil, errors.New("does not match its checksum")
	}
	return e.State, nil
}

// setAside renames a damaged file so that a human can look at it and the next
// save does not destroy it; it returns the new name.
func setAside(path string, now time.Time) (string, error) {
	aside := path + ".damaged-" + now.UTC().Format("20060102T150405Z")
	return aside, os.Rename(path, aside)
}
