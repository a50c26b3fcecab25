package probe_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
	"tokprobe/probe/wire"
)

const ms = time.Millisecond

var limits = probe.Limits{Connect: 500 * ms, FirstToken: 2 * time.Second, Stall: time.Second, Total: 5 * time.Second}

func spec() probe.Spec {
	return probe.Spec{
		ID:     probe.ID{Target: "t", Model: "m", Probe: "p"},
		Prompt: probe.Prompt{Messages: []wire.Message{{Role: "user", Content: "hi"}}},
		Limits: limits,
	}
}

// Pieces of openai-chat streams.
const (
	role = `data: {"id":"r1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)

func tok(text string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}]}`, text) + "\n\n"
}

func think(text string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"reasoning_content":%q}}]}`, text) + "\n\n"
}

func usage(prompt, output, reasoning int) string {
	return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`,
		prompt, output, reasoning) + "\n\n"
}

func steps(s ...probetest.Step) []probetest.Step { return s }

func after(d time.Duration, data string) probetest.Step { return probetest.Step{After: d, Data: data} }

// run probes a scripted endpoint in a bubble.
func run(t *testing.T, script *probetest.Script, s probe.Spec) probe.Result {
	t.Helper()
	var r probe.Result
	synctest.Test(t, func(t *testing.T) {
		r = endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: script}).Probe(t.Context(), s)
	})
	return r
}

