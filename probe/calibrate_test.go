package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe/wire"
)

// fakeServer answers requests as an endpoint would, without any network.
type fakeServer struct {
	refuse   func(wire.Request) *wire.ErrorObject // nil accepts
	bare     bool                                 // its refusals hold no error object, only text
	fail     Outcome                              // it fails like this instead
	count    func(text string) int                // prompt tokens; nil reports none
	natural  int                                  // tokens of an answer that ends by itself
	obeys    bool                                 // ignore_eos stretches the answer to the bound
	thinks   bool
	latency  time.Duration
	mu       sync.Mutex
	requests []wire.Request
}

func (f *fakeServer) sender(s *learnedStore, vendor string) func(context.Context, Spec) Result {
	return func(ctx context.Context, spec Spec) Result {
		req, err := s.request(vendor, spec)
		if err != nil {
			return Result{Outcome: Internal, Err: err.Error()}
		}
		f.mu.Lock()
		f.requests = append(f.requests, req)
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return Result{Cut: true}
		case <-time.After(f.latency):
		}
		r := f.answer(req)
		switch r.Outcome {
		case OK:
			s.judge(vendor, spec, "", &r)
		case BadRequest:
			if !f.bare {
				s.noteBadRequest(spec.Model, f.refuse(req))
			}
		}
		if r.Outcome == OK {
			s.notePrompt(spec, &r)
		}
		return r
	}
}

func (f *fakeServer) answer(req wire.Request) Result {
	if f.fail != "" {
		return Result{Outcome: f.fail, Err: "told to"}
	}
	if f.refuse != nil {
		if e := f.refuse(req); e != nil {
			return Result{Outcome: BadRequest, Err: "HTTP 400 Bad Request: " + e.Message}
		}
	}
	bound := req.MaxTokens
	for _, name := range boundNames {
		if n, ok := req.Params[name].(int); ok {
			bound = n
		}
	}
	n := f.natural
	if n > bound || f.obeys && req.IgnoreEOS {
		n = bound
	}
	r := Result{Outcome: OK, Chunks: n, FinishReason: "stop", FirstContent: Some(time.Millisecond)}
	if n == bound {
		r.FinishReason = "length"
	}
	if f.thinks {
		r.ReasoningText = "hm"
	}
	if f.count != nil {
		text := ""
		for _, m := range req.Messages {
			text += m.Content + " "
		}
		r.PromptTokens = Some(int64(f.count(text)))
		r.OutputTokens, r.OutputTokensSource = Some(int64(n)), "usage"
	} else {
		r.OutputTokens, r.OutputTokensSource = Some(int64(n)), "chunks"
	}
	return r
}

func words(s string) int { return len(strings.Fields(s)) }

// refuses builds a server that refuses what it is told to, in the words given.
func refuses(p params, message, param string) func(wire.Request) *wire.ErrorObject {
	return func(r wire.Request) *wire.ErrorObject {
		bad := p.has(paramBound) && r.MaxTokensField == "" ||
			p.has(paramStreamOptions) && !r.NoStreamOptions ||
			p.has(paramIgnoreEOS) && r.IgnoreEOS ||
			p.has(paramMinTokens) && r.MinTokens > 0
		if !bad {
			return nil
		}
		return &wire.ErrorObject{Message: message, Param: param}
	}
}

func chat() Spec {
	return Spec{ID: ID{Model: "m"}, Prompt: Prompt{Messages: ask("Tell me all about batching"), MaxTokens: 100}}
}

