package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// filled is an exporter whose one probe has had an ok result and a failure
// with a hostile error text.
func filled() *Exporter {
	e := New(Config{NoRuntime: true})
	e.Apply(testRoster())
	started(e)
	done(e, okResult(200*ms))
	started(e)
	done(e, probe.Result{ID: chatID, Outcome: probe.ServerError, HTTPStatus: 500, Start: time.Now(),
		Err: `<script>alert("x")</script>`, Hint: "look at </td> the log", Text: "ANSWER TEXT", ReasoningText: "ANSWER TEXT"})
	return e
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestRoutes(t *testing.T) {
	reloads := 0
	full := HTTPConfig{
		Exporter: filled(), Logger: quiet(), EnableLifecycle: true, EnablePprof: true, Version: "1.2.3",
		Redacted: func() []byte { return []byte("targets: []\n") },
		Ready:    func() error { return errors.New("the scheduler does not run yet") },
		Reload: func(context.Context) error {
			reloads++
			if reloads == 2 {
				return errors.New("targets[0].name: empty; give it a name")
			}
			return nil
		},
		Actions: map[string]http.Handler{"/-/sweeps/stop": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "stopped") })},
		Sweeps:  func() any { return []string{"nightly"} },
		NextDue: func(probe.ID) (time.Time, bool) { return time.Unix(2_000_000_000, 0), true },
	}
	plain := HTTPConfig{Exporter: filled(), Logger: quiet(), Reload: full.Reload, Actions: full.Actions}
	tests := []struct {
		config       HTTPConfig
		method, path string
		header       string // "Name: value"
		status       int
		want         string
	}{
		{full, "GET", "/", "", 200, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;: look at &lt;/td&gt; the log"},
		{full, "GET", "/", "", 200, "Version 1.2.3 · 1 probes, 1 of them failing"},
		{full, "GET", "/style.css", "", 200, "border-collapse"},
		{full, "GET", "/nonsense", "", 404, "not found"},
		{full, "GET", "/metrics", "", 200, `tokprobe_probes_total{model="qwen",outcome="server_error",probe="chat",target="vllm-a"} 1`},
		{full, "POST", "/metrics", "", 405, ""},
		{full, "GET", "/-/healthy", "", 200, "healthy"},
		{full, "GET", "/-/ready", "", 503, "the scheduler does not run yet"},
		{plain, "GET", "/-/ready", "", 200, "ready"},
		{full, "GET", "/config", "", 200, "targets: []"},
		{plain, "GET", "/config", "", 404, ""},
		{full, "GET", "/api/v1/probes", "", 200, `"outcome":"server_error"`},
		{full, "GET", "/api/v1/probes?limit=x", "", 400, "from 0 on"},
		{full, "GET", "/api/v1/sweeps", "", 200, `["nightly"]`},
		{plain, "GET", "/api/v1/sweeps", "", 404, ""},
		{full, "GET", "/debug/pprof/", "", 200, "goroutine"},
		{plain, "GET", "/debug/pprof/", "", 404, ""},
		{full, "POST", "/-/reload", "", 200, "reloaded"},
		{full, "POST", "/-/reload", "", 500, "targets[0].name: empty; give it a name"},
		{full, "GET", "/-/reload", "", 405, "only POST"},
		{full, "POST", "/-/reload", "Sec-Fetch-Site: cross-site", 403, "another site"},
		{full, "POST", "/-/reload", "Origin: http://evil.example", 403, "another site"},
		{full, "POST", "/-/reload", "Origin: http://example.com", 200, "reloaded"}, // httptest's own host
		{plain, "POST", "/-/reload", "", 403, "--web.enable-lifecycle"},
		{plain, "GET", "/-/reload", "", 405, ""},
		{full, "POST", "/-/sweeps/stop", "", 200, "stopped"},
		{full, "GET", "/-/sweeps/stop", "", 405, ""},
		{plain, "POST", "/-/sweeps/stop", "", 403, ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path+" "+tt.header, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, nil)
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			NewHTTPServer(tt.config).Handler().ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("status %d, want %d with %q in:\n%s", w.Code, tt.status, tt.want, w.Body)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options":  "nosniff",
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if strings.Contains(w.Body.String(), "ANSWER TEXT") || strings.Contains(w.Body.String(), "<script>") {
				t.Errorf("answer text or live script in:\n%s", w.Body)
			}
		})
	}
	if reloads != 3 {
		t.Errorf("%d reloads, want 3: what was refused must not run", reloads)
	}
}

func TestReloadBanner(t *testing.T) {
	e := filled()
	for ok, want := range map[bool]bool{false: true, true: false} {
		e.SetReload(ok, time.Now())
		w := httptest.NewRecorder()
		NewHTTPServer(HTTPConfig{Exporter: e}).Handler().ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if got := strings.Contains(w.Body.String(), "The last reload failed"); got != want {
			t.Errorf("after a reload that worked (%v) the banner is there: %v", ok, got)
		}
	}
}

