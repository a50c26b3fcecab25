package sweep

import (
	"bufio"
	"bytes"
	"errors"
	"sort"
)

var errLongLine = errors.New("line too long")

// lineCounter reads a file and knows at which line each of its bytes is.
type lineCounter struct {
	r      *bufio.Reader
	number int     // lines skipped by peek or read by line
	offset int64   // bytes read by Read
	breaks []int64 // offsets of the line feeds among them
}

// peek skips blank bytes and a byte order mark, and returns the first other byte.
func (c *lineCounter) peek() (byte, error) {
	if mark, err := c.r.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = c.r.Discard(3)
	}
	for {
		next, err := c.r.Peek(1)
		if err != nil {
			return 0, err
		}
		switch next[0] {
		case '\n':
			c.number++
		case ' ', '\t', '\r':
		default:
			return next[0], nil
		}
		_, _ = c.r.Discard(1)
	}
}

// line returns the next line and its number, counted from 1. One that is
// longer than maxEntry is skipped with errLongLine.
func (c *lineCounter) line() (text []byte, number int, err error) {
	c.number++
	long := false
	for {
		piece, err := c.r.ReadSlice('\n')
		if long = long || len(text)+len(piece) > maxEntry; long {
			text = nil
		} else {
			text = append(text, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil && long:
			err = errLongLine
		}
		return text, c.number, err
	}
}

// Read implements io.Reader for a JSON decoder.
func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.offset+int64(i))
		}
	}
	c.offset += int64(n)
	return n, err
}

// lineAt is the line of a byte that Read has delivered.
func (c *lineCounter) lineAt(offset int64) int {
	return 1 + c.number + sort.Search(len(c.breaks), func(i int) bool { return c.breaks[i] >= offset })
}
