package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokprobe/probe/sim"
)

// oneTarget writes a configuration of one target with extra keys.
func oneTarget(t *testing.T, base, model, extra string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokprobe.yaml")
	text := fmt.Sprintf("targets:\n  - {name: t, provider: openai, base_url: %q, models: [%q]%s}\n", base, model, extra)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveSim serves a simulator over httptest, behind wrap.
func serveSim(t *testing.T, cfg sim.Config, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	cfg.Models = []string{"Qwen2.5-14B"}
	cfg.Engine.FixedTTFT, cfg.Engine.FixedTPOT = 5*time.Millisecond, 2*time.Millisecond
	server := sim.New(cfg)
	t.Cleanup(func() { server.Close() })
	var h http.Handler = server
	if wrap != nil {
		h = wrap(h)
	}
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts.URL
}

func html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	io.WriteString(w, "<!doctype html><title>portal</title>") //nolint:errcheck
}

// buffering answers like a proxy that passes a stream on when it is whole.
func buffering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes()) //nolint:errcheck
	})
}

// TestCheckOnline walks to endpoints that are wrong in one way each. The step
// that finds it and words that help must be printed, and nothing after it.
func TestCheckOnline(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	silent := httptest.NewUnstartedServer(http.NotFoundHandler())
	silent.Config.ErrorLog = log.New(io.Discard, "", 0)
	silent.StartTLS()
	defer silent.Close()
	web := httptest.NewServer(http.HandlerFunc(html))
	defer web.Close()
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/", http.StatusFound))
	defer moved.Close()
	good := serveSim(t, sim.Config{}, nil)

	for name, tc := range map[string]struct {
		base, model, extra string
		want               []string
		code               int
	}{
		"good":             {good, "Qwen2.5-14B", "", []string{"completion  ok     model Qwen2.5-14B: TTFT", "64 tokens"}, exitOK},
		"unknown name":     {"http://no-such-host.invalid", "m", "", []string{"dns         WRONG  the name no-such-host.invalid does not exist", "spelling"}, exitFail},
		"closed port":      {"http://" + closed.Addr().String(), "m", "", []string{"tcp         WRONG  no connection to " + closed.Addr().String(), "refused: nothing listens"}, exitFail},
		"unknown CA":       {silent.URL, "m", "", []string{"tls         WRONG", "tls_config.ca_file"}, exitFail},
		"TLS on plain":     {strings.Replace(good, "http:", "https:", 1), "m", "", []string{"tls         WRONG  the server does not speak TLS", "write http://"}, exitFail},
		"web page":         {web.URL, "m", "", []string{"models      WRONG", "is a web page, not an API"}, exitFail},
		"redirect":         {moved.URL, "m", "", []string{"models      WRONG  it redirects (302)", "final URL"}, exitFail},
		"model misspelt":   {good, "qwen2.5-14b", "", []string{`models      WRONG  the endpoint lists no model "qwen2.5-14b"`, "nearest: Qwen2.5-14B"}, exitFail},
		"key refused":      {serveSim(t, sim.Config{APIKey: "right"}, nil), "Qwen2.5-14B", ", api_key_env: KEY", []string{"models      WRONG  the key is refused (401)", "environment variable KEY"}, exitFail},
		"key missing":      {good, "Qwen2.5-14B", ", api_key_env: NO_SUCH_KEY", []string{"models      WRONG  credentials: environment variable NO_SUCH_KEY is not set", "nothing was sent"}, exitFail},
		"no usage":         {serveSim(t, sim.Config{Style: sim.Style{Usage: sim.UsageNever}}, nil), "Qwen2.5-14B", "", []string{"completion  ok", "note: no usage comes with the stream"}, exitOK},
		"buffering proxy":  {serveSim(t, sim.Config{}, buffering), "Qwen2.5-14B", "", []string{"completion  ok", "note: many tokens come in one read: a proxy on the way buffers"}, exitOK},
		"query in the URL": {good + "/?utm_source=x", "m", "", []string{"targets[0].base_url", "query"}, exitFail},
		"doubled /v1":      {good + "/v1/v1", "m", "", []string{"targets[0].base_url", "/v1 twice"}, exitFail},
	} {
		t.Run(name, func(t *testing.T) {
			path := oneTarget(t, tc.base, tc.model, tc.extra)
			code, out, errs := tokprobe(t, map[string]string{"KEY": "planted-key"}, "check", "--config.file", path, "--online")
			all := out + errs
			if code != tc.code {
				t.Errorf("exit status %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(all, want) {
					t.Errorf("no %q in\n%s", want, all)
				}
			}
			if strings.Count(all, "WRONG") > 1 {
				t.Errorf("more than the first wrong thing is told:\n%s", all)
			}
			if strings.Contains(all, "planted-key") {
				t.Error("the key is shown")
			}
		})
	}
}

