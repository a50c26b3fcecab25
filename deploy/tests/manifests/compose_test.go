package manifests

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads compose files as `docker compose` does: schema, merge, defaults.
func load(t *testing.T, names ...string) *types.Project {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join("..", "..", "compose", name))
	}
	options, err := cli.NewProjectOptions(paths)
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatalf("%v: %v", names, err)
	}
	return project
}

func TestCompose(t *testing.T) {
	p := load(t, "compose.yaml")
	names := p.ServiceNames()
	slices.Sort(names)
	if want := []string{"alertmanager", "grafana", "prometheus", "tokprobe"}; !slices.Equal(names, want) {
		t.Errorf("services %v, want %v", names, want)
	}
	s := p.Services["tokprobe"]
	if !slices.Contains(s.Command, "--demo") || s.Build == nil || !s.ReadOnly || s.User != "65532:65532" {
		t.Errorf("tokprobe: command %v, build %v, read_only %v, user %q", s.Command, s.Build, s.ReadOnly, s.User)
	}
}

// TestComposeReal: the second file replaces the demo and takes nothing of the
// hardening away.
func TestComposeReal(t *testing.T) {
	s := load(t, "compose.yaml", "real.yaml").Services["tokprobe"]
	if slices.Contains(s.Command, "--demo") || !slices.Contains(s.Command, "--config.file=/etc/tokprobe/tokprobe.yaml") {
		t.Errorf("command %v", s.Command)
	}
	if !s.ReadOnly || s.User != "65532:65532" || len(s.Volumes) != 3 {
		t.Errorf("read_only %v, user %q, %d volumes; want 3", s.ReadOnly, s.User, len(s.Volumes))
	}
	rules := load(t, "compose.yaml", "real.yaml").Services["prometheus"].Volumes
	sources := map[string]string{}
	for _, v := range rules {
		sources[v.Target] = filepath.Base(v.Source)
	}
	if got := sources["/etc/prometheus/rules.yaml"]; got != "my-rules.yaml" || len(rules) != 3 {
		t.Errorf("rules come from %q of %d mounts, want my-rules.yaml of 3", got, len(rules))
	}
}
