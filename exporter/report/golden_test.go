package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"tokprobe/probe/capacity"
)

var update = flag.Bool("update", false, "rewrite the files under testdata")

// frozen reads a report from testdata, where -update puts what build makes. So
// a sentence that package capacity words anew changes no file here.
func frozen(t *testing.T, name string, build func() capacity.Report) capacity.Report {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	if *update {
		var b bytes.Buffer
		if err := build().WithoutSamples().Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := capacity.ReadReport(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it); got:\n%s", path, got)
	}
}

func render(t *testing.T, format string, r capacity.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	short := []string{"text", "markdown", "csv"}
	for _, c := range []struct {
		name    string
		build   func() capacity.Report
		formats []string
	}{
		{"gateway", gateway, Formats()},
		{"rates", rates, Formats()},
		{"hostile", hostile, Formats()},
		{"failed", allFailed, short},
		{"one", oneLevel, short},
	} {
		r := frozen(t, c.name, c.build)
		for _, format := range c.formats {
			if format == "json" {
				continue // the input of the others; see TestJSON
			}
			golden(t, c.name+"."+format, render(t, format, r))
		}
	}
	for _, format := range Formats() {
		golden(t, "empty."+format, render(t, format, capacity.Report{}))
	}
}

func TestGoldenComparison(t *testing.T) {
	for _, format := range ComparisonFormats() {
		for name, c := range map[string]capacity.Comparison{"moved": movedComparison(), "same": {Rows: movedComparison().Rows[4:5]}, "none": {}} {
			var b bytes.Buffer
			if err := WriteComparison(&b, format, c); err != nil {
				t.Fatal(err)
			}
			golden(t, "comparison-"+name+"."+format, b.Bytes())
		}
	}
}
