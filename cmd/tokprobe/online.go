package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// walk goes to one endpoint a step at a time, DNS → TCP → TLS → /health →
// /v1/models → one completion, and stops at the first thing that is wrong:
// whatever comes after it would only be noise.
type walk struct {
	out      io.Writer
	target   roster.Target
	cfg      probe.EndpointConfig
	endpoint *probe.Endpoint
	specs    []probe.Spec // one completion each, a model a time

	base *url.URL
	via  *url.URL // the proxy on the way, if any
	addr string   // host:port that is dialled
}

// finding is what is wrong and what to do about it, in words for a newcomer.
type finding struct{ what, mend string }

func (f finding) Error() string { return f.what + "\n      → " + f.mend }

// run prints a line a step and returns whether everything was good.
func (w *walk) run(ctx context.Context) bool {
	fmt.Fprintf(w.out, "target %s at %s\n", w.target.Name, w.target.BaseURL)
	for _, step := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"url", w.url}, {"dns", w.dns}, {"tcp", w.tcp}, {"tls", w.tls}, {"health", w.health}, {"models", w.models},
	} {
		if !w.report(step.name, step.do, ctx) {
			return false
		}
	}
	good := true
	for _, spec := range w.specs {
		ask := func(ctx context.Context) (string, error) { return w.complete(ctx, spec) }
		good = w.report("completion", ask, ctx) && good
	}
	return good
}

func (w *walk) report(name string, do func(context.Context) (string, error), ctx context.Context) bool {
	detail, err := do(ctx)
	if err != nil {
		fmt.Fprintf(w.out, "  %-10s  WRONG  %s\n", name, err)
		return false
	}
	if detail != "" {
		fmt.Fprintf(w.out, "  %-10s  ok     %s\n", name, detail)
	}
	return true
}

func (w *walk) url(context.Context) (string, error) {
	u, err := url.Parse(w.cfg.BaseURL)
	if err != nil {
		return "", finding{"base_url cannot be read", "write it as https://HOST or https://HOST/PREFIX"}
	}
	w.base = u
	if w.cfg.Proxy != nil {
		if w.via, err = w.cfg.Proxy(&http.Request{URL: u}); err != nil {
			return "", finding{"the proxy settings cannot be used", "check proxy_url, or the HTTPS_PROXY and NO_PROXY variables"}
		}
	}
	dialled := u
	if w.via != nil {
		dialled = w.via
	}
	port := dialled.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80", "socks5": "1080"}[dialled.Scheme]
	}
	w.addr = net.JoinHostPort(dialled.Hostname(), port)
	if w.via != nil {
		return "through the proxy at " + w.addr + "; the steps dns and tcp are about the proxy", nil
	}
	return "", nil
}

func (w *walk) dns(ctx context.Context) (string, error) {
	host, _, _ := net.SplitHostPort(w.addr)
	if net.ParseIP(host) != nil {
		return host + " is an address, nothing to look up", nil
	}
	ctx, cancel := context.WithTimeout(ctx, probe.HandLimits().Connect)
	defer cancel()
	start := time.Now()
	addrs, err := net.DefaultResolver.LookupHost(ctx, host)
	var dnsErr *net.DNSError
	switch {
	case err == nil:
		return fmt.Sprintf("%s is %s (%s)", host, strings.Join(addrs, ", "), seconds(time.Since(start))), nil
	case errors.As(err, &dnsErr) && dnsErr.IsNotFound:
		return "", finding{fmt.Sprintf("the name %s does not exist", host), "check the spelling of the host in base_url; if it is a private name, run this where that name is known"}
	}
	return "", finding{fmt.Sprintf("the name %s could not be looked up (%s)", host, clip(err)), "check this machine's resolver (/etc/resolv.conf) and that it may be reached from here"}
}

func (w *walk) tcp(ctx context.Context) (string, error) {
	start := time.Now()
	conn, err := (&net.Dialer{Timeout: probe.HandLimits().Connect}).DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return "", finding{fmt.Sprintf("no connection to %s (%s)", w.addr, clip(err)),
			"refused: nothing listens on that port, so check port and server; timed out: a firewall or network policy drops it"}
	}
	conn.Close()
	return fmt.Sprintf("%s answers (%s)", w.addr, seconds(time.Since(start))), nil
}

func (w *walk) tls(ctx context.Context) (string, error) {
	if w.base.Scheme != "https" || w.via != nil {
		return "", nil
	}
	conf := &tls.Config{}
	if w.cfg.TLS != nil {
		conf = w.cfg.TLS.Clone()
	}
	if conf.ServerName == "" {
		conf.ServerName = w.base.Hostname()
	}
	ctx, cancel := context.WithTimeout(ctx, probe.HandLimits().Connect)
	defer cancel()
	start := time.Now()
	conn, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return "", tlsFinding(err, w.base.Hostname())
	}
	defer conn.Close()
	state := conn.(*tls.Conn).ConnectionState()
	left := time.Until(state.PeerCertificates[0].NotAfter)
	return fmt.Sprintf("%s, certificate good for %d more days (%s)", tls.VersionName(state.Version), int(left.Hours()/24), seconds(time.Since(start))), nil
}