func endpoint(t *testing.T, cfg probe.EndpointConfig) *probe.Endpoint {
	t.Helper()
	e, err := probe.NewEndpoint(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func some(d time.Duration) probe.Opt[time.Duration] { return probe.Some(d) }

var none probe.Opt[time.Duration]

func TestClocksAreExact(t *testing.T) {
	r := run(t, &probetest.Script{
		Connect: 70 * ms, Send: 3 * ms, Wait: 20 * ms,
		Steps: steps(
			after(17*ms, role),
			after(160*ms, tok("a")), // t0 + 200
			after(70*ms, tok("b")),  // 270
			after(10*ms, tok("c")),  // 280
			after(130*ms, tok("d")), // 410
			after(5*ms, stop),
			after(60*ms, usage(9, 4, 0)), // 475
			after(5*ms, done),            // 480
		),
	}, spec())

	if r.Outcome != probe.OK || r.Err != "" || r.Hint != "" {
		t.Fatalf("outcome %s, err %q, hint %q", r.Outcome, r.Err, r.Hint)
	}
	for _, c := range []struct {
		name      string
		got, want probe.Opt[time.Duration]
	}{
		{"setup", r.Setup, some(70 * ms)},
		{"send", r.Phases.Send, some(3 * ms)},
		{"headers", r.Phases.Headers, some(20 * ms)},
		{"auth", r.Phases.Auth, none},
		{"ttft", r.TTFT, some(200 * ms)},
		{"first content", r.FirstContent, some(200 * ms)},
		{"tpot", r.TPOT, some(70 * ms)},
		{"max gap", r.MaxGap, some(130 * ms)},
		{"tail", r.Tail, some(70 * ms)},
		{"e2e", r.E2E, some(480 * ms)},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if want := []time.Duration{70 * ms, 10 * ms, 130 * ms}; !slices.Equal(r.Gaps, want) {
		t.Errorf("gaps = %v, want %v", r.Gaps, want)
	}
	if r.E2E.V != r.TTFT.V+3*r.TPOT.V+r.Tail.V {
		t.Error("E2E is not TTFT + (N−1)·TPOT + tail")
	}
	if r.Chunks != 4 || r.OutputTokens != probe.Some[int64](4) || r.OutputTokensSource != "usage" || r.PromptTokens != probe.Some[int64](9) {
		t.Errorf("counts: %d chunks, output %v (%s), prompt %v", r.Chunks, r.OutputTokens, r.OutputTokensSource, r.PromptTokens)
	}
	if r.RequestID != "r1" || r.ServedModel != "m-1" || r.FinishReason != "stop" || r.HTTPStatus != 200 || r.HTTPVersion != "1.1" {
		t.Errorf("id %q, model %q, finish %q, status %d, version %q", r.RequestID, r.ServedModel, r.FinishReason, r.HTTPStatus, r.HTTPVersion)
	}
	if r.Coalesced || len(r.Warnings) != 0 || r.Reused {
		t.Errorf("coalesced %v, warnings %q, reused %v", r.Coalesced, r.Warnings, r.Reused)
	}
}

// TestPace holds the rules of TPOT, tails and coalescing.
func TestPace(t *testing.T) {
	end := after(0, stop+done)
	many := make([]probetest.Step, 0, 20)
	for range 18 {
		many = append(many, after(10*ms, tok("x")))
	}
	for _, c := range []struct {
		name      string
		steps     []probetest.Step
		tpot      probe.Opt[time.Duration]
		coalesced bool
		warnings  []string
	}{
		{"two tokens", steps(after(100*ms, tok("a")), after(30*ms, tok("b")), end), some(30 * ms), false, nil},
		{"one token", steps(after(100*ms, tok("a")), end), none, false, nil},
		{"under a millisecond", steps(after(100*ms, tok("a")), after(999*time.Microsecond, tok("b")), end), none, false, nil},
		{"just a millisecond", steps(after(100*ms, tok("a")), after(ms, tok("b")), end), some(ms), false, nil},
		{"usage counts more than events", steps(after(ms, tok("a b c")), after(60*ms, tok("d e f")), after(0, stop+usage(5, 7, 0)+done)), some(10 * ms), false, nil},
		{"reasoning was hidden", steps(after(ms, tok("a")), after(60*ms, tok("b")), after(0, stop+usage(5, 103, 100)+done)), some(30 * ms), false, nil},
		{"reasoning was streamed", steps(after(ms, think("a")), after(60*ms, tok("b")), after(0, stop+usage(5, 3, 2)+done)), some(30 * ms), false, nil},
		{"usage of one token", steps(after(ms, tok("a")), after(60*ms, tok("b")), after(0, stop+usage(5, 1, 0)+done)), none, false,
			[]string{"1 output tokens in 2 token events: 0.50 each, outside 0.8 to 8"}},
		{"zero usage is no usage", steps(after(ms, tok("a")), after(60*ms, tok("b")), after(0, stop+usage(5, 0, 0)+done)), some(60 * ms), false, nil},
		{"all in one read", steps(after(100*ms, tok("a")+tok("b")+tok("c")), end), none, true, nil},
		{"a tenth of all in one read", append(slices.Clone(many), after(10*ms, tok("y")+tok("z")), end), some(180 * ms / 19), false, nil},
		{"more than a tenth in one read", append(slices.Clone(many), after(10*ms, tok("x")+tok("y")+tok("z")), end), some(180 * ms / 20), true, nil},
		{"long tail", steps(after(ms, tok("a")), after(60*ms, tok("b")), after(101*ms, stop+done)), some(60 * ms), false,
			[]string{"the answer ended 101ms after its last token"}},
		{"tail of a twentieth", steps(after(1900*ms, tok("a")), after(380*ms, tok("b")), after(120*ms, stop+done)), some(380 * ms), false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, &probetest.Script{Steps: c.steps}, spec())
			if r.Outcome != probe.OK {
				t.Fatalf("outcome %s: %s", r.Outcome, r.Err)
			}
			if r.TPOT != c.tpot || r.Coalesced != c.coalesced || !slices.Equal(r.Warnings, c.warnings) {
				t.Errorf("tpot %v, coalesced %v, warnings %q; want %v, %v, %q", r.TPOT, r.Coalesced, r.Warnings, c.tpot, c.coalesced, c.warnings)
			}
		})
	}
}

func TestFirstContentComesAfterThinking(t *testing.T) {
	r := run(t, &probetest.Script{Steps: steps(
		after(50*ms, think("hm")), after(100*ms, think("so")), after(100*ms, tok("a")), after(0, stop+done),
	)}, spec())
	if r.TTFT != some(50*ms) || r.FirstContent != some(250*ms) {
		t.Errorf("ttft %v, first content %v; want 50ms, 250ms", r.TTFT, r.FirstContent)
	}
}

// TestLimits holds which limit ends a probe, and exactly when.
func TestLimits(t *testing.T) {
	trickle := make([]probetest.Step, 20)
	for i := range trickle {
		trickle[i] = after(900*ms, tok("x"))
	}
	for _, c := range []struct {
		name    string
		script  *probetest.Script
		limits  probe.Limits
		outcome probe.Outcome
		err     string
		took    time.Duration
	}{
		{"connect", &probetest.Script{Connect: time.Minute}, limits,
			probe.Connect, "TCP connect not done within the connect limit of 500ms", 500 * ms},
		{"no headers", &probetest.Script{Connect: 100 * ms, Wait: time.Minute}, limits,
			probe.TimeoutFirstToken, "no token within 2s", 2100 * ms},
		{"headers and a role but no token", &probetest.Script{Wait: ms, Steps: steps(after(1500*ms, role)), End: probetest.Hang}, limits,
			probe.TimeoutFirstToken, "no token within 2s", 2 * time.Second},
		{"pause between tokens", &probetest.Script{Steps: steps(after(300*ms, tok("a")), after(400*ms, tok("b")), after(600*ms, ": ping\n\n")), End: probetest.Hang}, limits,
			probe.Stall, "no further token for 1s", 1700 * ms},
		{"usage but no end", &probetest.Script{Steps: steps(after(300*ms, tok("a")+stop), after(900*ms, usage(1, 1, 0))), End: probetest.Hang}, limits,
			probe.Stall, "no further token for 1s", 1300 * ms},
		{"slow trickle", &probetest.Script{Connect: 100 * ms, Steps: trickle}, limits,
			probe.TimeoutTotal, "not complete within 5s", 5100 * ms},
		{"total below first token", &probetest.Script{Wait: time.Minute}, probe.Limits{FirstToken: 3 * time.Second, Total: 2 * time.Second},
			probe.TimeoutTotal, "not complete within 2s", 2 * time.Second},
		{"total and first token at once", &probetest.Script{Wait: time.Minute}, probe.Limits{FirstToken: 2 * time.Second, Total: 2 * time.Second},
			probe.TimeoutFirstToken, "no token within 2s", 2 * time.Second},
		{"stall without the others", &probetest.Script{Steps: steps(after(time.Hour, tok("a"))), End: probetest.Hang}, probe.Limits{Stall: time.Second},
			probe.Stall, "no further token for 1s", time.Hour + time.Second},
		{"total without the others", &probetest.Script{Steps: steps(after(time.Second, tok("a"))), End: probetest.Hang}, probe.Limits{Total: time.Minute},
			probe.TimeoutTotal, "not complete within 1m0s", time.Minute},
		{"no limit at all", &probetest.Script{Connect: time.Hour, Steps: steps(after(time.Hour, tok("a")), after(time.Hour, stop+done))}, probe.Limits{},
			probe.OK, "", 3 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: c.script})
				s := spec()
				s.Limits = c.limits
				begin := time.Now()
				r := e.Probe(t.Context(), s)
				if took := time.Since(begin); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if r.Outcome != c.outcome || r.Err != c.err {
					t.Errorf("%s %q, want %s %q", r.Outcome, r.Err, c.outcome, c.err)
				}
				if r.TPOT.OK && r.Outcome != probe.OK || r.Gaps != nil || r.E2E.OK && r.Outcome != probe.OK {
					t.Errorf("a failure has tpot %v, gaps %v, e2e %v", r.TPOT, r.Gaps, r.E2E)
				}
			})
		})
	}
}

