package deploy_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependencies: each direct module has a full line in the table, and the
// table has no other.
func TestDependencies(t *testing.T) {
	var want []string
	for line := range strings.Lines(read(t, "go.mod")) {
		words := strings.Fields(line)
		if len(words) == 2 && strings.HasPrefix(line, "\t") {
			want = append(want, words[0])
		}
	}
	slices.Sort(want)
	if len(want) < 10 {
		t.Fatalf("%d direct modules found in go.mod, want at least 10", len(want))
	}
	// module, what for, why, licence, KiB
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| [^|]+ \\| (?:MIT|Apache-2.0|BSD-3-Clause|MIT and Apache-2.0) \\| \\d+ \\|$")
	var got []string
	for _, m := range row.FindAllStringSubmatch(read(t, "deploy/DEPENDENCIES.md"), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the table of DEPENDENCIES.md lists\n%s\ngo.mod\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