func TestAPIProbes(t *testing.T) {
	e := filled()
	skipped(e, probe.SkipBudget)
	handler := NewHTTPServer(HTTPConfig{Exporter: e, Logger: quiet(),
		NextDue: func(probe.ID) (time.Time, bool) { return time.Unix(2_000_000_000, 0), true }}).Handler()
	get := func(query string) []map[string]any {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/probes"+query, nil))
		var out struct{ Probes []map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		return out.Probes
	}
	p := get("")[0]
	for key, want := range map[string]string{
		"target": "vllm-a", "model": "qwen", "probe": "chat", "interval_s": "30", "next_due": "2033-05-18T03:33:20Z",
		"due": "3", "started": "2", "skipped": "map[budget:1]", "outcomes": "map[ok:1 server_error:1]", "recent_failures": "1",
	} {
		if got := fmt.Sprint(p[key]); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := len(p["results"].([]any)); got != 2 {
		t.Errorf("%d results, want 2", got)
	}
	if got := p["last"].(map[string]any)["outcome"]; got != "server_error" {
		t.Errorf("last is %v, want server_error", got)
	}
	if got := p["results"].([]any)[1].(map[string]any)["ttft_s"]; got != 0.2 {
		t.Errorf("ttft_s of the older one is %v, want 0.2", got)
	}
	if got := len(p["failures"].([]any)); got != 1 {
		t.Errorf("%d failures, want 1", got)
	}
	if got := get("?limit=0")[0]["results"].([]any); len(got) != 0 {
		t.Errorf("%d results with limit=0", len(got))
	}
	if got := get("?target=other"); len(got) != 0 {
		t.Errorf("%d probes of another target", len(got))
	}
	if got := get("?target=vllm-a&probe=chat&model=qwen"); len(got) != 1 {
		t.Errorf("%d probes of that name", len(got))
	}
}

// TestHistoryKeepsFailures: a failure outlives the twenty results after it.
func TestHistoryKeepsFailures(t *testing.T) {
	e := New(Config{})
	e.Apply(testRoster())
	for i := range 25 {
		done(e, probe.Result{ID: chatID, Outcome: probe.Reset, Err: fmt.Sprint(i)})
	}
	for range 30 {
		done(e, okResult(100*ms))
	}
	v := e.Views(nil)[0]
	if len(v.Results) != 20 || v.Results[0].Outcome != probe.OK || v.Results[19].Outcome != probe.OK {
		t.Errorf("%d results, want the last 20, all ok", len(v.Results))
	}
	if len(v.Failures) != 20 || v.Failures[0].Err != "24" || v.Failures[19].Err != "5" {
		t.Errorf("%d failures from %s, want 20 from 24 to 5", len(v.Failures), v.Failures[0].Err)
	}
	if v.Results[0].Gaps != nil {
		t.Error("the history holds chunk gaps: it would not be bounded")
	}
}

// run starts a server on a loopback port and returns its base URLs; the
// second is that of the health listener.
func run(t *testing.T, config HTTPConfig) (main, health string) {
	t.Helper()
	addresses := make(chan []net.Addr, 1)
	config.Listening = func(a []net.Addr) { addresses <- a }
	config.ListenAddresses = []string{"127.0.0.1:0"}
	config.Logger = quiet()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- NewHTTPServer(config).Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v after its context was done, want nil", err)
		}
	})
	select {
	case a := <-addresses:
		return a[0].String(), config.HealthAddress
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return "", ""
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func status(t *testing.T, url string, user string) int {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if user != "" {
		r.SetBasicAuth(user, "secret")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestBasicAuth: the web config file covers every path of the main listener;
// the health listener is plain and serves nothing else.
func TestBasicAuth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "web.yml")
	// bcrypt of "secret" at the lowest cost
	if err := os.WriteFile(file, []byte("basic_auth_users:\n  sre: "+`$2a$04$kGfkEpfCs5iOKYc5hiJa8eOUHTaaHCnFgmSrWJWJ.eZqwTV.RwFCS`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	main, health := run(t, HTTPConfig{Exporter: filled(), WebConfigFile: file, HealthAddress: freeAddress(t)})
	tests := []struct {
		url, user string
		want      int
	}{
		{main + "/metrics", "", 401}, {main + "/-/healthy", "", 401}, {main + "/", "nobody", 401},
		{main + "/metrics", "sre", 200}, {main + "/", "sre", 200},
		{health + "/-/healthy", "", 200}, {health + "/-/ready", "", 200}, {health + "/metrics", "", 404}, {health + "/", "", 404},
	}
	for _, tt := range tests {
		if got := status(t, "http://"+tt.url, tt.user); got != tt.want {
			t.Errorf("GET %s as %q: %d, want %d", tt.url, tt.user, got, tt.want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		name string
		give HTTPConfig
		want string
	}{
		{"address in use", HTTPConfig{ListenAddresses: []string{taken.Addr().String()}}, "choose another with --web.listen-address"},
		{"health address in use", HTTPConfig{ListenAddresses: []string{"127.0.0.1:0"}, HealthAddress: taken.Addr().String()}, "choose another with --web.health-address"},
		{"web config missing", HTTPConfig{ListenAddresses: []string{"127.0.0.1:0"}, WebConfigFile: "missing.yml"}, "--web.config.file missing.yml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.give.Exporter, tt.give.Logger = filled(), quiet()
			err := NewHTTPServer(tt.give).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestShutdownLetsAnswersFinish: what runs when the daemon stops is answered.
func TestShutdownLetsAnswersFinish(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	addresses := make(chan []net.Addr, 1)
	server := NewHTTPServer(HTTPConfig{
		Exporter: filled(), Logger: quiet(), ListenAddresses: []string{"127.0.0.1:0"}, EnableLifecycle: true,
		Reload:    func(context.Context) error { close(entered); <-leave; return nil },
		Listening: func(a []net.Addr) { addresses <- a },
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	url := "http://" + (<-addresses)[0].String() + "/-/reload"
	answered := make(chan int, 1)
	go func() {
		answer, err := http.Post(url, "", nil)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		answer.Body.Close()
		answered <- answer.StatusCode
	}()
	<-entered
	stop()
	close(leave)
	if got := <-answered; got != 200 {
		t.Errorf("the running request got %d, want 200", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestScrapeGzip: the page is the same, compressed or not, and one that
// declines gzip does not get it.
func TestScrapeGzip(t *testing.T) {
	h := newMetricsHandler(filled(), false)
	plain := httptest.NewRecorder()
	h.ServeHTTP(plain, httptest.NewRequest("GET", "/metrics", nil))
	server := httptest.NewServer(h)
	defer server.Close()
	answer, err := http.Get(server.URL) // the client asks for gzip by itself and unpacks
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !answer.Uncompressed || string(body) != plain.Body.String() || len(body) == 0 {
		t.Errorf("compressed: %v; %d bytes, want the %d of the plain page", answer.Uncompressed, len(body), plain.Body.Len())
	}
	for give, want := range map[string]bool{"": false, "gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "zstd": false} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Accept-Encoding", give)
		if got := acceptsGzip(r); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", give, got, want)
		}
	}
}

// TestScrapeReuse: a page made of the parts of the one before is none the
// worse for it, whatever came and went between.
func TestScrapeReuse(t *testing.T) {
	e := fleet(12, 3)
	h := newMetricsHandler(e, false)
	scrape := func(want string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		compareLines(t, w.Body.Bytes(), []byte(want))
	}
	scrape(string(text(t, e)))
	e.Apply(testRoster())
	scrape(string(text(t, e)))
	started(e)
	done(e, okResult(100*ms))
	done(e, okResult(300*ms))
	scrape(string(text(t, e)))
	e.Apply(roster.Roster{})
	scrape(string(text(t, e)))
}

// TestTooManyScrapes: the ninth at once is told to come back.
func TestTooManyScrapes(t *testing.T) {
	h := newMetricsHandler(filled(), false).(*metricsHandler)
	for range maxScrapes {
		h.inFlight <- struct{}{}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 503 || w.Header().Get("Retry-After") != "5" {
		t.Errorf("status %d, Retry-After %q, want 503 and 5", w.Code, w.Header().Get("Retry-After"))
	}
	<-h.inFlight
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Errorf("status %d with a free place, want 200", w.Code)
	}
}

// TestHistoryFollowsItsSize keeps the newest of what fits, also when the size
// shrinks under a full history.
func TestHistoryFollowsItsSize(t *testing.T) {
	var h history
	for i := range 30 {
		h.add(&probe.Result{HTTPStatus: i, Outcome: probe.ServerError}, HistorySize{Results: 5})
	}
	if got := h.results.newest(); len(got) != 5 || got[0].HTTPStatus != 29 || got[4].HTTPStatus != 25 {
		t.Errorf("%d results kept, want the 5 newest", len(got))
	}
	if got := h.failures.newest(); len(got) != defaultHistory || got[0].HTTPStatus != 29 {
		t.Errorf("%d failures kept, want %d", len(got), defaultHistory)
	}
	h.add(&probe.Result{HTTPStatus: 30, Outcome: probe.OK}, HistorySize{Results: 2})
	if got := h.results.newest(); len(got) != 2 || got[0].HTTPStatus != 30 || got[1].HTTPStatus != 29 {
		t.Errorf("after shrinking to 2: %d kept", len(got))
	}
}
