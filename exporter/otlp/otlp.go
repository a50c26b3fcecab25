// Package otlp pushes what probes measured to an OpenTelemetry receiver, for
// teams that do not scrape. Names, units, bucket bounds and attributes are
// those of the OpenTelemetry GenAI client metrics; each probe is one set of
// cumulative histograms. It speaks OTLP/HTTP in its JSON form, encoded with
// the standard library: of the protocol only four histograms are needed, while
// the SDK with its exporter brings 16 modules, gRPC among them, and 4.1 MB to a
// program of 19.2 MB.
package otlp

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// DefaultInterval lies between two pushes unless Config says otherwise.
const DefaultInterval = time.Minute

// Config of a Recorder. Only Endpoint is needed.
type Config struct {
	// Endpoint is the receiver's base URL, http or https; /v1/metrics is
	// appended unless it is there already.
	Endpoint string
	// HeadersFile holds what goes with every push, such as a key: lines of
	// "Name: value". It is read again for each push. Empty: nothing.
	HeadersFile string
	Interval    time.Duration // 0 is DefaultInterval
	Resource    Resource
	// Pushed is told how each push ended, and whether that differs from the
	// push before (the first one always does). The error holds neither a
	// header nor what the receiver wrote. nil tells nobody.
	Pushed func(err error, changed bool)
	// Transport replaces the network in tests.
	Transport http.RoundTripper
}

// Resource names this process. Two of them that push to one receiver must
// differ in Instance. An empty field is left out.
type Resource struct {
	Version, Instance, Location string
}

// Recorder is a probe.Recorder that sums up and pushes. Record never waits for
// the network. Memory is bounded by the configuration: histograms exist for
// watched probes only, and error types are the closed list of outcomes. All
// methods of a nil *Recorder do nothing.
type Recorder struct {
	cfg      Config
	url      *url.URL
	client   *http.Client
	resource []attribute
	known    bool // how the last push ended is known; only Run's goroutine looks
	failing  bool // it failed

	mu      sync.Mutex
	streams map[probe.ID]*stream
	order   []*stream
}

// New checks the settings, the headers file included; it sends nothing.
func New(cfg Config) (*Recorder, error) {
	u, err := target(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	if cfg.Interval <= 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 2 * cfg.Interval}
	}
	r := &Recorder{cfg: cfg, url: u, streams: map[probe.ID]*stream{}}
	r.client = &http.Client{
		Transport:     cfg.Transport, // a redirect must not carry the headers elsewhere
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.resource = []attribute{text("service.name", "tokprobe")}
	for _, a := range []attribute{text("service.version", cfg.Resource.Version),
		text("service.instance.id", cfg.Resource.Instance), text("tokprobe.location", cfg.Resource.Location)} {
		if *a.Value.String != "" {
			r.resource = append(r.resource, a)
		}
	}
	if _, err := r.headers(); err != nil {
		return nil, err
	}
	return r, nil
}

// target returns where to push. The errors never hold the URL, which may have
// been given with a password in it.
func target(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("--otlp.endpoint is not a URL such as http://collector:4318")
	case u.User != nil:
		return nil, fmt.Errorf("--otlp.endpoint holds user info; give credentials in --otlp.headers-file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("--otlp.endpoint holds a query or fragment; write only scheme, host and path, and give credentials in --otlp.headers-file")
	}
	if path := strings.TrimRight(u.Path, "/"); strings.HasSuffix(path, "/v1/metrics") {
		u.Path = path
	} else {
		u.Path = path + "/v1/metrics"
	}
	u.RawPath = ""
	return u, nil
}

// Host is where the pushes go, for a log.
func (r *Recorder) Host() string { return r.url.Host }

// Apply makes the recorder follow a roster. What stays as it is goes on, what
// is new starts now, and what is gone is not pushed any more.
func (r *Recorder) Apply(ros roster.Roster) {
	if r == nil {
		return
	}
	targets := map[string]roster.Target{}
	for _, t := range ros.Targets {
		targets[t.Name] = t
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	streams := make(map[probe.ID]*stream, len(ros.Watches))
	order := make([]*stream, 0, len(ros.Watches))
	for _, w := range ros.Watches {
		if streams[w.ID] != nil {
			continue
		}
		s := r.streams[w.ID]
		if attrs := attributesOf(w, targets[w.ID.Target]); s == nil || !same(s.attrs, attrs) {
			s = &stream{start: now, attrs: attrs, durations: map[probe.Outcome]*histogram{}}
		}
		streams[w.ID] = s
		order = append(order, s)
	}
	r.streams, r.order = streams, order
}

// attributesOf returns what every data point of a probe carries: words of the
// configuration only, never what an endpoint said.
func attributesOf(w roster.Watch, t roster.Target) []attribute {
	operation := "chat"
	if w.Spec.Protocol == "openai-completions" {
		operation = "text_completion"
	}
	attrs := []attribute{
		text("gen_ai.operation.name", operation), text("gen_ai.provider.name", t.Provider),
		text("gen_ai.request.model", w.ID.Model),
		text("tokprobe.target", w.ID.Target), text("tokprobe.probe", w.ID.Probe),
	}
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Hostname() == "" {
		return attrs
	}
	attrs = append(attrs, text("server.address", u.Hostname()))
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		attrs = append(attrs, number("server.port", n))
	}
	return attrs
}

// Record implements probe.Recorder. A tick of a probe that is not watched is
// dropped.
func (r *Recorder) Record(t probe.Tick) {
	if r == nil || t.Stage != probe.TickDone || t.Result.Cut {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.streams[t.ID]; s != nil {
		s.record(t, now)
	}
}
