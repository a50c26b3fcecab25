package probe

import (
	"fmt"
	"slices"
	"strings"
)

// hintFacts are what a hint may mention besides the result itself.
type hintFacts struct {
	result    *Result
	limit     *limitError // nil unless a limit of ours ended the probe
	key       keyState
	keySource string   // "environment variable TAOTOKEN_API_KEY", or empty
	host      string   // of the base URL
	nearest   []string // ids of models that the endpoint lists, nearest first
}

// hints holds one line per outcome for the human who reads the failure: what
// to look at first.
var hints = map[Outcome]func(hintFacts) string{
	DNS:         text("the name %s did not resolve from here: check the base URL, the resolver and the network policy", host),
	Connect:     text("no TCP connection to %s: check that it listens, the firewall and the proxy", host),
	TLS:         text("no TLS session with %s: check the certificate, its names and dates, the CA file, and that the port speaks TLS", host),
	ServerError: fixed("the endpoint or a proxy before it failed: look for the request id and this time in its logs"),
	Overloaded:  fixed("the endpoint says it is overloaded or still loading: check its queue and replicas; it clears by itself or needs capacity"),

	TimeoutFirstToken: limitHint("first_token", "the engine may hang or queue while its health check stays green"),
	Stall:             limitHint("stall", "the answer began and then stopped"),
	TimeoutTotal:      limitHint("total", "the answer was slower or longer than the limit allows"),

	Reset:       fixed("the connection was torn down: look for a crashed or restarted server, or a proxy that drops long streams"),
	Truncated:   fixed("the answer broke off without an end marker: look for a proxy's read timeout or a restarted worker"),
	StreamError: fixed("the endpoint reported an error inside a 200 stream: status codes alone will not show it; search its logs for the request id"),
	BadStream:   fixed("what came is no event stream of this protocol: check the base URL, the protocol and that streaming is on"),
	Empty:       emptyHint,

	Short:         fixed("the answer ended before the length this server is known to honour: look for changed limits, stop words or a dying worker"),
	Assertion:     fixed("the answer is not what the prompt expects: look at it with probe --show-text; a wrong model or a broken template is likely"),
	ContentFilter: fixed("a content filter refused this prompt or its answer: change the prompt or the filter"),

	Auth:        authHint,
	NotFound:    notFoundHint,
	BadRequest:  fixed("the endpoint refuses our request: check params, max_tokens and the protocol of this target against its documentation"),
	RateLimited: rateHint,
	Redirect:    fixed("redirects are not followed: write the final address as base URL, or look for a login page before the endpoint"),
	Internal:    fixed("nothing was measured: the fault lies with tokprobe or its configuration"),
}

// hint returns the line for a result; "" if it is ok.
func hint(f hintFacts) string {
	if f.result.LagSuspect {
		return fmt.Sprintf("this machine ran %s late meanwhile, which could explain the result: give tokprobe more CPU", f.result.ClientLag.Round(1e6))
	}
	if make := hints[f.result.Outcome]; make != nil {
		return make(f)
	}
	return ""
}

// Advice is the hint of an outcome by itself, for a table of all of them.
func Advice(o Outcome) string {
	r := &Result{ID: ID{Model: "NAME"}, Outcome: o, HTTPStatus: 401} // 401: only auth looks at it
	return hint(hintFacts{result: r, host: "the host"})
}

func fixed(s string) func(hintFacts) string { return func(hintFacts) string { return s } }

func host(f hintFacts) string { return f.host }

func text(format string, arg func(hintFacts) string) func(hintFacts) string {
	return func(f hintFacts) string { return fmt.Sprintf(format, arg(f)) }
}

func limitHint(name, meaning string) func(hintFacts) string {
	return func(f hintFacts) string {
		value := ""
		if f.limit != nil {
			value = " of " + f.limit.value.String()
		}
		return fmt.Sprintf("%s: limit %s%s reached; a limit that is too short for this prompt looks like a server fault", meaning, name, value)
	}
}

func emptyHint(f hintFacts) string {
	if f.result.Kind() == KindOurs {
		return "all tokens went into hidden thinking: raise max_tokens or lower the reasoning effort of this prompt"
	}
	return "a well-formed answer without a single token: look at the prompt template, stop words and the model itself"
}

func authHint(f hintFacts) string {
	source := f.keySource
	if source == "" {
		source = "the configured credentials"
	}
	if f.limit != nil {
		return fmt.Sprintf("%s: no credentials within the connect limit of %s; look at the token server or the file system", source, f.limit.value)
	}
	if f.result.HTTPStatus == 0 && f.key != keyBlanks {
		return "no key could be had from " + source + "; nothing was sent"
	}
	switch f.key {
	case keyNone:
		return "no key was sent: name one with api_key_env, api_key_file or --api-key-env"
	case keyEmpty:
		return "the key from " + source + " is empty"
	case keyBlanks:
		return "the key from " + source + " has blanks or line feeds in it"
	case keyScheme:
		return "the Authorization header from " + source + " lacks the scheme: it must read Bearer KEY"
	case keyDouble:
		return "the Authorization header from " + source + " says its scheme twice: the key itself must not begin with Bearer"
	}
	return "the endpoint refuses the key from " + source + " (neither empty nor with blanks, " + f.scheme() + "): expired, revoked, for another host, or without access to this model"
}

func notFoundHint(f hintFacts) string {
	if len(f.nearest) == 0 {
		return fmt.Sprintf("no model %q at this address, or a wrong path: compare with the ids under GET /v1/models and check the base URL", f.result.Model)
	}
	if slices.Contains(f.nearest, f.result.Model) {
		return fmt.Sprintf("the endpoint lists %q and yet answers that it is not there: no access with this key, not loaded, or no such path for this protocol", f.result.Model)
	}
	return fmt.Sprintf("no model %q; nearest that the endpoint lists: %s", f.result.Model, strings.Join(f.nearest, ", "))
}

func rateHint(f hintFacts) string {
	wait := ""
	if d, ok := f.result.RetryAfter.Get(); ok {
		wait = fmt.Sprintf(" (it asks to wait %s)", d)
	}
	return "the quota of this key is spent" + wait + ": probe less often, raise the quota, or look who else uses the key"
}

// scheme says how the key was sent.
func (f hintFacts) scheme() string {
	if f.result.Protocol == protocolAnthropic {
		return "header x-api-key or scheme Bearer"
	}
	return "scheme Bearer"
}