// TestCheckTellsAllMistakes has ten different mistakes in one file.
func TestCheckTellsAllMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.yaml")
	text := `
targets:
  - name: a
    provider: vlmm
    base_url: http://h/?utm_source=x
    models: []
  - name: a
    provider: vllm
    base_url: http://h
    models: [m]
    follow_redirects: true
prompts:
  - {name: p, text: hi, max_tokens: -1}
probes:
  - {name: q, prompt: nope, every: 30}
slos:
  - {name: s, window: 30d, success: 99.5}
colour: red
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := tokprobe(t, nil, "check", "--config.file", path)
	if code != exitFail || out != "" {
		t.Errorf("exit status %d, want 1; stdout %q", code, out)
	}
	for _, want := range []string{
		"targets[0].provider", "targets[0].base_url", "targets[0].models", "targets[1].name", "targets[1].follow_redirects",
		"prompts[0].max_tokens", "probes[0].prompt", "probes[0].every", "slos[0].success", "colour",
	} {
		if strings.Count(errs, want) != 1 {
			t.Errorf("%s is told %d times in\n%s", want, strings.Count(errs, want), errs)
		}
	}
}

// TestCheckKeys: keys that are not there are named, of probes and of sweeps.
func TestCheckKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := `
targets: [{name: a, provider: openai, base_url: "http://10.0.0.5", models: [m], api_key_env: A_KEY}]
sweeps: [{name: s, targets: [a], cron: "0 3 * * *", ladder: {concurrency: [1, 2]}, api_key_env: B_KEY}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const mend = " is not set; its requests would not be sent and count as auth\n"
	a, b := "warning: target a: environment variable A_KEY"+mend, "warning: sweep s of a: environment variable B_KEY"+mend
	for _, tt := range []struct {
		env          map[string]string
		saysA, saysB bool
	}{{nil, true, true}, {map[string]string{"A_KEY": "k"}, false, true}, {map[string]string{"A_KEY": "k", "B_KEY": "k"}, false, false}} {
		code, out, errs := tokprobe(t, tt.env, "check", "--config.file", path)
		if code != exitOK || strings.Contains(out, a) != tt.saysA || strings.Contains(out, b) != tt.saysB {
			t.Errorf("with %d keys: status %d, %s%s", len(tt.env), code, out, errs)
		}
	}
}

// TestCheckPlan compares the forecast of a day: 2,880 probes at 30 s, 21 input
// tokens estimated and 64 allowed each.
func TestCheckPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := `
targets: [{name: v, provider: vllm, base_url: "http://10.0.0.5:8000", models: [m], price: {currency: USD, input: 3, output: 15}, budget: {probe_tokens_per_day: 1000}}]
prompts: [{name: p, text: hi}]
probes: [{name: chat, prompt: p, every: 30s, slo: s}]
slos: [{name: s, window: 30d, success: 99.5%}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := tokprobe(t, nil, "check", "--config.file", path)
	if code != exitOK {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	squeezed := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"v m chat every 30s 5s, 10s, 8s, 24s s",
		"v probes 2880 60480 184320 244800 1392 2.95 USD 1000 tokens, TOO SMALL", // 60480·3/1e6 + 184320·15/1e6 = 2.946
		"SLO s, success: 99.5%, probed every 30s",
		"page 1h/5m ×14.4 fires above 7.2% bad: from 9 of 120 on, 4m30s into a full outage",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
