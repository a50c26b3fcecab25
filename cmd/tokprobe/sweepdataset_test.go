//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"tokprobe/probe/capacity"
)

// TestSweepDatasetPipe: a FIFO, as of <(zcat …), is a data set.
func TestSweepDatasetPipe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "prompts")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(fifo, []byte("{\"prompt\": \"one\"}\n{\"prompt\": \"two\"}\n"), 0o600) }()
	code, out, errs := tokprobe(t, nil, short(quick(t), "--concurrency", "1", "--format", "json", "--dataset", fifo)...)
	r, err := capacity.ReadReport(strings.NewReader(out))
	if code != exitOK || err != nil || <-written != nil {
		t.Fatalf("status %d, %v: %s", code, err, errs)
	}
	if want := "data set prompts: 2 prompts, 2 used"; r.Conditions.Prompt != want {
		t.Errorf("prompt %q, want %q", r.Conditions.Prompt, want)
	}
}

// TestSweepForecast: one line before the first request, with money only where
// the target has a price.
func TestSweepForecast(t *testing.T) {
	config := func(price string) string {
		path := filepath.Join(t.TempDir(), "c.yaml")
		text := "targets:\n  - {name: t, provider: openai, base_url: " + quick(t) + ", models: [sim-fast]" + price + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		price, repeats, want string
	}{
		{"", "1", "forecast: up to 19 requests, 893 tokens\n"},
		{", price: {currency: USD, input: 100, output: 25000}", "1", "forecast: up to 19 requests, 893 tokens, 1.98 USD\n"},
		{"", "3", "forecast: up to 19 requests, 893 tokens, and repeats of the levels around the knee\n"},
	} {
		args := []string{"sweep", "--config.file", config(tt.price), "--concurrency", "1,2", "--requests", "8", "--max-tokens", "4", "--cool-down", "0s", "--repeats", tt.repeats}
		code, _, errs := tokprobe(t, nil, args...)
		line := regexp.MustCompile(`forecast: .*\n`).FindString(errs)
		if code != exitOK || line != tt.want {
			t.Errorf("status %d, %q, want %q in %s", code, line, tt.want, errs)
		}
	}
}

// TestSweepDatasetKinds: what has no end, or no text, is not opened.
func TestSweepDatasetKinds(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		"/dev/zero":   "--dataset: /dev/zero is a device; name a JSON or JSONL file",
		dir:           "--dataset: " + dir + " is a folder; name a JSON or JSONL file",
		dir + "/none": "--dataset: open " + dir + "/none: no such file or directory",
	} {
		code, out, errs := tokprobe(t, nil, short("http://127.0.0.1:1", "--concurrency", "1", "--dataset", path)...)
		if code != exitUsage || out != "" || errs != "tokprobe: "+want+"\n" {
			t.Errorf("%s: status %d, want %s in %s", path, code, want, errs)
		}
	}
}
