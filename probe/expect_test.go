package probe

import (
	"strings"
	"testing"
)

func TestExpect(t *testing.T) {
	const answer = "The secret word is xylophone."
	for _, test := range []struct {
		name   string
		expect Expect
		want   Outcome
		err    string
	}{
		{"nothing", Expect{}, OK, ""},
		{"regex matches", Expect{Regex: `xylo\w+`}, OK, ""},
		{"regex does not match", Expect{Regex: `^\d+$`}, Assertion, `expect.regex "^\\d+$" does not match the answer of 29 bytes`},
		{"regex is none", Expect{Regex: `(`}, Internal, "expect.regex: error parsing regexp: missing closing ): `(`"},
		{"enough tokens", Expect{MinTokens: 7}, OK, ""},
		{"too few tokens", Expect{MinTokens: 8}, Assertion, "expect.min_tokens 8: the answer has 7 tokens"},
		{"finish reason", Expect{FinishReason: "stop"}, OK, ""},
		{"another finish reason", Expect{FinishReason: "length"}, Assertion, `expect.finish_reason "length": the answer ended with "stop"`},
		{"the first miss is told", Expect{Regex: "absent", MinTokens: 99}, Assertion, `expect.regex "absent" does not match the answer of 29 bytes`},
	} {
		var s learnedStore
		for range 2 { // the second time with the compiled pattern
			r := Result{Outcome: OK, FinishReason: "stop", OutputTokens: Some(int64(7)), OutputTokensSource: "usage"}
			s.judge("openai", Spec{Prompt: Prompt{Expect: test.expect}}, answer, &r)
			if r.Outcome != test.want || r.Err != test.err {
				t.Errorf("%s: %s, %q; want %s, %q", test.name, r.Outcome, r.Err, test.want, test.err)
			}
			if strings.Contains(r.Err, "xylophone") {
				t.Errorf("%s: the answer is in %q", test.name, r.Err)
			}
		}
		if n := len(s.patterns); test.want != Internal && test.expect.Regex != "" && n != 1 {
			t.Errorf("%s: %d compiled patterns", test.name, n)
		}
	}
}

func TestOnlyARegexNeedsTheText(t *testing.T) {
	if !(Expect{Regex: "a"}).needsText() || (Expect{MinTokens: 1, FinishReason: "stop"}).needsText() {
		t.Error("needsText")
	}
}