// TestFailureKeepsWhatWasMeasured: a stall has a time to first token.
func TestFailureKeepsWhatWasMeasured(t *testing.T) {
	r := run(t, &probetest.Script{Steps: steps(after(300*ms, tok("a")), after(700*ms, tok("b"))), End: probetest.Hang}, spec())
	if r.Outcome != probe.Stall || r.TTFT != some(300*ms) || r.MaxGap != some(700*ms) || r.Chunks != 2 ||
		r.OutputTokens != probe.Some[int64](2) || r.OutputTokensSource != "chunks" {
		t.Errorf("%+v", r)
	}
}

func TestCallerCuts(t *testing.T) {
	for _, c := range []struct {
		name   string
		script *probetest.Script
	}{
		{"while connecting", &probetest.Script{Connect: time.Minute}},
		{"before headers", &probetest.Script{Wait: time.Minute}},
		{"inside the stream", &probetest.Script{Steps: steps(after(100*ms, tok("a"))), End: probetest.Hang}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: c.script})
				ctx, cancel := context.WithTimeout(t.Context(), 400*ms)
				defer cancel()
				begin := time.Now()
				r := e.Probe(ctx, spec())
				if !r.Cut || r.Outcome != "" {
					t.Errorf("cut %v, outcome %q (%s)", r.Cut, r.Outcome, r.Err)
				}
				if took := time.Since(begin); took != 400*ms {
					t.Errorf("took %s", took)
				}
			})
		})
	}
	t.Run("while waiting for the key", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slow := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
			script := &probetest.Script{}
			e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: script, Key: slow})
			ctx, cancel := context.WithTimeout(t.Context(), 400*ms)
			defer cancel()
			if r := e.Probe(ctx, spec()); !r.Cut || r.Outcome != "" || len(script.Requests()) != 0 {
				t.Errorf("cut %v, outcome %q, %d requests", r.Cut, r.Outcome, len(script.Requests()))
			}
		})
	})
	t.Run("after our own limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: &probetest.Script{Wait: time.Minute}})
			ctx, cancel := context.WithTimeout(t.Context(), 2001*ms)
			defer cancel()
			if r := e.Probe(ctx, spec()); r.Cut || r.Outcome != probe.TimeoutFirstToken {
				t.Errorf("cut %v, outcome %q", r.Cut, r.Outcome)
			}
		})
	})
}

