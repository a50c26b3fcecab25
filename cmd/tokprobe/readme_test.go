package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

var update = flag.Bool("update", false, "write the generated parts of committed files")

// TestReadmeTables holds the generated tables of the README against their
// sources, byte for byte: `go test ./cmd/tokprobe -run Readme -update` writes them.
func TestReadmeTables(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range map[string]string{"outcomes": outcomeTable(), "metrics": catalog.Markdown()} {
		begin := strings.Index(text, "<!-- "+name+":")
		end := strings.Index(text, "<!-- /"+name+" -->")
		if begin < 0 || end < begin {
			t.Fatalf("README.md has no place marked for the table of %s", name)
		}
		begin += strings.Index(text[begin:], "\n") + 1
		want := "\n" + table + "\n"
		if text[begin:end] != want && !*update {
			t.Errorf("README.md: the table of %s is out of date; run: go test ./cmd/tokprobe -run Readme -update", name)
		}
		text = text[:begin] + want + text[end:]
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outcomeTable is the README's table of outcomes: the hint of each is the very
// text that a failed probe prints, with the generic values of a bare result.
func outcomeTable() string {
	var b strings.Builder
	b.WriteString("| kind | in SLOs | outcome | what to do |\n| --- | --- | --- | --- |\n")
	inSLO := map[probe.Kind]string{
		probe.KindOK: "good, or bad where a latency misses its threshold", probe.KindService: "bad for every SLI",
		probe.KindAnswer: "bad for `success` only", probe.KindOurs: "excluded",
	}
	for _, o := range probe.Outcomes() {
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", o.Kind(), inSLO[o.Kind()], o, strings.ReplaceAll(probe.Advice(o), "|", `\|`))
	}
	return b.String()
}
