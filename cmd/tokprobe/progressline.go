package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tokprobe/probe/sweep"
)

// progressLine is one line of a terminal that is written over and over.
type progressLine struct {
	out io.Writer

	mu    sync.Mutex
	width int // of what stands there
}

// newProgressLine returns nil where out is no terminal: logs and pipes are
// spared.
func newProgressLine(out io.Writer) *progressLine {
	file, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progressLine{out: out}
}

func (l *progressLine) show(p sweep.Progress) { l.write(progressText(p)) }

func (l *progressLine) clear() {
	if l != nil {
		l.write("")
		fmt.Fprint(l.out, "\r")
	}
}

func (l *progressLine) write(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := utf8.RuneCountInString(text)
	fmt.Fprint(l.out, "\r", text, strings.Repeat(" ", max(0, l.width-n)))
	l.width = n
}

// progressText is such a line: "level 3/5 (8 streams)  37/50 done, 8 in
// flight, 6.1/s, 0 failed, 2s left".
func progressText(p sweep.Progress) string {
	var b strings.Builder
	if p.Level == 0 {
		return string(p.Stage)
	}
	fmt.Fprintf(&b, "level %d", p.Level)
	if p.Levels > 0 {
		fmt.Fprintf(&b, "/%d", p.Levels)
	}
	unit := "streams"
	if p.Mode == "rate" {
		unit = "requests/s"
	}
	fmt.Fprintf(&b, " (%g %s", p.Load, unit)
	if p.Repeat > 0 {
		fmt.Fprintf(&b, ", run %d", p.Repeat+1)
	}
	b.WriteString(")  ")
	if p.Stage != sweep.Running {
		b.WriteString(string(p.Stage))
	} else {
		fmt.Fprintf(&b, "%d", p.Done)
		if p.Total > 0 {
			fmt.Fprintf(&b, "/%d", p.Total)
		}
		fmt.Fprintf(&b, " done, %d in flight, %.3g/s, %d failed", p.InFlight, p.Rate, p.Errors)
	}
	if p.Left > 0 {
		fmt.Fprintf(&b, ", %s left", p.Left.Round(time.Second))
	}
	return b.String()
}
