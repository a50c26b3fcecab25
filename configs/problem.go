package configs

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a configuration, or doubtful.
type Problem struct {
	Path    string // targets[0].models; empty for the file as a whole
	Value   string // what stands there, bounded; never a secret; may be empty
	Message string // what is wrong and what to write instead
	Line    int    // 1 is the first; 0 is unknown
}

// Error gives the problem in one line: path, line, value, mend.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Path != "" {
		b.WriteString(p.Path)
	} else {
		b.WriteString("config")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, " (line %d)", p.Line)
	}
	b.WriteString(": ")
	if p.Value != "" {
		fmt.Fprintf(&b, "%s: ", p.Value)
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is every problem of one configuration, in the order of the file. It
// is the error of Load, Parse, FromEnv and Adhoc.
type Problems []Problem

// Error gives one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// shownBytes bounds a value that is repeated in a message.
const shownBytes = 80

// quote makes a value of the file fit for a message: quoted, one line, bounded.
func quote(s string) string {
	if len(s) > shownBytes {
		s = strings.ToValidUTF8(s[:shownBytes], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}

// nearest returns the candidate that is likeliest meant by word, or "" if none
// is near: at most a third of the letters differ, of one or two letters none.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", 1<<30
	for _, c := range candidates {
		d := distance(strings.ToLower(word), strings.ToLower(c))
		if d < bestDistance || d == bestDistance && c < best {
			best, bestDistance = c, d
		}
	}
	if bestDistance > max(len(word), len(best))/3 {
		return ""
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour to get from a to b. Both are cut to 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
