package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"tokprobe/probe/wire"
)

// maxAside bounds the body of an answer that is no completion.
const maxAside = 4 << 20

// StatusError is an answer that is not 2xx, or is a web page, to something
// asked beside the completions.
type StatusError struct {
	Code int
	Text string // what the body said, one line; may be empty
	HTML bool   // the body is a web page, whatever the status says
}

func (e *StatusError) Error() string {
	if e.HTML {
		return fmt.Sprintf("status %d with a web page instead of an API's answer", e.Code)
	}
	if e.Text == "" {
		return fmt.Sprintf("status %d %s", e.Code, http.StatusText(e.Code))
	}
	return fmt.Sprintf("status %d %s: %s", e.Code, http.StatusText(e.Code), e.Text)
}

// get asks for a path of the target, with its credentials, outside any
// measurement. It follows no redirect. An answer that is not 2xx is a
// *StatusError; no error holds the key or secrets of a URL.
func (e *Endpoint) get(ctx context.Context, path string, reuse bool) ([]byte, error) {
	x, header, err := e.aside(ctx)
	if err != nil {
		return nil, err
	}
	e.inFlight.Add(1)
	defer e.leave()
	target := e.base.JoinPath(path)
	status, body, err := e.fetch(ctx, target, header, reuse)
	switch {
	case err != nil:
		return nil, x.creds.cleaned(err)
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\xef\xbb\xbf"), []byte("<")):
		return nil, &StatusError{Code: status, HTML: true}
	case status < 200 || status > 299:
		text := ""
		if object, ok := wire.ParseErrorBody(body); ok {
			text = x.creds.redact.line(object.Message)
		}
		return nil, &StatusError{Code: status, Text: text}
	}
	return body, nil
}

// aside prepares something that is asked beside the completions: the target's
// credentials and the headers with them.
func (e *Endpoint) aside(ctx context.Context) (*exchange, http.Header, error) {
	d, _ := wire.Lookup(protocolChat)
	if e.cfg.Vendor == "anthropic" {
		d, _ = wire.Lookup(protocolAnthropic)
	}
	x := &exchange{e: e, dialect: d}
	var err error
	x.creds, err = e.credentials(ctx, d)
	e.proxySecrets(&x.creds.redact)
	if err != nil {
		return nil, nil, x.creds.cleaned(err)
	}
	header := x.header()
	header.Del("Content-Type")
	header.Set("Accept", "application/json")
	return x, header, nil
}

// getRequest is a GET without a body. A Host among the headers is meant for it.
func getRequest(ctx context.Context, target *url.URL, header http.Header) *http.Request {
	req := (&http.Request{
		Method: http.MethodGet, URL: target, Host: target.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
	}).WithContext(ctx)
	if host := header.Get("Host"); host != "" {
		req.Host = host
		header.Del("Host")
	}
	return req
}

// fetch does one GET.
func (e *Endpoint) fetch(ctx context.Context, target *url.URL, header http.Header, reuse bool) (int, []byte, error) {
	ctx, cancel := tiedContext(ctx)
	defer cancel()
	req := getRequest(ctx, target, header)
	transport := e.fresh
	if reuse {
		transport = e.kept
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // no body that would end
		return resp.StatusCode, nil, nil
	}
	src, err := decoded(resp.Body, resp.Header.Get("Content-Encoding"))
	if err != nil {
		return resp.StatusCode, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(src, maxAside))
	return resp.StatusCode, body, err
}

// cleanError is an error whose text is fit to be shown.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

func (c *credentials) cleaned(err error) error {
	return &cleanError{c.redact.line(err.Error()), err}
}

// Open opens a kept connection, or uses one that is idle, by asking for the
// list of models. Any status will do: the connection is what counts. Sweeps
// open their connections with it before the clock runs.
func (e *Endpoint) Open(ctx context.Context) error {
	_, err := e.get(ctx, "/v1/models", true)
	var status *StatusError
	if errors.As(err, &status) {
		return nil
	}
	return err
}

// Health asks the target's own health endpoint and returns the status, without
// credentials. The error says why there was no answer.
func (e *Endpoint) Health(ctx context.Context, address string) (int, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil || target.Host == "" {
		return 0, errors.New("health URL: not an absolute http or https URL")
	}
	e.inFlight.Add(1)
	defer e.leave()
	header := http.Header{"User-Agent": {"tokprobe"}, "Accept-Encoding": {"identity"}}
	status, _, err := e.fetch(ctx, target, header, false)
	if status == 0 && err != nil {
		c := &credentials{}
		e.proxySecrets(&c.redact)
		return 0, c.cleaned(err)
	}
	return status, nil
}

// Hint returns the line for a human that goes with a result of this target.
func (e *Endpoint) Hint(r Result) string {
	state := keyUsable
	if e.cfg.Key == nil && e.cfg.Headers == nil {
		state = keyNone
	}
	return oneLine(hint(hintFacts{result: &r, key: state, keySource: e.cfg.KeySource, host: e.base.Host}), maxErrBytes)
}
