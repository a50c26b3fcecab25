package probe_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
)

// wallClock are the methods and functions of package time that read a time as
// wall time or take its monotonic part away. A difference of two times that
// went through one of them jumps with the clock of the machine.
var wallClock = []string{"Unix", "UnixMilli", "UnixMicro", "UnixNano", "Round", "Truncate", "In", "Local", "AddDate", "UTC", "Date", "Parse", "ParseTime", "ParseInLocation"}

// wallAllowed are the places that mean the wall clock: what an endpoint says as
// a date, and the start of a probe as people read it.
var wallAllowed = map[string][]string{
	"headers.go": {"UnixMilli", "ParseTime", "Parse"},
	"json.go":    {"UTC", "Round"},
	"hint.go":    {"Round"},
	"tally.go":   {"Round"},
	"sizefit.go": {"Round"},
}

// TestClockJump: no measured time knows the wall clock, so that a jump of it (a
// step by NTP, a resumed machine) moves none. The clock of a process cannot be
// moved from inside; its sources can be read.
func TestClockJump(t *testing.T) {
	//lint:ignore SA1019 the files of one folder, whatever their build tags, are all that is wanted
	packages, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, file := range packages["probe"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(wallClock, s.Sel.Name) {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && (x.Name == "url" || x.Name == "json") {
				return true // url.Parse
			}
			seen++
			if !slices.Contains(wallAllowed[name], s.Sel.Name) {
				t.Errorf("%s: %s reads the wall clock", name, s.Sel.Name)
			}
			return true
		})
	}
	if seen < 5 {
		t.Errorf("only %d places found: the test looks in the wrong place", seen)
	}
}

// TestTimesHaveMonotonicParts: the one time that a Result keeps beside its
// durations still holds the monotonic clock, whoever subtracts from it.
func TestTimesHaveMonotonicParts(t *testing.T) {
	e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: &probetest.Script{Steps: steps(after(0, tok("a")+stop+done))}})
	if r := e.Probe(t.Context(), spec()); !strings.Contains(r.Start.String(), "m=") {
		t.Errorf("start %s", r.Start)
	}
}
