package deploy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReproducible builds the same source in two folders by the very command
// of the Dockerfile and wants the same bytes: only then can anybody check that
// a binary was made from the source it claims.
func TestReproducible(t *testing.T) {
	if testing.Short() || os.Getenv("TOKPROBE_REPRODUCIBLE") == "" {
		t.Skip("SKIPPED: two builds of the program; set TOKPROBE_REPRODUCIBLE=1 to run it, as CI does")
	}
	build := buildCommand(t)
	var sums, places []string
	for _, name := range []string{"a", "somewhere/else"} {
		dir := filepath.Join(t.TempDir(), filepath.FromSlash(name))
		copySource(t, dir)
		out := filepath.Join(dir, "out")
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(build, "/out/tokprobe", out))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "VERSION=1.2.3", "REVISION=abc", "DATE=2026-01-02T03:04:05Z", "GOFLAGS=", "GOWORK=off")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", build, err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), dir) {
			t.Errorf("the binary names the folder it was built in, %s", dir)
		}
		sum := sha256.Sum256(data)
		sums, places = append(sums, hex.EncodeToString(sum[:])), append(places, out)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of one source differ: %s and %s", sums[0], sums[1])
	}
	version, err := exec.Command(places[0], "--version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version 1.2.3", "revision: abc", "2026-01-02T03:04:05Z"} {
		if !strings.Contains(string(version), want) {
			t.Errorf("--version lacks %q:\n%s", want, version)
		}
	}
	t.Logf("sha256 %s", sums[0])
}

// buildCommand is the Dockerfile's.
func buildCommand(t *testing.T) string {
	t.Helper()
	text := strings.ReplaceAll(read(t, "Dockerfile"), "\\\n", " ")
	m := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatal("the Dockerfile has no line RUN CGO_ENABLED=0 go build …")
	}
	return m[1]
}

// copySource copies what the build reads: everything but hidden folders, tests,
// their data and other modules.
func copySource(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || filepath.ToSlash(rel) == "deploy/tests") {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if strings.HasSuffix(rel, "_test.go") || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 4<<20 {
			return err // a binary that somebody built in the tree
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
