package probe

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestEveryFailureHasAHint(t *testing.T) {
	for _, o := range Outcomes() {
		line := hint(hintFacts{result: &Result{Outcome: o}})
		if (line != "") != (o != OK) {
			t.Errorf("%s: hint %q", o, line)
		}
		if strings.Contains(line, "%!") || strings.ContainsAny(line, "\n\r") || len(line) > maxErrBytes {
			t.Errorf("%s: hint %q", o, line)
		}
	}
	if len(hints) != len(Outcomes())-1 {
		t.Errorf("%d hints for %d outcomes", len(hints), len(Outcomes()))
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts hintFacts
		want  string
	}{
		{"thinking only", hintFacts{result: &Result{Outcome: Empty, FinishReason: "length"}},
			"all tokens went into hidden thinking: raise max_tokens or lower the reasoning effort of this prompt"},
		{"models", hintFacts{result: &Result{ID: ID{Model: "gpt4o"}, Outcome: NotFound}, nearest: []string{"gpt-4o", "gpt-4"}},
			`no model "gpt4o"; nearest that the endpoint lists: gpt-4o, gpt-4`},
		{"listed model", hintFacts{result: &Result{ID: ID{Model: "m"}, Outcome: NotFound}, nearest: []string{"m", "m2"}},
			`the endpoint lists "m" and yet answers that it is not there: no access with this key, not loaded, or no such path for this protocol`},
		{"limit", hintFacts{result: &Result{Outcome: Stall}, limit: &limitError{limitStall, 8 * time.Second}},
			"the answer began and then stopped: limit stall of 8s reached; a limit that is too short for this prompt looks like a server fault"},
		{"lag", hintFacts{result: &Result{Outcome: Stall, LagSuspect: true, ClientLag: 1234 * time.Millisecond}},
			"this machine ran 1.234s late meanwhile, which could explain the result: give tokprobe more CPU"},
		{"quota", hintFacts{result: &Result{Outcome: RateLimited, RetryAfter: Some(20 * time.Second)}},
			"the quota of this key is spent (it asks to wait 20s): probe less often, raise the quota, or look who else uses the key"},
		{"no key", hintFacts{result: &Result{Outcome: Auth, HTTPStatus: 401}},
			"no key was sent: name one with api_key_env, api_key_file or --api-key-env"},
	} {
		if got := hint(c.facts); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"", ""},
		{"  plain\t text \r\n", "plain text"},
		{"\x1b[31mred\x1b[0m\x07", "[31mred[0m"},
		{"bad \xff byte", "bad ? byte"},
		{"\u202eevil \u200b", "evil"},
		{strings.Repeat("x", 50), strings.Repeat("x", 37) + "…"},
		{strings.Repeat("é", 50), strings.Repeat("é", 18) + "…"},
	} {
		got := oneLine(c.give, 40)
		if got != c.want || len(got) > 40 || !utf8.ValidString(got) {
			t.Errorf("oneLine(%q) = %q, want %q", c.give, got, c.want)
		}
	}
}

func TestURLSecrets(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"dial tcp: refused", "dial tcp: refused"},
		{`Post "https://u:p@h:1/a/b?k=v#f": EOF`, `Post "https://h:1/a/b": EOF`},
		{"http://a@b then https://c?d", "http://b then https://c"},
		{"at https://u:p%40@x@h/", "at https://h/"},
		{"://", "://"},
	} {
		if got := withoutURLSecrets(c.give); got != c.want {
			t.Errorf("%q → %q, want %q", c.give, got, c.want)
		}
	}
}

func TestIdentifier(t *testing.T) {
	for _, c := range []struct{ give, want string }{
		{"req_1-a", "req_1-a"},
		{" a b\n", "ab"},
		{"a\xffb\x00", "ab"},
		{strings.Repeat("é", 120), strings.Repeat("é", 100)},
	} {
		if got := identifier(c.give); got != c.want {
			t.Errorf("identifier(%q) = %q, want %q", c.give, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := func(pairs ...string) http.Header {
		header := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			header.Set(pairs[i], pairs[i+1])
		}
		return header
	}
	none := Opt[time.Duration]{}
	for _, c := range []struct {
		name string
		give http.Header
		want Opt[time.Duration]
	}{
		{"nothing", h(), none},
		{"seconds", h("Retry-After", "20"), Some(20 * time.Second)},
		{"fraction", h("Retry-After", " 0.5 "), Some(500 * ms)},
		{"date", h("Retry-After", "Sun, 01 Mar 2026 12:01:30 GMT"), Some(90 * time.Second)},
		{"past", h("Retry-After", "Sun, 01 Mar 2026 11:00:00 GMT"), Some(time.Duration(0))},
		{"odd", h("Retry-After", "soon"), none},
		{"negative", h("Retry-After", "-3"), Some(time.Duration(0))},
		{"endless", h("Retry-After", "1e8"), Some(24 * time.Hour)},
		{"milliseconds first", h("Retry-After-Ms", "250", "Retry-After", "1"), Some(250 * ms)},
		{"it wins over resets", h("Retry-After", "20", "X-Ratelimit-Reset-Requests", "1m"), Some(20 * time.Second)},
		{"reset", h("X-Ratelimit-Reset-Requests", "1m30s"), Some(90 * time.Second)},
		{"longest reset", h("X-Ratelimit-Reset-Requests", "120ms", "X-Ratelimit-Reset-Tokens", "6m0s"), Some(6 * time.Minute)},
		{"of the one used up", h("X-Ratelimit-Reset-Requests", "20s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "100"), Some(20 * time.Second)},
		{"anthropic", h("Anthropic-Ratelimit-Tokens-Reset", "2026-03-01T12:00:42Z", "Anthropic-Ratelimit-Tokens-Remaining", "0"), Some(42 * time.Second)},
		{"unix time", h("X-Ratelimit-Reset", "1772366430"), Some(30 * time.Second)},
		{"unix milliseconds", h("X-Ratelimit-Reset", "1772366430000"), Some(30 * time.Second)},
	} {
		if got := retryAfter(c.give, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
