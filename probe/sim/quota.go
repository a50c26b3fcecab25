package sim

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// window is the span that the quotas by the minute look back on.
const window = time.Minute

// quota counts one model. Any 60 s hold at most RPM admitted requests and TPM
// tokens, so the first refusal is exactly request RPM+1.
type quota struct {
	Quota
	mu       sync.Mutex
	spent    []spending // of the last minute, oldest first
	tokens   int        // their sum
	inFlight int
}

type spending struct {
	at     time.Time
	tokens int
}

// take admits a request of so many tokens, or says why not. The headers are
// those of the answer in either case.
func (q *quota) take(model string, tokens int, now time.Time) (http.Header, *apiError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget(now)
	var e *apiError
	switch {
	case q.Concurrency > 0 && q.inFlight >= q.Concurrency:
		e = q.refuse(time.Second, "concurrency", "Too many concurrent requests for %s: Limit %d.", model, q.Concurrency)
	case q.RPM > 0 && len(q.spent) >= q.RPM:
		e = q.refuse(q.until(0, now), "requests", "Rate limit reached for %s on requests per min (RPM): Limit %d, Used %d, Requested 1.", model, q.RPM, len(q.spent))
	case q.TPM > 0 && q.tokens+tokens > q.TPM:
		e = q.refuse(q.until(q.tokens+tokens-q.TPM, now), "tokens", "Rate limit reached for %s on tokens per min (TPM): Limit %d, Used %d, Requested %d.", model, q.TPM, q.tokens, tokens)
	default:
		q.inFlight++
		q.spent = append(q.spent, spending{now, tokens})
		q.tokens += tokens
	}
	h := q.headers(now)
	if e != nil {
		h.Set("Retry-After", e.header.Get("Retry-After"))
		e.header = h
	}
	return h, e
}

// done ends a request that take admitted.
func (q *quota) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inFlight--
}

func (q *quota) forget(now time.Time) {
	n := 0
	for n < len(q.spent) && now.Sub(q.spent[n].at) >= window {
		q.tokens -= q.spent[n].tokens
		n++
	}
	q.spent = q.spent[n:]
}

// until is how long it takes for so many tokens (0: one request) to leave the
// window.
func (q *quota) until(tokens int, now time.Time) time.Duration {
	for _, s := range q.spent {
		tokens -= s.tokens
		if tokens <= 0 {
			return s.at.Add(window).Sub(now)
		}
	}
	return window // more than the quota can ever give
}

func (q *quota) refuse(wait time.Duration, kind, format string, args ...any) *apiError {
	secs := strconv.Itoa(max(1, int(math.Ceil(wait.Seconds()))))
	return &apiError{
		status: 429, kind: kind, code: "rate_limit_exceeded", outcome: "rate_limited",
		message: fmt.Sprintf(format, args...) + " Please try again in " + secs + "s.",
		header:  http.Header{"Retry-After": {secs}},
	}
}

// headers are OpenAI's: limit, what remains, and how long until all is back.
func (q *quota) headers(now time.Time) http.Header {
	h := http.Header{}
	reset := time.Duration(0)
	if n := len(q.spent); n > 0 {
		reset = q.spent[n-1].at.Add(window).Sub(now).Round(time.Millisecond)
	}
	set := func(what string, limit, used int) {
		h.Set("X-Ratelimit-Limit-"+what, strconv.Itoa(limit))
		h.Set("X-Ratelimit-Remaining-"+what, strconv.Itoa(limit-used))
		h.Set("X-Ratelimit-Reset-"+what, reset.String())
	}
	if q.RPM > 0 {
		set("Requests", q.RPM, len(q.spent))
	}
	if q.TPM > 0 {
		set("Tokens", q.TPM, q.tokens)
	}
	return h
}