// TestDrainIsOffTheClock: a kept connection is drained, for 50 ms at most.
func TestDrainIsOffTheClock(t *testing.T) {
	for _, c := range []struct {
		reuse bool
		took  time.Duration
	}{{false, 100 * ms}, {true, 150 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			script := &probetest.Script{Steps: steps(after(100*ms, tok("a")+stop+done)), End: probetest.Hang}
			e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: script})
			s := spec()
			s.Reuse = c.reuse
			begin := time.Now()
			r := e.Probe(t.Context(), s)
			if took := time.Since(begin); took != c.took || r.E2E != some(100*ms) || r.Outcome != probe.OK {
				t.Errorf("reuse %v: took %s (want %s), e2e %v, outcome %s", c.reuse, took, c.took, r.E2E, r.Outcome)
			}
		})
	}
}

func TestAuthPhase(t *testing.T) {
	key := func(d time.Duration, v string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) {
			time.Sleep(d) // of the bubble; does not care for the context
			return v, err
		}
	}
	const source = "environment variable K"
	for _, c := range []struct {
		name    string
		key     func(context.Context) (string, error)
		script  *probetest.Script
		outcome probe.Outcome
		sent    int
		setup   probe.Opt[time.Duration]
		took    time.Duration
		err     string
		hint    string
	}{
		{"in time", key(60*ms, "sk-123456", nil), &probetest.Script{Connect: 40 * ms, Steps: steps(after(0, tok("a")+stop+done))},
			probe.OK, 1, some(100 * ms), 100 * ms, "", ""},
		{"fails", key(60*ms, "", errors.New("file /k is empty\x1b[31m")), &probetest.Script{},
			probe.Auth, 0, none, 60 * ms, "credentials: file /k is empty[31m", "no key could be had from environment variable K; nothing was sent"},
		{"too slow", key(time.Minute, "", nil), &probetest.Script{},
			probe.Auth, 0, none, 500 * ms, "credentials not there within the connect limit of 500ms",
			source + ": no credentials within the connect limit of 500ms; look at the token server or the file system"},
		{"line feed", key(0, "sk-123456\n", nil), &probetest.Script{},
			probe.Auth, 0, none, 0, "credentials: the value of header Authorization has a line feed or another control character", "the key from environment variable K has blanks or line feeds in it"},
		{"refused, empty", key(0, "", nil), &probetest.Script{Status: 401},
			probe.Auth, 1, some(0), 0, "HTTP 401 Unauthorized", "the key from environment variable K is empty"},
		{"refused, blank", key(0, "sk 123456", nil), &probetest.Script{Status: 403},
			probe.Auth, 1, some(0), 0, "HTTP 403 Forbidden", "the key from environment variable K has blanks or line feeds in it"},
		{"refused, doubled", key(0, "Bearer sk-123456", nil), &probetest.Script{Status: 401},
			probe.Auth, 1, some(0), 0, "HTTP 401 Unauthorized", "the Authorization header from environment variable K says its scheme twice: the key itself must not begin with Bearer"},
		{"refused", key(0, "sk-123456", nil), &probetest.Script{Status: 401, Steps: steps(after(0, `{"error":{"message":"Incorrect API key provided: sk-123456."}}`))},
			probe.Auth, 1, some(0), 0, "HTTP 401 Unauthorized: Incorrect API key provided: <secret>.",
			"the endpoint refuses the key from environment variable K (neither empty nor with blanks, scheme Bearer): expired, revoked, for another host, or without access to this model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := endpoint(t, probe.EndpointConfig{BaseURL: "http://t.test", Transport: c.script, Key: c.key, KeySource: source})
				begin := time.Now()
				r := e.Probe(t.Context(), spec())
				if took := time.Since(begin); took != c.took || r.Setup != c.setup || r.Outcome != c.outcome {
					t.Errorf("took %s, setup %v, %s; want %s, %v, %s", took, r.Setup, r.Outcome, c.took, c.setup, c.outcome)
				}
				if r.Err != c.err || r.Hint != c.hint {
					t.Errorf("err  %q\nwant %q\nhint %q\nwant %q", r.Err, c.err, r.Hint, c.hint)
				}
				time.Sleep(time.Minute) // the key that came too late has to end with the bubble
				if n := len(c.script.Requests()); n != c.sent {
					t.Errorf("%d requests, want %d", n, c.sent)
				}
			})
		})
	}
}

