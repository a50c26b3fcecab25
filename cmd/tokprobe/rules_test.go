package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesCommand: both formats, to standard output and to a file.
func TestRulesCommand(t *testing.T) {
	const example = "../../configs/example.yaml"
	committed, err := os.ReadFile("../../deploy/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := tokprobe(t, nil, "rules", "--config.file", example)
	if code != exitOK || stdout != string(committed) || stderr != "" {
		t.Errorf("exit %d, stderr %q; standard output is deploy/rules.yaml: %v", code, stderr, stdout == string(committed))
	}
	out := filepath.Join(t.TempDir(), "rules.yaml")
	code, stdout, stderr = tokprobe(t, nil, "rules", "--config.file", example, "--format", "operator", "--out", out)
	data, err := os.ReadFile(out)
	if code != exitOK || stdout != "" || stderr != "" || err != nil {
		t.Fatalf("exit %d, stdout %q, stderr %q, %v", code, stdout, stderr, err)
	}
	if !strings.Contains(string(data), "\nkind: PrometheusRule\n") {
		t.Errorf("no PrometheusRule:\n%.200s", data)
	}
}

// TestRulesReplaceInOneStep: where rules cannot be made the old file stays, and
// no other is left behind.
func TestRulesReplaceInOneStep(t *testing.T) {
	dir := t.TempDir()
	out, bad := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte("targets: [{name: t, provider: openai, base_url: http://h, models: ['{{ x }}']}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"rules", "--config.file", bad, "--out", out},
		{"rules", "--config.file", "../../configs/example.yaml", "--grafana-url", "http://h/{{ x }}", "--out", out},
		{"rules", "--config.file", "../../configs/example.yaml", "--out", filepath.Join(dir, "none", "rules.yaml")},
	} {
		code, _, stderr := tokprobe(t, nil, args...)
		if code != exitFail || stderr == "" {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
	}
	if data, _ := os.ReadFile(out); string(data) != "old" {
		t.Errorf("the old file was touched: %q", data)
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("files left behind: %v", list)
	}
}

// TestRulesWarns: a promise that no window can see is a warning beside the file.
func TestRulesWarns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokprobe.yaml")
	text := "targets: [{name: t, provider: openai, base_url: http://h, models: [m]}]\nprobes: [{name: chat, every: 1d, slo: s}]\nslos: [{name: s, success: 99.5%}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := tokprobe(t, nil, "rules", "--config.file", path)
	want := "no window can see SLO s, success 99.5% with probe chat every 24h0m0s"
	if code != exitOK || !strings.Contains(stderr, want) || !strings.Contains(stdout, "# WARNING: "+want) {
		t.Errorf("exit %d, stderr %q\n%.600s", code, stderr, stdout)
	}
}
