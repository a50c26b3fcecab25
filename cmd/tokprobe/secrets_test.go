package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// secretTargets hold a planted text in every place that a key is taken from.
const secretTargets = `
targets:
  - {name: env, base_url: URL, models: [m], provider: openai, api_key_env: A_KEY}
  - {name: file, base_url: URL, models: [m], provider: openai, api_key_file: FILE}
  - {name: inline, base_url: URL, models: [m], provider: openai, authorization: {type: Bearer, credentials: planted-inline-1234567}}
  - {name: basic, base_url: URL, models: [m], provider: openai, basic_auth: {username: bob, password: planted-basic-1234567}}
  - {name: headers, base_url: URL, models: [m], provider: openai, http_headers: {X-Team: {values: [planted-value-1234567], secrets: [planted-hidden-1234567]}}}
  - {name: proxy, base_url: "http://t.test", models: [m], provider: openai, proxy_url: "http://bob:planted-proxy-1234567@HOST"}
  - {name: deadproxy, base_url: "http://t.test", models: [m], provider: openai, proxy_url: "http://bob:planted-proxy-1234567@127.0.0.1:1"}
  - name: oauth
    base_url: URL
    models: [m]
    provider: openai
    oauth2: {client_id: me, client_secret: planted-oauth-1234567, token_url: "URL/token?planted-query-1234567"}
  - name: oauthrefused
    base_url: URL
    models: [m]
    provider: openai
    oauth2: {client_id: me, client_secret: planted-oauth-1234567, token_url: "URL/refuse?planted-query-1234567"}
`

// TestCommandsShowNoSecret runs the commands on a server that repeats whatever
// it was sent, as success, refusal, error in the stream and page, and looks for
// the planted texts in every byte that was written.
func TestCommandsShowNoSecret(t *testing.T) {
	var mode atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { echo(w, r, int(mode.Load())) }))
	defer server.Close()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("planted-file-1234567\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("URL", server.URL, "HOST", strings.TrimPrefix(server.URL, "http://"), "FILE", key).Replace(secretTargets)
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"A_KEY": "planted-env-1234567"}
	written, runs := 0, 0
	outcomes := map[string]bool{}
	for m := range 5 {
		mode.Store(int32(m))
		for _, target := range []string{"env", "file", "inline", "basic", "headers", "proxy", "deadproxy", "oauth", "oauthrefused"} {
			for _, format := range []string{"--json", "--show-text"} {
				_, out, errs := tokprobe(t, env, "probe", "--config.file", file, "--target", target, format)
				written, runs = written+len(out)+len(errs), runs+1
				var r struct{ Outcome string }
				if json.Unmarshal([]byte(out), &r) == nil {
					outcomes[r.Outcome] = true
				}
				if all := strings.ToLower(out + errs); strings.Contains(all, "planted") || strings.Contains(all, "1234567") {
					t.Errorf("mode %d, target %s: %s%s", m, target, out, errs)
				}
			}
		}
	}
	for _, want := range []string{"ok", "auth", "stream_error", "bad_stream", "connect", "server_error"} {
		if !outcomes[want] {
			t.Errorf("no probe ended as %s: %v", want, outcomes)
		}
	}
	t.Logf("%d runs, %d bytes searched", runs, written)
}

// echo answers with all that the request held.
func echo(w http.ResponseWriter, r *http.Request, mode int) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	all := fmt.Sprint(r.Header, r.URL.RawQuery)
	for _, name := range []string{"Authorization", "Proxy-Authorization"} {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get(name), "Basic ")); err == nil {
			all += string(plain)
		}
	}
	q, _ := json.Marshal(all)
	switch {
	case r.URL.Path == "/token":
		io.WriteString(w, `{"access_token":"planted-token-1234567","token_type":"Bearer","expires_in":3600}`)
	case r.URL.Path == "/refuse":
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":%q}`, all+string(body))
	case mode == 0:
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", q)
	case mode == 1:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":%s}}`, q)
	case mode == 2:
		fmt.Fprintf(w, "data: {\"error\":{\"message\":%s}}\n\n", q)
	case mode == 3:
		io.WriteString(w, "<html>"+strings.Repeat(" ", 40)+all)
	default:
		w.Header().Set("X-Request-Id", strings.ReplaceAll(all, " ", "."))
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, all)
	}
}
