package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tokprobe/probe/wire"
)

// maxAsking bounds how many requests of an endpoint ask for credentials at once.
const maxAsking = 16

// keyState is what the credentials of one request looked like. It holds no
// part of the key.
type keyState int

const (
	keyNone   keyState = iota // no credentials are configured
	keyUsable                 // present, one word
	keyEmpty                  // credentials are configured, but give no key
	keyBlanks                 // blanks or line feeds around or inside
	keyScheme                 // Authorization without "Bearer" (or another scheme) before the key
	keyDouble                 // "Bearer Bearer …"
)

// credentials are the headers of one request and what is known about them.
type credentials struct {
	header http.Header
	state  keyState
	spent  Opt[time.Duration] // phase auth
	redact redactor
}

// ErrNoCredentials is matched by the error of a request that was not sent since
// its credentials could not be had.
var ErrNoCredentials = errors.New("no credentials")

// authError is a failure to get the credentials; nothing was sent.
type authError struct{ err error }

func (e *authError) Is(target error) bool { return target == ErrNoCredentials }

func (e *authError) Error() string { return "credentials: " + e.err.Error() }
func (e *authError) Unwrap() error { return e.err }

// credentials asks for the key and the headers of one request. It returns when
// ctx ends even if their source does not care for ctx, as a key file on a hung
// mount or an OAuth client without deadlines may not. At most maxAsking wait for
// such a source: each may hold a thread of the system, and 10,000 end a process.
func (e *Endpoint) credentials(ctx context.Context, d wire.Dialect) (credentials, error) {
	if e.cfg.Headers == nil && e.cfg.Key == nil {
		return credentials{}, nil
	}
	type answer struct {
		header http.Header
		err    error
	}
	begin := time.Now()
	got := make(chan answer, 1)
	var a answer
	select {
	case e.asking <- struct{}{}:
		go func() {
			defer func() { <-e.asking }()
			h, err := e.safeHeaders(ctx, d.KeyHeader)
			got <- answer{h, err}
		}()
		select {
		case a = <-got:
		case <-ctx.Done():
			a.err = context.Cause(ctx)
		}
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	}
	c := credentials{header: a.header, spent: Some(time.Since(begin))}
	if a.err != nil {
		return c, &authError{a.err}
	}
	return c, c.inspect(d.KeyHeader)
}

// safeHeaders is authHeaders on a goroutine of its own, where a panic would end
// the whole process.
func (e *Endpoint) safeHeaders(ctx context.Context, name string) (h http.Header, err error) {
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("the source of the credentials panicked (%T)", p)
		}
	}()
	return e.authHeaders(ctx, name)
}

// authHeaders returns the key in the dialect's header, and the configured
// headers over it.
func (e *Endpoint) authHeaders(ctx context.Context, name string) (http.Header, error) {
	h := http.Header{}
	if e.cfg.Key != nil {
		key, err := e.cfg.Key(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case key == "":
		case strings.EqualFold(name, "Authorization"):
			h.Set(name, "Bearer "+key)
		default:
			h.Set(name, key)
		}
	}
	if e.cfg.Headers == nil {
		return h, nil
	}
	more, err := e.cfg.Headers(ctx)
	for n, values := range more {
		h[http.CanonicalHeaderKey(n)] = values
	}
	return h, err
}

// inspect notes what has to be kept out of texts and what the key looks like.
func (c *credentials) inspect(keyHeader string) error {
	for name, values := range c.header {
		c.redact.header(name, values)
	}
	for name, values := range c.header {
		for _, v := range values {
			// net/http would refuse such a value before it dials, in
			// words that sound like a broken connection.
			if strings.ContainsFunc(v, isForbidden) {
				c.state = keyBlanks
				return &authError{fmt.Errorf("the value of header %s has a line feed or another control character", name)}
			}
		}
	}
	c.state = stateOfKey(c.header, keyHeader)
	return nil
}

// isForbidden says which characters no header value may have.
func isForbidden(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func isScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "apikey", "api-key":
		return true
	}
	return false
}

// stateOfKey looks at the key in the dialect's header, or in the other header
// that carries keys: Anthropic endpoints take both.
func stateOfKey(h http.Header, name string) keyState {
	values := h.Values(name)
	if len(values) == 0 {
		for _, other := range []string{"Authorization", "X-Api-Key", "Api-Key"} {
			if v := h.Values(other); len(v) > 0 {
				name, values = other, v
				break
			}
		}
	}
	if len(values) == 0 {
		return keyEmpty
	}
	key := values[0]
	if strings.EqualFold(name, "Authorization") {
		scheme, rest, _ := strings.Cut(key, " ")
		if !isScheme(scheme) {
			if strings.TrimSpace(key) == "" {
				return keyEmpty
			}
			return keyScheme
		}
		key = rest
		if again, _, ok := strings.Cut(strings.TrimSpace(key), " "); ok && isScheme(again) {
			return keyDouble
		}
	}
	switch {
	case strings.TrimSpace(key) == "":
		return keyEmpty
	case strings.ContainsAny(key, " \t"):
		return keyBlanks
	}
	return keyUsable
}
