package probe_test

import (
	"fmt"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
	"tokprobe/probe/wire"
)

const casesDir = "probetest/testdata/wire-cases"

// slack is how much later than the replayer wrote something we may have read
// it. Neighbouring tokens of the cases are at least 60 ms apart, so a segment
// that was taken for its neighbour shows.
const slack = 55 * ms

// slackOf allows another millisecond for every 4 KB, as a slow machine under
// the race detector may need to parse them before it can read on.
func slackOf(c probetest.Case) time.Duration {
	size := 0
	for _, s := range c.Body {
		size += len(s.Bytes())
	}
	return slack + time.Duration(size/4096)*ms
}

// TestWireCases replays every case over TCP, one after the other, and compares
// everything a case expects.
func TestWireCases(t *testing.T) {
	cases, err := probetest.Load(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := probetest.NewReplayer(cases)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			e := endpoint(t, probe.EndpointConfig{BaseURL: server.URL() + "/" + c.Name})
			var wrong []string
			for range 3 { // a busy machine may be late once, not three times
				r := e.Probe(t.Context(), caseSpec(c))
				compareFields(t, r, c.Expect)
				if wrong = compareTimes(r, c, server.Sent(c.Name)); len(wrong) == 0 || t.Failed() {
					break
				}
			}
			for _, w := range wrong {
				t.Error(w)
			}
		})
	}
}

func caseSpec(c probetest.Case) probe.Spec {
	return probe.Spec{
		ID:       probe.ID{Model: "m"},
		Protocol: c.Protocol,
		Prompt:   probe.Prompt{Messages: []wire.Message{{Role: "user", Content: "hi"}}},
		Limits:   probe.Limits{Connect: 5 * time.Second, FirstToken: 2 * time.Second, Stall: time.Second, Total: 5 * time.Second},
		KeepText: true,
	}
}

func compareFields(t *testing.T, r probe.Result, x probetest.Expect) {
	t.Helper()
	if string(r.Outcome) != x.Outcome || r.HTTPStatus != x.HTTPStatus {
		t.Errorf("outcome %s (%s), status %d; want %s, %d", r.Outcome, r.Err, r.HTTPStatus, x.Outcome, x.HTTPStatus)
	}
	// The cases say "0, counted by chunks" where nothing was counted at all;
	// a Result says that as unknown.
	if want := (x.OutputTokensSource != "chunks" || x.OutputTokens != 0); r.OutputTokens.OK != want ||
		want && r.OutputTokensSource != x.OutputTokensSource || r.OutputTokens.V != x.OutputTokens {
		t.Errorf("output tokens %v from %q, want %d from %q", r.OutputTokens, r.OutputTokensSource, x.OutputTokens, x.OutputTokensSource)
	}
	for _, f := range []struct {
		name string
		got  probe.Opt[int64]
		want *int64
	}{{"prompt", r.PromptTokens, x.PromptTokens}, {"cached", r.CachedTokens, x.CachedTokens}} {
		if f.got.OK != (f.want != nil) || f.want != nil && f.got.V != *f.want {
			t.Errorf("%s tokens %v, want %v", f.name, f.got, f.want)
		}
	}
	for _, f := range []struct {
		name, got string
		want      *string
	}{{"finish reason", r.FinishReason, x.FinishReason}, {"text", r.Text, x.Text}, {"reasoning", r.ReasoningText, x.ReasoningText}} {
		want := ""
		if f.want != nil {
			want = *f.want
		}
		if f.got != want {
			t.Errorf("%s %q, want %q", f.name, f.got, want)
		}
	}
	if r.TPOT.OK != x.TPOTDefined {
		t.Errorf("tpot %v, want defined = %v", r.TPOT, x.TPOTDefined)
	}
	if (r.Hint == "") != (r.Outcome == probe.OK) {
		t.Errorf("hint %q", r.Hint)
	}
}

// compareTimes returns what is wrong with the measured times.
func compareTimes(r probe.Result, c probetest.Case, sent []time.Duration) (wrong []string) {
	slack := slackOf(c)
	last := none
	if r.TTFT.OK {
		last = r.TTFT
		for _, gap := range r.Gaps {
			last.V += gap
		}
	}
	for _, f := range []struct {
		name    string
		got     probe.Opt[time.Duration]
		segment *int
	}{
		{"ttft", r.TTFT, c.Expect.TTFTSegment},
		{"first content", r.FirstContent, c.Expect.FirstContentSegment},
		{"last token", last, c.Expect.LastTokenSegment},
	} {
		if f.got.OK != (f.segment != nil) {
			wrong = append(wrong, fmt.Sprintf("%s %v, want segment %v", f.name, f.got, f.segment))
			continue
		}
		// Gaps, and so the last token, are known for good answers only.
		if f.segment == nil || f.name == "last token" && r.Outcome != probe.OK {
			continue
		}
		// t0 lies before the server has read the request, and a timer never
		// fires early: nothing can be measured before its planned time.
		planned, wrote := c.Planned(*f.segment), sent[*f.segment]
		if f.got.V < planned || f.got.V > wrote+slack {
			wrong = append(wrong, fmt.Sprintf("%s %s: planned %s, written %s", f.name, f.got.V, planned, wrote))
		}
	}
	if !r.TPOT.OK {
		return wrong
	}
	first, end := *c.Expect.TTFTSegment, *c.Expect.LastTokenSegment
	steps := time.Duration(c.Expect.OutputTokens - 1)
	if got, want := r.TPOT.V*steps, sent[end]-sent[first]; got < want-slack || got > want+slack {
		wrong = append(wrong, fmt.Sprintf("tpot %s: %s in all, written over %s", r.TPOT.V, got, want))
	}
	return wrong
}
