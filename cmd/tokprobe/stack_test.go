package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kingpin/v2"
	"gopkg.in/yaml.v3"

	"tokprobe/configs"
	"tokprobe/deploy"
)

// Tests of the files under deploy against the program they start.

// TestStackRules holds the committed rules of the stacks against what
// `tokprobe rules` makes of their configurations:
// `go test ./cmd/tokprobe -run StackRules -update` writes them.
func TestStackRules(t *testing.T) {
	demo := strings.ReplaceAll(demoYAML, "@SIM@", "http://127.0.0.1:9817")
	base, err := os.ReadFile(filepath.Join("..", "..", "deploy", "kubernetes", "base", "tokprobe.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		config, path string
		render       func(deploy.RuleFile) ([]byte, error)
	}{
		{demo, "deploy/compose/rules.yaml", deploy.RuleFile.YAML},
		{string(base), "deploy/kubernetes/base/prometheusrule.yaml", deploy.RuleFile.Operator},
	} {
		cfg, err := configs.Parse([]byte(tt.config), configs.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		file, err := deploy.Rules(cfg.Roster(), deploy.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		want, err := tt.render(file)
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		path := filepath.Join("..", "..", filepath.FromSlash(tt.path))
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v); run: go test ./cmd/tokprobe -run StackRules -update", tt.path, err)
		}
	}
}

// TestStackCommandLines parses every command line by which the files under
// deploy and the Dockerfile start tokprobe, with the parser of the program.
func TestStackCommandLines(t *testing.T) {
	root := filepath.Join("..", "..")
	lines := map[string][][]string{
		"Dockerfile":                      {dockerCMD(t, filepath.Join(root, "Dockerfile"))},
		"deploy/systemd/tokprobe.service": execStarts(t, filepath.Join(root, "deploy/systemd/tokprobe.service")),
	}
	for _, pattern := range []string{"deploy/compose/*.yaml", "deploy/kubernetes/*/*.yaml", "deploy/kubernetes/*/*/*.yaml", "deploy/kubernetes/*/*/*/*.yaml"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			rel, _ := filepath.Rel(root, path)
			if found := yamlCommands(t, path); len(found) > 0 {
				lines[filepath.ToSlash(rel)] = found
			}
		}
	}
	for file, list := range lines {
		for _, args := range list {
			app := kingpin.New("tokprobe", "")
			app.Terminate(nil)
			app.UsageWriter(io.Discard).ErrorWriter(io.Discard)
			serveCommand(app)
			if _, err := app.Parse(args); err != nil {
				t.Errorf("%s: tokprobe %s: %v", file, strings.Join(args, " "), err)
			}
		}
	}
	for _, file := range []string{"Dockerfile", "deploy/compose/compose.yaml", "deploy/compose/real.yaml", "deploy/kubernetes/base/deployment.yaml", "deploy/kubernetes/overlays/shards/statefulset.yaml", "deploy/systemd/tokprobe.service"} {
		if len(lines[file]) == 0 {
			t.Errorf("%s: no command line of tokprobe found: the test looks in the wrong place", file)
		}
	}
}

func dockerCMD(t *testing.T, path string) []string {
	t.Helper()
	for _, line := range readLines(t, path) {
		if text, ok := strings.CutPrefix(line, "CMD "); ok {
			var args []string
			if err := json.Unmarshal([]byte(text), &args); err != nil {
				t.Fatalf("%s: CMD is not a JSON list: %v", path, err)
			}
			return args
		}
	}
	return nil
}

func execStarts(t *testing.T, path string) (list [][]string) {
	t.Helper()
	joined := strings.ReplaceAll(strings.Join(readLines(t, path), "\n"), "\\\n", " ")
	for line := range strings.Lines(joined) {
		if text, ok := strings.CutPrefix(line, "ExecStart="); ok {
			list = append(list, strings.Fields(text)[1:])
		}
	}
	return list
}

// yamlCommands finds lists that begin with "serve", and single flags that a
// patch adds to one.
func yamlCommands(t *testing.T, path string) (list [][]string) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(readLines(t, path), "\n")), &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Value == "serve" {
			var args []string
			for _, c := range n.Content {
				args = append(args, c.Value)
			}
			list = append(list, args)
		}
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == "value" && strings.HasPrefix(n.Content[i+1].Value, "--") {
					list = append(list, []string{"serve", n.Content[i+1].Value})
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(&doc)
	return list
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.SplitSeq(string(data), "\n"))
}
