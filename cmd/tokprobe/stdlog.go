package main

import (
	"bytes"
	"io"
)

// maxStdLine bounds a line of the standard logger.
const maxStdLine = 300

// stdLog takes what the standard library writes to its own logger. net/http
// quotes bytes of an endpoint there, kilobytes of them, which may repeat a key:
// what follows its own words is left out.
type stdLog struct{ w io.Writer }

// Write implements io.Writer. It gets one line a call.
func (l stdLog) Write(p []byte) (int, error) {
	line := bytes.TrimRight(p, "\n")
	if words, _, quoted := bytes.Cut(line, []byte(" starting with ")); quoted {
		line = words
	}
	line = line[:min(len(line), maxStdLine)]
	if _, err := l.w.Write(append(bytes.Clone(line), '\n')); err != nil {
		return 0, err
	}
	return len(p), nil
}