func TestCalibrateLearnsWhatIsRefused(t *testing.T) {
	const hint = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
	for _, test := range []struct {
		name, vendor string
		server       *fakeServer
		want         params
		requests     int
	}{
		{"nothing", "openai", &fakeServer{}, 0, 1},
		{"OpenAI's reasoning models, by param", "openai",
			&fakeServer{refuse: refuses(paramBound, hint, "max_tokens")}, paramBound, 2},
		{"OpenAI's reasoning models, by text", "openai",
			&fakeServer{refuse: refuses(paramBound, hint, "")}, paramBound, 2},
		{"the same through a gateway that flattens errors to text", "openai",
			&fakeServer{refuse: refuses(paramBound, hint, ""), bare: true}, paramBound, 2},
		{"pydantic's path as param", "vllm",
			&fakeServer{refuse: refuses(paramStreamOptions, "Extra inputs are not permitted", "body.stream_options")}, paramStreamOptions, 2},
		{"a part of the parameter is named", "vllm",
			&fakeServer{refuse: refuses(paramStreamOptions, "Unknown field", "stream_options.include_usage")}, paramStreamOptions, 2},
		{"flat vLLM error that names two", "vllm",
			&fakeServer{refuse: refuses(paramIgnoreEOS|paramMinTokens, "[{'loc': ('body', 'ignore_eos')}, {'loc': ('body', 'min_tokens')}]", "")},
			paramIgnoreEOS | paramMinTokens, 2},
		{"one after the other", "vllm", &fakeServer{refuse: func(r wire.Request) *wire.ErrorObject {
			for _, try := range []params{paramBound, paramStreamOptions, paramIgnoreEOS, paramMinTokens} {
				for _, n := range paramNames {
					if n.param == try && n.name != "max_completion_tokens" {
						if e := refuses(try, "unknown argument "+n.name, "")(r); e != nil {
							return e
						}
					}
				}
			}
			return nil
		}}, paramBound | paramStreamOptions | paramIgnoreEOS | paramMinTokens, 5},
		{"a thinker without visible answer has accepted", "openai", &fakeServer{fail: Empty}, 0, 1},
	} {
		var s learnedStore
		send := test.server.sender(&s, test.vendor)
		c := s.calibrate(t.Context(), test.vendor, chat(), send)
		if c.Err != nil || c.Requests != test.requests {
			t.Errorf("%s: %d requests, %v; want %d", test.name, c.Requests, c.Err, test.requests)
		}
		if got := s.model("m").refused; got != test.want {
			t.Errorf("%s: refused %04b, want %04b", test.name, got, test.want)
		}
		if c := s.calibrate(t.Context(), test.vendor, chat(), send); c != (Calibration{}) {
			t.Errorf("%s: calibrated again: %+v", test.name, c)
		}
		if test.server.fail == "" {
			if r := send(t.Context(), chat()); r.Outcome != OK {
				t.Errorf("%s: the probe itself: %s, %s", test.name, r.Outcome, r.Err)
			}
		}
	}
}

func TestCalibrateCountsWhatWasBilled(t *testing.T) {
	var s learnedStore
	f := fakeServer{count: words, natural: 5, refuse: refuses(paramBound, "no max_tokens", "")}
	c := s.calibrate(t.Context(), "openai", chat(), f.sender(&s, "openai"))
	// the nonce and six words; the refused request costs nothing
	if want := (Calibration{Requests: 2, InputTokens: 7, OutputTokens: 5}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	for _, r := range f.requests {
		if r.MaxTokens != exactTokens {
			t.Errorf("a calibration asked for %d tokens", r.MaxTokens)
		}
	}
}

func TestCalibrateBoundsWhatParamsAsk(t *testing.T) {
	var s learnedStore
	spec := chat()
	spec.Prompt.Params = map[string]any{"max_completion_tokens": 9000, "temperature": 0}
	f := fakeServer{natural: 10_000}
	s.calibrate(t.Context(), "openai", spec, f.sender(&s, "openai"))
	got := f.requests[0].Params
	if got["max_completion_tokens"] != exactTokens || got["temperature"] != 0 || f.requests[0].MaxTokens != 0 {
		t.Errorf("params %v beside max_tokens %d", got, f.requests[0].MaxTokens)
	}
	if spec.Prompt.Params["max_completion_tokens"] != 9000 {
		t.Error("the prompt's own params were changed")
	}
}

func TestCalibrateKeepsNothingOfAFailure(t *testing.T) {
	for _, test := range []struct {
		name     string
		server   *fakeServer
		requests int
		err      string
	}{
		{"wrong key", &fakeServer{fail: Auth}, 1, "calibration: auth: told to"},
		{"slow", &fakeServer{fail: TimeoutTotal}, 1, "calibration: timeout_total: told to"},
		{"refusal that names nothing of ours",
			&fakeServer{refuse: func(wire.Request) *wire.ErrorObject { return &wire.ErrorObject{Message: "temperature too hot"} }},
			1, "calibration: bad_request: HTTP 400 Bad Request: temperature too hot"},
		{"refuses either name of the bound",
			&fakeServer{refuse: func(wire.Request) *wire.ErrorObject {
				return &wire.ErrorObject{Message: "max_tokens exceeds the window"}
			}},
			2, "calibration: bad_request: HTTP 400 Bad Request: max_tokens exceeds the window"},
		{"refuses whatever it gets, one name after the other",
			&fakeServer{refuse: func(r wire.Request) *wire.ErrorObject {
				switch {
				case !r.NoStreamOptions:
					return &wire.ErrorObject{Param: "stream_options"}
				case r.IgnoreEOS:
					return &wire.ErrorObject{Param: "ignore_eos"}
				case r.MinTokens > 0:
					return &wire.ErrorObject{Param: "min_tokens"}
				}
				return &wire.ErrorObject{Param: "max_tokens"}
			}},
			5, "calibration: bad_request: HTTP 400 Bad Request: "},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s learnedStore
			send := test.server.sender(&s, "vllm")
			c := s.calibrate(t.Context(), "vllm", chat(), send)
			if c.Requests != test.requests || c.Err == nil || c.Err.Error() != test.err {
				t.Errorf("%s: %d requests, %v; want %d, %s", test.name, c.Requests, c.Err, test.requests, test.err)
			}
			if l := s.model("m"); l.known || l.refused != 0 || l.exact {
				t.Errorf("%s: something was kept: %+v", test.name, l)
			}
			time.Sleep(10*time.Minute - time.Nanosecond)
			if c := s.calibrate(t.Context(), "vllm", chat(), send); c != (Calibration{}) {
				t.Errorf("%s: tried again too early: %+v", test.name, c)
			}
			time.Sleep(time.Nanosecond)
			if c := s.calibrate(t.Context(), "vllm", chat(), send); c.Requests != test.requests {
				t.Errorf("%s: after 10 minutes %d requests, want %d", test.name, c.Requests, test.requests)
			}
		})
	}
}