func tlsFinding(err error, host string) error {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return finding{"the certificate is expired or not yet valid: " + clip(err), "renew it on the server, or set this machine's clock"}
	case errors.As(err, &name):
		return finding{"the certificate is for another name than " + host, "use the name in the certificate as the host of base_url, or set tls_config.server_name"}
	case errors.As(err, &unknown):
		return finding{"the certificate's authority is not known here", "name your own authority in tls_config.ca_file"}
	case errors.As(err, &record):
		return finding{"the server does not speak TLS on this port", "write http:// in base_url, or use the TLS port"}
	}
	return finding{"no TLS connection: " + clip(err), "check the port and the TLS versions that the server allows"}
}

func (w *walk) health(ctx context.Context) (string, error) {
	if w.target.HealthURL == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, probe.HandLimits().Connect)
	defer cancel()
	status, err := w.endpoint.Health(ctx, w.target.HealthURL)
	switch {
	case err != nil:
		return fmt.Sprintf("no answer (%s); going on, only a completion tells", clip(err)), nil
	case status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Sprintf("none to be had (%d); it is not needed", status), nil
	case status == http.StatusServiceUnavailable:
		return "", finding{"it answers 503", "the server is still loading its model, or has no healthy worker: wait and try again"}
	case status >= 500:
		return "", finding{fmt.Sprintf("it answers %d", status), "the server says that it is not well: look at its log"}
	}
	return fmt.Sprintf("%d; this says nothing about the engine behind it", status), nil
}

// models compares the configured models with the endpoint's own list.
func (w *walk) models(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probe.HandLimits().FirstToken)
	defer cancel()
	ids, err := w.endpoint.Models(ctx)
	if err != nil {
		return w.noModels(err)
	}
	for _, model := range w.target.Models {
		if !slices.Contains(ids, model) {
			near := strings.Join(probe.Nearest(model, ids, 3), ", ")
			if near == "" {
				near = "none that is near; it has " + clipText(strings.Join(ids, ", "))
			}
			return "", finding{fmt.Sprintf("the endpoint lists no model %q", model), "model ids are exact, with case and prefix; nearest: " + near}
		}
	}
	return fmt.Sprintf("%d listed, all of yours among them", len(ids)), nil
}

// noModels explains why there is no list. Only a key that is refused or
// missing and a page of HTML are wrong for sure: many gateways have no list of models at all.
func (w *walk) noModels(err error) (string, error) {
	if errors.Is(err, probe.ErrNoCredentials) {
		return "", finding{clip(err), w.endpoint.Hint(probe.Result{Outcome: probe.Auth})}
	}
	var status *probe.StatusError
	if errors.As(err, &status) {
		switch {
		case status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden:
			return "", finding{fmt.Sprintf("the key is refused (%d)", status.Code), w.endpoint.Hint(probe.Result{Outcome: probe.Auth, HTTPStatus: status.Code})}
		case status.Code >= 300 && status.Code < 400:
			return "", finding{fmt.Sprintf("it redirects (%d)", status.Code), "redirects are never followed, since they would carry the key elsewhere: write the final URL in base_url"}
		case status.HTML && status.Code <= http.StatusNotFound: // a 502 of a proxy is a page, too
			return "", finding{fmt.Sprintf("%s/v1/models is a web page, not an API", w.cfg.BaseURL), "base_url names the site instead of its API: look for the API's base in the provider's documentation"}
		case status.Code == http.StatusNotFound:
			return "the endpoint has no list; going on", nil
		}
	}
	return fmt.Sprintf("no list (%s); going on", clip(err)), nil
}

// complete asks for one real answer, after learning what the endpoint accepts.
func (w *walk) complete(ctx context.Context, spec probe.Spec) (string, error) {
	w.endpoint.Calibrate(ctx, spec)
	r := w.endpoint.Probe(ctx, spec)
	if r.Outcome != probe.OK {
		return "", finding{fmt.Sprintf("model %s: %s: %s", spec.Model, r.Outcome, r.Err), r.Hint}
	}
	detail := fmt.Sprintf("model %s: ", spec.Model)
	if v, ok := r.TTFT.Get(); ok {
		detail += "TTFT " + seconds(v)
	}
	if v, ok := r.E2E.Get(); ok {
		detail += ", E2E " + seconds(v)
	}
	if v, ok := r.OutputTokens.Get(); ok {
		detail += fmt.Sprintf(", %d tokens", v)
	}
	const indent = "\n                     note: "
	if r.OutputTokensSource == "chunks" {
		detail += indent + "no usage comes with the stream, so token events are counted instead; for vLLM and gateways look for an option that passes stream_options.include_usage on"
	}
	if r.Coalesced {
		detail += indent + "many tokens come in one read: a proxy on the way buffers the stream (nginx: proxy_buffering off), TTFT is too late and TPOT cannot be measured"
	}
	return detail, nil
}

func clip(err error) string { return clipText(err.Error()) }

// clipText bounds and cleans text that came from elsewhere.
func clipText(s string) string {
	s = strings.ReplaceAll(printable(s), "\n", " ")
	if runes := []rune(s); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return s
}
