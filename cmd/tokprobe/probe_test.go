package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokprobe/probe/probetest"
)

// tokprobe runs the program in this process and returns its exit status and
// what it wrote.
func tokprobe(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	code = run(ctx, args, console{in: strings.NewReader(""), out: &out, err: &errs, env: func(k string) (string, bool) {
		v, ok := env[k]
		return v, ok
	}})
	return code, out.String(), errs.String()
}

// TestProbeJSONOfEveryWireCase sends the command itself to every recorded
// answer and compares each key that a recording says something about.
func TestProbeJSONOfEveryWireCase(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of real pauses; package probe replays the same cases")
	}
	cases, err := probetest.Load(filepath.Join("..", "..", "probe", "probetest", "testdata", "wire-cases"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 36 {
		t.Fatalf("%d wire cases, want 36", len(cases))
	}
	server, err := probetest.NewReplayer(cases)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close) // after the parallel subtests
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := tokprobe(t, nil, "probe", "--json", "--show-text", "--base-url", server.URL()+"/"+c.Name, "--protocol", c.Protocol, "--model", "m",
				"--timeout-first-token", "2s", "--timeout-stall", "1s", "--timeout", "5s")
			var got map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil || strings.Count(out, "\n") != 1 {
				t.Fatalf("not one JSON object on one line: %q %q", out, errs)
			}
			wantCode := exitFail
			if c.Expect.Outcome == "ok" {
				wantCode = exitOK
			}
			if code != wantCode {
				t.Errorf("exit status %d, want %d", code, wantCode)
			}
			for key, want := range expected(c) {
				if got[key] != want {
					t.Errorf("%s = %v, want %v", key, got[key], want)
				}
			}
			for key, segment := range map[string]*int{"ttft_s": c.Expect.TTFTSegment, "first_content_s": c.Expect.FirstContentSegment} {
				checkPlanned(t, got, key, c, segment)
			}
			if _, defined := got["tpot_s"]; defined != c.Expect.TPOTDefined {
				t.Errorf("tpot_s is there: %v, want %v", defined, c.Expect.TPOTDefined)
			}
		})
	}
}

// expected lists the keys of a recording's answer; nil is a key that must be
// absent.
func expected(c probetest.Case) map[string]any {
	e := c.Expect
	want := map[string]any{"outcome": e.Outcome, "http_status": float64(e.HTTPStatus), "protocol": c.Protocol, "output_tokens": nil, "connection": "fresh"}
	if e.OutputTokens > 0 || e.OutputTokensSource == "usage" { // no token event and no usage: unknown, so absent
		want["output_tokens"], want["output_tokens_source"] = float64(e.OutputTokens), e.OutputTokensSource
	}
	for key, v := range map[string]*int64{"prompt_tokens": e.PromptTokens, "cached_tokens": e.CachedTokens} {
		want[key] = nil
		if v != nil {
			want[key] = float64(*v)
		}
	}
	for key, v := range map[string]*string{"finish_reason": e.FinishReason, "text": e.Text, "reasoning_text": e.ReasoningText} {
		want[key] = nil
		if v != nil {
			want[key] = *v
		}
	}
	return want
}

// checkPlanned allows a measured time to be later than the recording's plan by
// what a loaded machine may add, never earlier.
func checkPlanned(t *testing.T, got map[string]any, key string, c probetest.Case, segment *int) {
	t.Helper()
	v, there := got[key].(float64)
	if there != (segment != nil) {
		t.Errorf("%s is there: %v, want %v", key, there, segment != nil)
		return
	}
	if segment == nil {
		return
	}
	const late = 400 * time.Millisecond
	planned := c.Planned(*segment)
	if took := time.Duration(v * float64(time.Second)); took < planned-time.Millisecond || took > planned+late {
		t.Errorf("%s = %v, planned %v", key, took, planned)
	}
}

func TestBadUsage(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // part of the message
	}{
		"no endpoint":       {[]string{"probe"}, "no endpoint is named"},
		"model missing":     {[]string{"probe", "--base-url", "http://h"}, "--base-url needs --model"},
		"two ways at once":  {[]string{"probe", "--base-url", "http://h", "--config.file", "f"}, "exclude one another"},
		"target alone":      {[]string{"probe", "--target", "a"}, "add --config.file"},
		"bad count":         {[]string{"probe", "--count", "0"}, `--count: "0" is not a whole number of at least 1`},
		"bad duration":      {[]string{"probe", "--timeout", "10"}, `--timeout: "10" is not a duration`},
		"negative duration": {[]string{"probe", "--timeout=-1s"}, `--timeout: "-1s" is not a duration above zero`},
		"unknown flag":      {[]string{"probe", "--nope"}, "--nope"},
		"unknown command":   {[]string{"prob"}, "prob"},
		"bad protocol":      {[]string{"probe", "--base-url", "http://h", "--model", "m", "--protocol", "grpc"}, `--protocol: "grpc" is not one of openai-chat`},
		"query in the URL":  {[]string{"probe", "--base-url", "http://h/?utm_source=x", "--model", "m"}, "--base-url"},
		"full path":         {[]string{"probe", "--base-url", "http://h/v1/chat/completions", "--model", "m"}, "--base-url"},
		"demo and file":     {[]string{"serve", "--demo", "--config.file", "f"}, "exclude one another"},
		"bad shard":         {[]string{"serve", "--demo", "--shard", "6/5"}, "--shard"},
		"sim without key":   {[]string{"sim", "--api-key-env", "NOT_SET"}, "NOT_SET is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := tokprobe(t, nil, tc.args...)
			if code != exitUsage || !strings.Contains(errs, tc.want) || out != "" {
				t.Errorf("status %d, stdout %q, stderr %q; want status 2 and %q", code, out, errs, tc.want)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"--version"}, {"probe", "--help"}} {
		code, out, errs := tokprobe(t, nil, args...)
		if code != exitOK || !strings.Contains(out, "tokprobe") || errs != "" {
			t.Errorf("%v: status %d, %q, %q", args, code, out, errs)
		}
	}
	_, out, _ := tokprobe(t, nil, "--version")
	if want := "tokprobe, development build, revision "; !strings.HasPrefix(out, want) {
		t.Errorf("a plain build says %q, want %q…", out, want)
	}
}

// TestEmptyFlags: a flag whose value came out empty is no flag left out.
func TestEmptyFlags(t *testing.T) {
	for flag, args := range map[string][]string{
		"prompt":             {"probe", "--base-url", "http://127.0.0.1:1", "--model", "m", "--prompt", ""},
		"model":              {"probe", "--base-url", "http://127.0.0.1:1", "--model="},
		"save":               {"sweep", "--base-url", "http://127.0.0.1:1", "--model", "m", "--concurrency", "1,2", "--save", " "},
		"config.file":        {"check", "--config.file", ""},
		"web.listen-address": {"serve", "--demo", "--web.listen-address="},
	} {
		code, out, errs := tokprobe(t, map[string]string{"TAOTOKEN_MODEL": "m"}, args...)
		if want := "tokprobe: --" + flag + " is empty: give it a value, or leave it out\n"; code != exitUsage || !strings.HasPrefix(errs, want) || out != "" {
			t.Errorf("%v: status %d, stdout %q, stderr %q, want %q", args, code, out, errs, want)
		}
	}
}