func TestRelearnAfterARefusalThatNamesAParameter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s learnedStore
		f := fakeServer{}
		send := f.sender(&s, "openai")
		calibrate := func() Calibration { return s.calibrate(t.Context(), "openai", chat(), send) }
		calibrate()

		time.Sleep(time.Second)
		s.noteBadRequest("m", nil)
		s.noteBadRequest("m", &wire.ErrorObject{Message: "temperature"})
		s.noteBadRequest("other", &wire.ErrorObject{Message: "max_tokens"})
		if c := calibrate(); c.Requests != 0 {
			t.Errorf("a refusal of something else started %d requests", c.Requests)
		}

		f.refuse = refuses(paramBound, "no max_tokens here", "")
		send(t.Context(), chat())
		if c := calibrate(); c.Requests != 2 || c.Err != nil || s.model("m").refused != paramBound {
			t.Errorf("after the endpoint changed: %+v, refused %b", c, s.model("m").refused)
		}

		// Now it accepts calibrations but not the probe.
		refusal := &wire.ErrorObject{Message: "max_completion_tokens is too large"}
		s.noteBadRequest("m", refusal)
		if c := calibrate(); c.Requests != 0 {
			t.Errorf("relearned twice within a moment: %+v", c)
		}
		time.Sleep(10 * time.Minute)
		if c := calibrate(); c.Requests != 1 || c.Err != nil {
			t.Errorf("10 minutes later: %+v", c)
		}
		if s.model("m").refused != paramBound {
			t.Errorf("refused %b", s.model("m").refused)
		}
	})
}

// What a probe was refused for must not be read into a later refusal.
func TestARefusalIsNotMixedWithAnEarlierOne(t *testing.T) {
	var s learnedStore
	s.noteBadRequest("m", &wire.ErrorObject{Param: "stream_options"})
	f := fakeServer{bare: true, refuse: func(wire.Request) *wire.ErrorObject { return &wire.ErrorObject{Message: "no"} }}
	if c := s.calibrate(t.Context(), "openai", chat(), f.sender(&s, "openai")); c.Requests != 1 {
		t.Errorf("%+v", c)
	}
}

func TestOneCalibrationServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s learnedStore
		f := fakeServer{latency: time.Second, count: words}
		var wg sync.WaitGroup
		var mu sync.Mutex
		total := 0
		for range 20 {
			wg.Go(func() {
				c := s.calibrate(t.Context(), "openai", chat(), f.sender(&s, "openai"))
				mu.Lock()
				defer mu.Unlock()
				total += c.Requests
			})
		}
		wg.Wait()
		if len(f.requests) != 1 || total != 1 {
			t.Errorf("%d requests, %d counted; want 1", len(f.requests), total)
		}
	})
}

func TestACutCalibrationIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s learnedStore
		f := fakeServer{latency: time.Second}
		send := f.sender(&s, "openai")
		ctx, cancel := context.WithCancel(t.Context())
		cut := make(chan Calibration, 1)
		go func() { cut <- s.calibrate(ctx, "openai", chat(), send) }()
		synctest.Wait()
		next := make(chan Calibration, 1)
		go func() { next <- s.calibrate(t.Context(), "openai", chat(), send) }()
		gone, leave := context.WithCancel(t.Context())
		left := make(chan Calibration, 1)
		go func() { left <- s.calibrate(gone, "openai", chat(), send) }()
		synctest.Wait()
		leave()
		if c := <-left; !errors.Is(c.Err, context.Canceled) || c.Requests != 0 {
			t.Errorf("who does not want to wait got %+v", c)
		}
		cancel()
		if c := <-cut; !errors.Is(c.Err, context.Canceled) {
			t.Errorf("the cut one got %+v", c)
		}
		if c := <-next; c.Requests != 1 || c.Err != nil {
			t.Errorf("the next one got %+v", c)
		}
	})
}

func TestCalibrationIsBoundedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s learnedStore
		f := fakeServer{latency: time.Hour}
		start := time.Now()
		s.calibrate(t.Context(), "openai", chat(), f.sender(&s, "openai"))
		if got := time.Since(start); got != calibrationTime {
			t.Errorf("took %s, want %s", got, calibrationTime)
		}
	})
}

func TestAnthropicHasNothingToLearn(t *testing.T) {
	var s learnedStore
	spec := chat()
	spec.Protocol = "anthropic-messages"
	if c := s.calibrate(t.Context(), "anthropic", spec, nil); c != (Calibration{}) {
		t.Errorf("got %+v", c)
	}
}

func TestShortOnlyWhereTheLengthIsKnownToBeObeyed(t *testing.T) {
	for _, test := range []struct {
		name   string
		server *fakeServer
		force  bool
		then   int // tokens of the later answer, of 100 asked for
		want   Outcome
	}{
		{"obeys, and then ends early", &fakeServer{obeys: true, natural: 1, count: words}, true, 99, Short},
		{"obeys", &fakeServer{obeys: true, natural: 1, count: words}, true, 100, OK},
		{"never obeyed", &fakeServer{natural: 1, count: words}, true, 99, OK},
		{"not asked for", &fakeServer{obeys: true, natural: 1, count: words}, false, 99, OK},
		{"does not count", &fakeServer{obeys: true, natural: 1}, true, 99, OK},
		{"thinks, which is long by itself", &fakeServer{natural: 500, thinks: true, count: words}, true, 99, OK},
		{"refuses both parameters", &fakeServer{natural: 1, count: words, refuse: refuses(paramIgnoreEOS|paramMinTokens, "ignore_eos min_tokens", "")}, true, 99, OK},
	} {
		var s learnedStore
		spec := chat()
		spec.Prompt.ForceLength = test.force
		if c := s.calibrate(t.Context(), "openai", spec, test.server.sender(&s, "openai")); c.Err != nil {
			t.Errorf("%s: %v", test.name, c.Err)
		}
		r := Result{Outcome: OK, FinishReason: "stop", OutputTokens: Some(int64(test.then)), OutputTokensSource: "usage"}
		s.judge("openai", spec, "", &r)
		if r.Outcome != test.want {
			t.Errorf("%s: %s, want %s", test.name, r.Outcome, test.want)
		}
		want := ""
		if test.want == Short {
			want = `the answer ended after 99 of 100 tokens (finish reason "stop") at a server that can be held to a length`
		}
		if r.Err != want {
			t.Errorf("%s: %q", test.name, r.Err)
		}
	}
}

func TestForcingTheLengthLaterIsLearnedLater(t *testing.T) {
	var s learnedStore
	f := fakeServer{obeys: true, natural: 1, count: words}
	send := f.sender(&s, "openai")
	spec := chat()
	s.calibrate(t.Context(), "openai", spec, send)
	spec.Prompt.ForceLength = true
	if c := s.calibrate(t.Context(), "openai", spec, send); c.Requests != 1 || !s.model("m").exact {
		t.Errorf("%+v, exact %v", c, s.model("m").exact)
	}
}

func TestNamedIn(t *testing.T) {
	for text, want := range map[string]params{
		"":                                  0,
		"max_tokens_to_sample is missing":   0,
		"xmax_tokens":                       0,
		"'max_tokens'":                      paramBound,
		"max_completion_tokens: too big":    paramBound,
		"body->stream_options->x":           paramStreamOptions,
		"`ignore_eos`,`min_tokens`":         paramIgnoreEOS | paramMinTokens,
		`{"loc":["body","stream_options"]}`: paramStreamOptions,
	} {
		if got := namedIn(text); got != want {
			t.Errorf("%q: got %04b, want %04b", text, got, want)
		}
	}
}

func ExampleNearest() {
	ids := []string{"openai/GPT-4o", "openai/gpt-4o-mini", "claude-sonnet-4-5", "Qwen/Qwen2.5-14B-Instruct"}
	fmt.Println(Nearest("gpt4o", ids, 2))
	fmt.Println(Nearest("qwen25-14b-instruct", ids, 1))
	fmt.Println(Nearest("claude-sonnet-4.5", ids, 1))
	// Output:
	// [openai/GPT-4o openai/gpt-4o-mini]
	// [Qwen/Qwen2.5-14B-Instruct]
	// [claude-sonnet-4-5]
}
