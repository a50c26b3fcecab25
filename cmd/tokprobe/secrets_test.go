package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// planted matches every secret of TestSecrets, however it is cut or encoded.
var planted = regexp.MustCompile(`(?i)planted-?[a-z]*-?\d+|706c616e746564|cGxhbnRlZ|BsYW50ZW|wbGFudGVk`)

// echo is an endpoint that answers as badly as can be: it gives back every
// header it was sent, in the body, in headers and in a redirect.
func echo(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		for name, values := range r.Header {
			for _, v := range values {
				fmt.Fprintf(&b, "%s: %s; ", name, strings.TrimPrefix(v, "Bearer "))
				w.Header().Add("X-Request-Id", v)
			}
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "http://127.0.0.1:1/?key="+r.Header.Get("Authorization"))
		}
		if status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(status)
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%q}}\n\n", b.String())
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":%q,"code":%q}}`, b.String(), b.String(), b.String())
	})
}

// TestSecrets greps every byte the daemon writes, in success and in failure,
// at level debug, for keys planted wherever a configuration takes one.
func TestSecrets(t *testing.T) {
	_, good := simulator(t)
	var targets strings.Builder
	add := func(name, base, auth string) {
		fmt.Fprintf(&targets, "  - {name: %s, provider: openai, base_url: %q, models: [a], %s}\n", name, base, auth)
	}
	ways := []string{
		"api_key_env: PLANTED_KEY",
		"api_key_file: key",
		"authorization: {credentials: planted-auth-03}",
		"basic_auth: {username: sre-user, password: planted-pass-04}",
		`http_headers: {X-Token: {secrets: [planted-head-05]}, X-Plain: {values: [planted-head-15]}}`,
		`oauth2: {client_id: id, client_secret: planted-oauth-06, token_url: "http://127.0.0.1:1/token"}`,
	}
	for i, way := range ways {
		add(fmt.Sprintf("good%d", i), good, way)
	}
	for _, status := range []int{200, 302, 400, 401, 404, 429, 500, 503} {
		server := httptest.NewServer(echo(status))
		t.Cleanup(server.Close)
		for i, way := range ways[:5] {
			add(fmt.Sprintf("echo%d-%d", status, i), server.URL, way)
		}
	}
	add("refused", "http://127.0.0.1:1", `api_key_env: PLANTED_KEY, proxy_url: "http://planted-proxy-07:planted-proxy-08@127.0.0.1:1"`)
	dir := t.TempDir()
	path := filepath.Join(dir, "tokprobe.yaml")
	text := "targets:\n" + targets.String() + `
prompts: [{name: p, text: hello, max_tokens: 4}]
probes: [{name: chat, prompt: p, every: 1s}]
sweeps: [{name: s, targets: ["good0", "echo401-0", "refused"], cron: "0 0 1 1 *", prompt: p, ladder: {concurrency: [1, 2]}, requests: 10, api_key_env: PLANTED_SWEEP_KEY, max_duration: 5s}]
canary: {url: "http://127.0.0.1:1/?token=planted-canary-09"}
state_file: state.json
`
	for name, data := range map[string]string{"tokprobe.yaml": text, "key": "planted-file-02\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"PLANTED_KEY": "planted-env-01", "PLANTED_SWEEP_KEY": "planted-sweep-10"}
	d := startDaemon(t, env, "--config.file", path, "--log.level", "debug", "--web.enable-lifecycle", "--web.enable-pprof")
	// The canary's address cannot be reached: probes run until that is certain.
	eventually(t, 40*time.Second, "results of every target", func() bool {
		return len(d.metrics(t)["tokprobe_probe_last_run_timestamp_seconds"].GetMetric()) >= 6+8*5+1
	})
	d.get(t, http.MethodPost, "/api/v1/sweeps/s/run")
	written := map[string]string{}
	_, written["bad reload"] = badReload(t, d, path, text)
	for _, page := range []string{"/", "/metrics", "/config", "/api/v1/probes", "/api/v1/sweeps", "/-/ready", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2"} {
		_, written[page] = d.get(t, http.MethodGet, page)
	}
	d.end(t)
	written["console"], written["log"] = d.out.String(), d.errs.String()
	state, err := fs.ReadFile(os.DirFS(dir), "state.json")
	if err != nil {
		t.Error(err)
	}
	written["state file"] = string(state)
	total := 0
	for where, text := range written {
		total += len(text)
		if found := planted.FindStringIndex(text); found != nil {
			t.Errorf("%s shows %q", where, text[max(0, found[0]-120):min(len(text), found[1]+20)])
		}
	}
	if !strings.Contains(written["log"], "rate_limited") || !strings.Contains(written["/api/v1/probes"], "stream_error") {
		t.Error("the log or the API has no failures: nothing was tested")
	}
	t.Logf("%d bytes in %d places without a secret", total, len(written))
}

// badReload loads a file that is wrong right beside its secrets.
func badReload(t *testing.T, d *running, path, text string) (int, string) {
	t.Helper()
	bad := strings.NewReplacer("credentials: planted-auth-03", "credentials: planted-auth-03, kind: planted-kind-11",
		"password: planted-pass-04", "password: [planted-pass-04]").Replace(text)
	if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	status, body := d.get(t, http.MethodPost, "/-/reload")
	if status != http.StatusInternalServerError {
		t.Errorf("a bad file answers %d", status)
	}
	return status, body
}
