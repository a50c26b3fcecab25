package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// runDashboards runs the command and returns status, stdout and stderr.
func runDashboards(args ...string) (int, string, string) {
	var out, errOut bytes.Buffer
	code := run(context.Background(), append([]string{"dashboards"}, args...), console{out: &out, err: &errOut})
	return code, out.String(), errOut.String()
}

// TestDashboards: the command writes exactly the committed files.
func TestDashboards(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for _, format := range []string{"json", "configmap"} {
		if code, out, errOut := runDashboards("--out", dir, "--format", format); code != 0 || !strings.Contains(out, dir) {
			t.Fatalf("%s: status %d, %q, %q", format, code, out, errOut)
		}
	}
	for _, name := range []string{"overview.json", "target.json", "sweeps.json", "prober.json", "configmap.yaml"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		want, err2 := os.ReadFile(filepath.Join("..", "..", "dashboards", name))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the committed one (%v, %v)", name, err, err2)
		}
	}
}

// TestDashboardsConfigMap reads the manifest back as YAML: the label is there
// and each entry is the file, byte for byte.
func TestDashboardsConfigMap(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "dashboards", "configmap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Kind     string
		Metadata struct{ Labels map[string]string }
		Data     map[string]string
	}
	if err := yaml.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Kind != "ConfigMap" || manifest.Metadata.Labels["grafana_dashboard"] != "1" || len(manifest.Data) != 4 {
		t.Errorf("kind %q, labels %v, %d entries", manifest.Kind, manifest.Metadata.Labels, len(manifest.Data))
	}
	for name, text := range manifest.Data {
		want, err := os.ReadFile(filepath.Join("..", "..", "dashboards", strings.TrimPrefix(name, "tokprobe-")))
		if err != nil || text != string(want) {
			t.Errorf("%s is not the file (%v)", name, err)
		}
	}
	if len(data) > 1<<20 {
		t.Errorf("%d bytes: Kubernetes takes no ConfigMap over 1 MiB", len(data))
	}
}

func TestDashboardsBadOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := runDashboards("--out", file)
	if code != exitFail || out != "" || !strings.Contains(errOut, "--out: ") || !strings.Contains(errOut, file) {
		t.Errorf("status %d, %q, %q: want %d and an error that names the folder", code, out, errOut, exitFail)
	}
}

func TestDashboardsBadRunbook(t *testing.T) {
	for _, give := range []string{"RUNBOOK.md", "javascript:alert(1)", "https://", "ftp://a/b"} {
		code, _, errOut := runDashboards("--out", t.TempDir(), "--runbook-url", give)
		if code != exitUsage || !strings.Contains(errOut, "--runbook-url") {
			t.Errorf("%s: status %d, %q", give, code, errOut)
		}
	}
}
