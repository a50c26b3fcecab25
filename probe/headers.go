package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// requestIDHeaders are where endpoints put the id of a request, best first.
var requestIDHeaders = []string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid", "X-Amzn-Request-Id", "X-Trace-Id", "Cf-Ray"}

func requestID(h http.Header) string {
	for _, name := range requestIDHeaders {
		if id := identifier(h.Get(name)); id != "" {
			return id
		}
	}
	return ""
}

// maxRetryAfter bounds what an endpoint may ask for; more is no sensible answer.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long a refusing endpoint asks to be left alone:
// Retry-After (seconds or a date) or its millisecond form; failing that until
// the limit that is used up refills, or the longest of the resets if none says
// that it is used up.
func retryAfter(h http.Header, now time.Time) Opt[time.Duration] {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms >= 0 {
		return bounded(ms / 1000)
	}
	if d := waitTime(h.Get("Retry-After"), now); d.OK {
		return d
	}
	limits, longest := rateLimit(h, now)
	if limits.Reset.OK {
		return limits.Reset
	}
	return longest
}

// rateLimit reads the rate-limit headers in OpenAI's and Anthropic's spelling:
// x-ratelimit-remaining-requests, anthropic-ratelimit-requests-remaining. It
// also returns the longest reset, whether its limit is used up or not. Odd
// values (a remaining count of -1) are unknown.
func rateLimit(h http.Header, now time.Time) (l RateLimit, longest Opt[time.Duration]) {
	get := func(what, of string) string {
		if v := h.Get("X-Ratelimit-" + what + "-" + of); v != "" {
			return v
		}
		return h.Get("Anthropic-Ratelimit-" + of + "-" + what)
	}
	for _, of := range []string{"requests", "tokens"} {
		limit, remaining := quantity(get("limit", of)), quantity(get("remaining", of))
		if of == "requests" {
			l.LimitRequests, l.RemainingRequests = limit, remaining
		} else {
			l.LimitTokens, l.RemainingTokens = limit, remaining
		}
		reset := waitTime(get("reset", of), now)
		longest = longer(longest, reset)
		if remaining.OK && remaining.V == 0 {
			l.Reset = longer(l.Reset, reset)
		}
	}
	return l, longer(longest, waitTime(h.Get("X-Ratelimit-Reset"), now))
}

func longer(a, b Opt[time.Duration]) Opt[time.Duration] {
	if b.OK && (!a.OK || b.V > a.V) {
		return b
	}
	return a
}

func quantity(s string) Opt[int64] {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return Opt[int64]{V: max(n, 0), OK: err == nil && n >= 0}
}

// waitTime reads "20", "0.5", "20s", "1m30s", "120ms", an HTTP or RFC 3339
// date, or a Unix time in seconds or milliseconds. The past is 0.
func waitTime(s string, now time.Time) Opt[time.Duration] {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case n > 1e12: // Unix milliseconds
			return bounded(n/1000 - float64(now.UnixMilli())/1000)
		case n > 1e9:
			return bounded(n - float64(now.UnixMilli())/1000)
		}
		return bounded(n)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return bounded(d.Seconds())
	}
	at, err := http.ParseTime(s)
	if err != nil {
		at, err = time.Parse(time.RFC3339, s)
	}
	if err != nil {
		return Opt[time.Duration]{}
	}
	return bounded(at.Sub(now).Seconds())
}

func bounded(seconds float64) Opt[time.Duration] {
	if math.IsNaN(seconds) || seconds < 0 {
		seconds = 0
	}
	return Some(time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second)))
}

// certExpiry returns the earliest end of validity in the chain that the server
// sent, also if it was the reason why there is no session.
func certExpiry(state *tls.ConnectionState, err error) time.Time {
	var chain []*x509.Certificate
	var verify *tls.CertificateVerificationError
	switch {
	case state != nil:
		chain = state.PeerCertificates
	case errors.As(err, &verify):
		chain = verify.UnverifiedCertificates
	}
	var first time.Time
	for _, c := range chain {
		if first.IsZero() || c.NotAfter.Before(first) {
			first = c.NotAfter
		}
	}
	return first
}

func httpVersion(resp *http.Response) string {
	if resp.ProtoMajor >= 2 {
		return strconv.Itoa(resp.ProtoMajor)
	}
	return strconv.Itoa(resp.ProtoMajor) + "." + strconv.Itoa(resp.ProtoMinor)
}
