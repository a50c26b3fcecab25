package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/bad-*.txt anew")

// TestBad: every file that breaks a rule gives exactly the messages beside it.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad-*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad files, %v: the test looks in the wrong place", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			cfg, err := Load(file, Options{LookupEnv: noEnv})
			var problems Problems
			if !errors.As(err, &problems) || cfg != nil || len(problems) == 0 {
				t.Fatalf("Load = %v, %v; want no configuration and Problems", cfg, err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			got := err.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("messages:\n%s\nwant:\n%s", got, want)
			}
			if strings.Contains(got, "planted") {
				t.Errorf("a secret is in a message:\n%s", got)
			}
		})
	}
}

// TestTenMistakes: ten mistakes, ten messages, each at its own path.
func TestTenMistakes(t *testing.T) {
	_, err := Load("testdata/bad-ten.yaml", Options{LookupEnv: noEnv})
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	want := "targets[0].name targets[0].provider targets[0].base_url targets[0].models targets[1].follow_redirects " +
		"prompts[0].max_tokens probes[0].prompt probes[1].timeouts slos[0].success sweep"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("paths = %s\nwant    %s", got, want)
	}
}
