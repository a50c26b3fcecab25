package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The console names https only where the web config file turns TLS on.
func TestServesTLS(t *testing.T) {
	for text, want := range map[string]bool{
		"basic_auth_users: {u: x}\n":                             false,
		"tls_server_config: {cert_file: c, key_file: k}\n":       true,
		"http_server_config: {http2: false}\n":                   false,
		"tls_server_config: {}\nbasic_auth_users: {u: x}\n":      false,
		"basic_auth_users: {u: x}\ntls_server_config: {cert: c}": true,
	} {
		file := filepath.Join(t.TempDir(), "web.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := servesTLS(file); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if servesTLS("") {
		t.Error("TLS without a file")
	}
}

// A probe run by hand is counted like any other, and the page shows its
// request id as an exemplar to whoever reads OpenMetrics.
func TestRunProbeOverHTTP(t *testing.T) {
	_, base := simulator(t)
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := `{targets: [{name: sim, provider: openai, base_url: "` + base + `", models: [a]}], prompts: [{name: p, text: hello, max_tokens: 4}], probes: [{name: chat, prompt: p, cron: "0 0 1 1 *"}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, nil, "--config.file", path, "--web.enable-lifecycle")
	for _, tc := range []struct {
		path, say string
		status    int
	}{
		{"/api/v1/probes/chat/run", `{"started":[{"target":"sim","model":"a","probe":"chat"}],"refused":[]}`, 202},
		{"/api/v1/probes/nobody/run", `no probe "nobody"`, 404},
		{"/api/v1/probes/chat/run?model=b", `no probe "chat"`, 404},
	} {
		var status int
		var body string
		eventually(t, 5*time.Second, "a scheduler that runs", func() bool {
			status, body = d.get(t, http.MethodPost, tc.path)
			return status == tc.status
		})
		if !strings.Contains(body, tc.say) {
			t.Errorf("%s: %d %s, want %s", tc.path, status, body, tc.say)
		}
	}
	eventually(t, 10*time.Second, "a counted probe", func() bool {
		n, _ := value(d.metrics(t), "tokprobe_probes_total", map[string]string{"probe": "chat", "outcome": "ok"})
		return n == 1
	})
	req, err := http.NewRequest(http.MethodGet, d.url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(page), `# {request_id="`) || !strings.HasSuffix(string(page), "# EOF\n") {
		t.Errorf("no exemplar or no end in %d bytes of %s, %v", len(page), resp.Header.Get("Content-Type"), err)
	}
}
