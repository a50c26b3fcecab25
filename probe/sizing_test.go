package probe

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe/wire"
)

func long(n int) Spec {
	return Spec{ID: ID{Model: "m"}, Prompt: Prompt{InputTokens: n, MaxTokens: 100}}
}

func TestCalibrateFindsTheSizeOfGeneratedPrompts(t *testing.T) {
	for _, tok := range tokenizers {
		var s learnedStore
		f := fakeServer{count: tok.count, natural: 5}
		send := f.sender(&s, "openai")
		for i, n := range []int{500, 8000, 128_000, 3000} {
			f.requests = nil
			c := s.calibrate(t.Context(), "openai", long(n), send)
			params := 0
			if i == 0 {
				params = 1
			}
			if c.Err != nil || c.Requests > maxSizings+params || c.Requests != len(f.requests) {
				t.Errorf("%s, %d: %d requests, %v", tok.name, n, c.Requests, c.Err)
			}
			for _, r := range f.requests[params:] {
				if r.MaxTokens != sizingTokens {
					t.Errorf("%s, %d: max_tokens %d", tok.name, n, r.MaxTokens)
				}
			}
			if r := send(t.Context(), long(n)); abs(int(r.PromptTokens.V)-n) > tolerance(n) || len(r.Warnings) > 0 {
				t.Errorf("%s: asked for %d, got %d, warnings %q", tok.name, n, r.PromptTokens.V, r.Warnings)
			}
			if c := s.calibrate(t.Context(), "openai", long(n), send); c != (Calibration{}) {
				t.Errorf("%s, %d: calibrated again: %+v", tok.name, n, c)
			}
		}
	}
}

// The calibration of a big prompt must cost far less than the prompt itself.
func TestABigPromptIsCalibratedWithSmallOnes(t *testing.T) {
	var s learnedStore
	f := fakeServer{count: tokenizers[1].count, natural: 5}
	c := s.calibrate(t.Context(), "openai", long(128_000), f.sender(&s, "openai"))
	if c.Requests != 3 || c.InputTokens > 10_000 {
		t.Errorf("%d requests with %d tokens", c.Requests, c.InputTokens)
	}
}

func TestCalibrationNeverTakesMoreThanSixRequests(t *testing.T) {
	var s learnedStore
	steps := 0
	f := fakeServer{natural: 5}
	f.count = func(string) int { steps++; return 100 + steps } // says nothing about the size
	all := []params{paramBound, paramStreamOptions, paramIgnoreEOS, paramMinTokens}
	f.refuse = func(r wire.Request) *wire.ErrorObject {
		for i, name := range []string{"max_tokens", "stream_options", "ignore_eos", "min_tokens"} {
			if e := refuses(all[i], "", name)(r); e != nil {
				return e
			}
		}
		return nil
	}
	c := s.calibrate(t.Context(), "vllm", long(5000), f.sender(&s, "vllm"))
	if c.Requests != 6 || c.Err != nil {
		t.Errorf("%d requests, %v", c.Requests, c.Err)
	}
}

func TestWithoutPromptTokensTheSizeIsAGuess(t *testing.T) {
	var s learnedStore
	f := fakeServer{natural: 5}
	send := f.sender(&s, "openai")
	if c := s.calibrate(t.Context(), "openai", long(1000), send); c.Requests != 2 || c.Err != nil {
		t.Errorf("%+v", c)
	}
	if c := s.calibrate(t.Context(), "openai", long(2000), send); c.Requests != 0 {
		t.Errorf("asked again: %+v", c)
	}
	r := send(t.Context(), long(1000))
	want := "the size of the prompt is a guess: the endpoint reports no prompt_tokens to calibrate 1000 against"
	if !slices.Equal(r.Warnings, []string{want}) {
		t.Errorf("warnings %q", r.Warnings)
	}
	req := f.requests[len(f.requests)-1]
	if got := len(req.Messages[0].Content); got < 4100 || got > 4400 {
		t.Errorf("%d bytes for about 1000 tokens", got)
	}
}

func TestAFailedSizingIsTriedAgainAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s learnedStore
		f := fakeServer{natural: 5, count: words}
		send := f.sender(&s, "openai")
		s.calibrate(t.Context(), "openai", chat(), send)
		f.fail = Overloaded
		c := s.calibrate(t.Context(), "openai", long(1000), send)
		if c.Requests != 1 || c.Err == nil || c.Err.Error() != "calibration of input_tokens 1000: overloaded: told to" {
			t.Errorf("%+v", c)
		}
		f.fail = ""
		if c := s.calibrate(t.Context(), "openai", long(1000), send); c.Requests != 0 {
			t.Errorf("at once: %+v", c)
		}
		if c := s.calibrate(t.Context(), "openai", long(2000), send); c.Requests == 0 || c.Err != nil {
			t.Errorf("another prompt: %+v", c)
		}
		time.Sleep(relearnAfter)
		if c := s.calibrate(t.Context(), "openai", long(1000), send); c.Requests == 0 || c.Err != nil {
			t.Errorf("after 10 minutes: %+v", c)
		}
	})
}

// Where the calibration failed, the first probe says how long the prompt is and
// the next one is right.
func TestAProbeSetsTheSizeRightOnce(t *testing.T) {
	var s learnedStore
	f := fakeServer{natural: 5, count: func(s string) int { return 2 * words(s) }}
	send := f.sender(&s, "openai")
	first := send(t.Context(), long(1000))
	second := send(t.Context(), long(1000))
	got := int(first.PromptTokens.V)
	want := fmt.Sprintf("the prompt has %d tokens, not the 1000 asked for", got)
	if abs(got-1000) < 100 || !slices.Equal(first.Warnings, []string{want}) {
		t.Errorf("first: %d tokens, warnings %q", got, first.Warnings)
	}
	if abs(int(second.PromptTokens.V)-1000) > 10 || len(second.Warnings) != 0 {
		t.Errorf("second: %d tokens, warnings %q", second.PromptTokens.V, second.Warnings)
	}

	// A tokenizer that changes later is reported, not followed.
	f.count = func(s string) int { return 3 * words(s) }
	third, fourth := send(t.Context(), long(1000)), send(t.Context(), long(1000))
	if third.PromptTokens != fourth.PromptTokens {
		t.Errorf("the prompt went on changing: %d, %d", third.PromptTokens.V, fourth.PromptTokens.V)
	}
	if len(third.Warnings) != 2 || len(fourth.Warnings) != 1 {
		t.Errorf("warnings %q, then %q", third.Warnings, fourth.Warnings)
	}
}

func TestNotePrompt(t *testing.T) {
	type answer struct{ prompt, cached int64 }
	note := func(s *learnedStore, spec Spec, a answer) Result {
		r := Result{Outcome: OK, PromptTokens: Opt[int64]{V: a.prompt, OK: a.prompt > 0}, CachedTokens: Opt[int64]{V: a.cached, OK: a.cached >= 0}}
		s.notePrompt(spec, &r)
		return r
	}
	const changed = "prompt_tokens went from 30 to 32 for the same prompt: its tokenizer, template or gateway changed"
	warm := chat()
	warm.Prompt.Cache = CacheWarm
	other := chat()
	other.Prompt.MaxTokens = 5
	for _, test := range []struct {
		name    string
		before  Spec
		spec    Spec
		give    answer
		want    []string
		suspect bool
	}{
		{"the same", chat(), chat(), answer{30, -1}, nil, false},
		{"changed", chat(), chat(), answer{32, -1}, []string{changed}, false},
		{"another prompt", other, chat(), answer{32, -1}, nil, false},
		{"warm prompts are compared by nobody", warm, warm, answer{32, 31}, nil, false},
		{"unknown", chat(), chat(), answer{0, -1}, nil, false},
		{"a tenth cached", chat(), chat(), answer{30, 3}, nil, false},
		{"more than a tenth", chat(), chat(), answer{30, 4}, []string{"4 of 30 prompt tokens came from a cache although the prompt was new: TTFT flatters"}, true},
	} {
		var s learnedStore
		note(&s, test.before, answer{30, -1})
		r := note(&s, test.spec, test.give)
		if !slices.Equal(r.Warnings, test.want) || r.CacheSuspect != test.suspect {
			t.Errorf("%s: warnings %q, suspect %v", test.name, r.Warnings, r.CacheSuspect)
		}
	}
}

func TestPromptSizesAreRememberedInBoundedMemory(t *testing.T) {
	var s learnedStore
	spec := chat()
	for i := range 10_000 {
		spec.Prompt.MaxTokens = i + 1
		r := Result{Outcome: OK, PromptTokens: Some(int64(9))}
		s.notePrompt(spec, &r)
	}
	if n := len(s.model("m").prompts); n > maxPrompts {
		t.Errorf("%d prompts are remembered", n)
	}
}