// TestRequest holds what leaves.
func TestRequest(t *testing.T) {
	script := &probetest.Script{Steps: steps(after(0, tok("a")+stop+done))}
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(t, probe.EndpointConfig{
			BaseURL: "http://t.test/prefix/", Transport: script, UserAgent: "tokprobe/1",
			Key: func(context.Context) (string, error) { return "sk-123456", nil },
			Headers: func(context.Context) (http.Header, error) {
				return http.Header{"X-Team": {"a"}}, nil
			},
		})
		e.Probe(t.Context(), spec())
	})
	got := script.Requests()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	if want := "http://t.test/prefix/v1/chat/completions"; got[0].URL != want {
		t.Errorf("URL %s, want %s", got[0].URL, want)
	}
	want := http.Header{
		"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"},
		"User-Agent": {"tokprobe/1"}, "X-Team": {"a"}, "Authorization": {"Bearer sk-123456"},
	}
	for name := range want {
		if !slices.Equal(got[0].Header[name], want[name]) {
			t.Errorf("%s = %q, want %q", name, got[0].Header[name], want[name])
		}
	}
	if len(got[0].Header) != len(want) {
		t.Errorf("headers %v", got[0].Header)
	}
}

// TestCompressed: tokens of a compressed stream are decoded as they come, and
// stamped below the decompressor.
func TestCompressed(t *testing.T) {
	type flusher interface {
		io.WriteCloser
		Flush() error
	}
	for _, c := range []struct {
		name, encoding string
		open           func(io.Writer) flusher
	}{
		{"gzip", "gzip", func(w io.Writer) flusher { return gzip.NewWriter(w) }},
		{"zlib", "deflate", func(w io.Writer) flusher { return zlib.NewWriter(w) }},
		{"bare deflate", "Deflate", func(w io.Writer) flusher { z, _ := flate.NewWriter(w, 6); return z }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var buf bytes.Buffer
			z := c.open(&buf)
			squeeze := func(s string) string {
				buf.Reset()
				io.WriteString(z, s)
				_ = z.Flush()
				return buf.String()
			}
			script := &probetest.Script{Header: http.Header{"Content-Encoding": {c.encoding}}, Steps: steps(
				after(40*ms, squeeze(role)), after(60*ms, squeeze(tok("a"))), after(50*ms, squeeze(tok("b"))), after(5*ms, squeeze(stop+done)),
			), End: probetest.Hang}
			r := run(t, script, spec())
			if r.Outcome != probe.OK || r.TTFT != some(100*ms) || r.TPOT != some(50*ms) || r.E2E != some(155*ms) || r.Coalesced {
				t.Errorf("%s %s: ttft %v, tpot %v, e2e %v", r.Outcome, r.Err, r.TTFT, r.TPOT, r.E2E)
			}
		})
	}
}
