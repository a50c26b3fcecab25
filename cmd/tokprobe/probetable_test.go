package main

import (
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
)

// TestPrintResult compares the whole table of a measured answer: 512 tokens in
// 12.84 s, first one after 83 ms.
func TestPrintResult(t *testing.T) {
	some := probe.Some[time.Duration]
	r := probe.Result{
		ID: probe.ID{Target: "vllm-a", Model: "m"}, Protocol: "openai-chat", Outcome: probe.OK, HTTPStatus: 200, HTTPVersion: "1.1",
		Setup: some(3 * time.Millisecond), TTFT: some(83 * time.Millisecond), FirstContent: some(83 * time.Millisecond),
		TPOT: some(24955 * time.Microsecond), E2E: some(12840 * time.Millisecond), Tail: some(12840*time.Millisecond - 83*time.Millisecond - 511*24955*time.Microsecond),
		Phases: probe.Phases{Connect: some(3 * time.Millisecond), Send: some(100 * time.Microsecond)},
		Chunks: 512, OutputTokens: probe.Some[int64](512), OutputTokensSource: "usage", PromptTokens: probe.Some[int64](20), FinishReason: "length",
		Warnings: []string{"w"},
	}
	var b strings.Builder
	printResult(&b, r)
	want := `OK  vllm-a  model m  (openai-chat)
  response       HTTP/1.1 200           fresh connection
  connect        3.00 ms                
  setup          3.00 ms                everything before the request; not part of TTFT
  send           0.10 ms                
  TTFT           83.0 ms                request ready to first token
  TPOT           25.0 ms                time per output token after the first
  E2E            12.84 s                = TTFT 83.0 ms + 511 × TPOT 25.0 ms + tail 5.00 ms
  tokens         20 prompt, 512 output  output counted by usage, 512 token events
  finish reason  length                 
  warning: w

`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestPrintableKeepsTheTerminalSafe(t *testing.T) {
	if got, want := printable("a\x1b[31mb\nc\u202ed\u2028"), "a\\x1b[31mb\nc\\u202ed\\u2028"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSummary(t *testing.T) {
	ms := func(n int) probe.Opt[time.Duration] { return probe.Some(time.Duration(n) * time.Millisecond) }
	results := []probe.Result{
		{Outcome: probe.OK, TTFT: ms(30), E2E: ms(300)}, {Outcome: probe.Stall, TTFT: ms(1)}, {Outcome: probe.OK, TTFT: ms(10), E2E: ms(100)},
	}
	var b strings.Builder
	printSummary(&b, results)
	if want := "2 of 3 ok; TTFT min 10.0 ms, median 20.0 ms, max 30.0 ms; E2E min 100.0 ms, median 200.0 ms, max 300.0 ms\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
