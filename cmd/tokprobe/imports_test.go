package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// below lists, for each package of this module, which of the others it may
// import: imports go down only. Test files are free, as are the two folders
// that exist for tests and for people at the top of the tree.
var below = map[string]string{
	"probe/wire":       "",
	"probe":            "probe/wire",
	"probe/slo":        "probe probe/wire",
	"probe/roster":     "probe/capacity probe/slo probe probe/wire",
	"probe/capacity":   "probe/slo probe probe/wire",
	"probe/admit":      "probe/roster probe/slo probe probe/wire",
	"probe/sweep":      "probe/roster probe/capacity probe/slo probe probe/wire",
	"probe/schedule":   "probe/admit probe/sweep probe/roster probe/capacity probe/slo probe probe/wire",
	"probe/sim":        "probe/wire",
	"probe/probetest":  "probe probe/wire",
	"exporter/catalog": "probe/slo probe",
	"exporter":         "exporter/catalog probe/roster probe/capacity probe/slo probe probe/wire",
	"exporter/otlp":    "probe/roster probe",
	"exporter/report":  "exporter/catalog probe/roster probe/capacity probe/slo probe probe/wire",
	"configs":          "probe/roster probe/capacity probe/slo probe probe/wire",
	"dashboards":       "exporter/catalog",
	"deploy":           "exporter/catalog probe/roster probe/slo probe",
}

// forbidden are outside modules that the measuring packages must not know.
var forbidden = []string{"gopkg.in/yaml", "go.yaml.in", "go.uber.org/zap", "github.com/go-co-op/gocron", "github.com/prometheus"}

// TestImportsGoDown parses the imports itself: `go list` inside a test is
// cached and would stay green after a change elsewhere.
func TestImportsGoDown(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") || rel == "deploy/tests" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		files++
		checkImports(t, rel, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d Go files found: the test looks in the wrong place", files)
	}
}

func checkImports(t *testing.T, rel, path string) {
	t.Helper()
	pkg := filepath.ToSlash(filepath.Dir(rel))
	if strings.HasPrefix(pkg, "cmd/") {
		return
	}
	allowed, known := below[pkg]
	if !known {
		t.Errorf("%s: package %s is not in the table of imports", rel, pkg)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	measuring := strings.HasPrefix(pkg, "probe") && pkg != "probe/schedule"
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if in, ok := strings.CutPrefix(name, "tokprobe/"); ok {
			if !contains(strings.Fields(allowed), in) {
				t.Errorf("%s imports %s, which is not below %s", rel, in, pkg)
			}
			continue
		}
		if measuring {
			for _, bad := range forbidden {
				if strings.HasPrefix(name, bad) {
					t.Errorf("%s imports %s: the measuring packages know no YAML, zap, gocron or Prometheus", rel, name)
				}
			}
		}
		if pkg == "probe/wire" && strings.Contains(strings.SplitN(name, "/", 2)[0], ".") {
			t.Errorf("%s imports %s: wire needs the standard library only", rel, name)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
