package configs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tokprobe/probe"
)

// target1 builds the endpoint of one target with the given lines.
func target1(t *testing.T, env map[string]string, lines string) probe.EndpointConfig {
	t.Helper()
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	data := "targets:\n  - name: a\n    models: [m]\n    " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ")
	cfg, err := Parse([]byte(data), Options{LookupEnv: lookup})
	if err != nil {
		t.Fatal(err)
	}
	all, err := cfg.Endpoints()
	if err != nil {
		t.Fatal(err)
	}
	return all["a"]
}

// TestPresets: a preset's key goes to the preset's own host and to no other.
func TestPresets(t *testing.T) {
	env := map[string]string{"TAOTOKEN_API_KEY": "tao", "OPENAI_API_KEY": "oai", "ANTHROPIC_API_KEY": "ant", "OWN": "own"}
	tests := []struct{ name, lines, base, source, key string }{
		{"taotoken", "provider: taotoken", "https://taotoken.net/api", "environment variable TAOTOKEN_API_KEY", "tao"},
		{"openai", "provider: openai", "https://api.openai.com", "environment variable OPENAI_API_KEY", "oai"},
		{"anthropic", "provider: anthropic", "https://api.anthropic.com", "environment variable ANTHROPIC_API_KEY", "ant"},
		{"own host, other spelling", "provider: taotoken\nbase_url: https://TaoToken.net:443/api/v1/", "https://taotoken.net:443/api", "environment variable TAOTOKEN_API_KEY", "tao"},
		{"other host", "provider: taotoken\nbase_url: https://taotoken.net.evil.example/api", "https://taotoken.net.evil.example/api", "", ""},
		{"own host without TLS", "provider: taotoken\nbase_url: http://taotoken.net/api", "http://taotoken.net/api", "", ""},
		{"other port", "provider: openai\nbase_url: https://api.openai.com:8443", "https://api.openai.com:8443", "", ""},
		{"compatible", "provider: openai\nbase_url: http://h:1", "http://h:1", "", ""},
		{"named for another host", "provider: openai\nbase_url: http://h:1\napi_key_env: OWN", "http://h:1", "environment variable OWN", "own"},
		{"named over the preset", "provider: taotoken\napi_key_env: OWN", "https://taotoken.net/api", "environment variable OWN", "own"},
		{"vllm", "provider: vllm\nbase_url: http://h:1", "http://h:1", "", ""},
	}
	for _, tt := range tests {
		e := target1(t, env, tt.lines)
		key := ""
		if e.Key != nil {
			var err error
			if key, err = e.Key(context.Background()); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if e.BaseURL != tt.base || e.KeySource != tt.source || key != tt.key || e.Headers != nil {
			t.Errorf("%s: base %q, source %q, key %q; want %q, %q, %q and no headers", tt.name, e.BaseURL, e.KeySource, key, tt.base, tt.source, tt.key)
		}
	}
}

// TestKey: what a key may look like, and what is said if it does not.
func TestKey(t *testing.T) {
	tests := []struct{ name, give, want, err string }{
		{"plain", "sk-1", "sk-1", ""},
		{"line end", "sk-1 \t\r\n", "sk-1", ""},
		{"empty", "", "", "environment variable K is empty"},
		{"blanks", " \n", "", "environment variable K holds blanks only"},
		{"leading blank", " sk-1", "", "environment variable K begins with a blank; remove it"},
		{"inner blank", "sk 1", "", "environment variable K holds a blank; remove it"},
		{"two lines", "sk-1\nsk-2", "", "environment variable K holds more than one line; keep the key alone"},
		{"quotes", `"sk-1"`, "", "environment variable K is wrapped in quotes; remove them"},
		{"scheme", "Bearer sk-1", "", "environment variable K begins with the word Bearer; keep the key alone, the scheme is added"},
		{"no ASCII", "sk-1–2", "", "environment variable K holds a character that no header may carry (8 bytes in all); copy the key again"},
	}
	for _, tt := range tests {
		e := target1(t, map[string]string{"K": tt.give}, "provider: taotoken\napi_key_env: K")
		got, err := e.Key(context.Background())
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%s: %q %q, want %q %q", tt.name, got, text, tt.want, tt.err)
		}
	}
	e := target1(t, nil, "provider: taotoken")
	var keyErr *KeyError
	if _, err := e.Key(context.Background()); !errors.As(err, &keyErr) || keyErr.Error() != "environment variable TAOTOKEN_API_KEY is not set" {
		t.Errorf("unset: %v", err)
	}
}

// TestKeyFileRotates: a new key in the file works at the next use.
func TestKeyFileRotates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	e := target1(t, nil, "provider: openai\nbase_url: http://h\napi_key_file: "+file)
	if _, err := e.Key(context.Background()); err == nil || err.Error() != "file "+file+" cannot be read: no such file or directory" {
		t.Errorf("missing: %v", err)
	}
	for _, want := range []string{"first", "second"} {
		if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Key(context.Background()); got != want || err != nil {
			t.Errorf("key %q, %v; want %q", got, err, want)
		}
	}
	if err := os.WriteFile(file, make([]byte, 70<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Key(context.Background()); err == nil || err.Error() != "file "+file+" is larger than 64 KiB, which is no key" {
		t.Errorf("huge: %v", err)
	}
}

func TestHeaders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, lines, header, want, source string }{
		{"authorization", "authorization: {credentials_file: " + file + "}", "Authorization", "Bearer from-file", "file " + file},
		{"other scheme", "authorization: {type: Token, credentials: x}", "Authorization", "Token x", "authorization.credentials in the configuration"},
		{"basic", "basic_auth: {username: bob, password_file: " + file + "}", "Authorization", "Basic Ym9iOmZyb20tZmlsZQ==", "basic_auth in the configuration"},
		{"header values", "http_headers: {X-A: {values: [one], secrets: [two], files: [" + file + "]}}", "X-A", "one|two|from-file", ""},
	}
	for _, tt := range tests {
		e := target1(t, nil, "provider: openai\nbase_url: http://h\n"+tt.lines)
		h, err := e.Headers(context.Background())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := strings.Join(h.Values(tt.header), "|"); got != tt.want || len(h) != 1 || e.KeySource != tt.source || e.Key != nil {
			t.Errorf("%s: %v from %q, want %s: %s from %q", tt.name, h, e.KeySource, tt.header, tt.want, tt.source)
		}
	}
	e := target1(t, nil, "provider: openai\nbase_url: http://h\nauthorization: {credentials_file: "+dir+"/none}")
	if _, err := e.Headers(context.Background()); err == nil || err.Error() != "unable to read authorization credentials: file "+dir+"/none cannot be read: no such file or directory" {
		t.Errorf("missing file: %v", err)
	}
}

// TestSweepEndpoint: a sweep's own key replaces the target's credentials, but
// not its other headers.
func TestSweepEndpoint(t *testing.T) {
	lookup := func(name string) (string, bool) { return "key-of-" + name, true }
	cfg, err := Parse([]byte("targets: [{name: a, provider: openai, base_url: 'http://h', models: [m], authorization: {credentials: x}, http_headers: {X-A: {values: [b]}}}]"), Options{LookupEnv: lookup})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ env, key, authorization string }{{"", "", "Bearer x"}, {"OWN", "key-of-OWN", ""}} {
		e, err := cfg.SweepEndpoint("a", tt.env)
		if err != nil {
			t.Fatal(err)
		}
		key := ""
		if e.Key != nil {
			key, _ = e.Key(context.Background())
		}
		h, err := e.Headers(context.Background())
		if err != nil || key != tt.key || h.Get("Authorization") != tt.authorization || h.Get("X-A") != "b" {
			t.Errorf("key variable %q: key %q, headers %v, %v", tt.env, key, h, err)
		}
	}
	if _, err := cfg.SweepEndpoint("b", ""); err == nil || err.Error() != "target b: not in the configuration" {
		t.Errorf("unknown target: %v", err)
	}
}

// tokenServer counts token requests and answers with answer.
func tokenServer(t *testing.T, answer http.HandlerFunc) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func token(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(text))
	}
}

func TestOAuth2(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	write := func(s string) {
		if err := os.WriteFile(secret, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("planted")
	url, asked := tokenServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		token(`{"access_token":"tok-`+password+`","token_type":"bearer","expires_in":3600}`)(w, r)
	})
	e := target1(t, nil, "provider: openai\nbase_url: http://h\noauth2: {client_id: me, client_secret_file: "+secret+", token_url: \""+url+"/token\"}")
	header := func() string {
		h, err := e.Headers(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return h.Get("Authorization")
	}
	for range 3 {
		if got := header(); got != "Bearer tok-planted" {
			t.Errorf("Authorization = %q", got)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d token requests for three uses, want 1", n)
	}
	write("rotated")
	if got := header(); got != "Bearer tok-rotated" || asked.Load() != 2 {
		t.Errorf("after rotation %q with %d token requests", got, asked.Load())
	}
}

// TestOAuth2Fails: bounded by the caller, no redirect, nothing of the answer in
// the error.
func TestOAuth2Fails(t *testing.T) {
	elsewhere, reached := tokenServer(t, token(`{"access_token":"stolen"}`))
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":"planted"}`, http.StatusUnauthorized)
		}, ": HTTP status 401"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}, ": HTTP status 307"},
		{"silence", func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else the server does not see us leave
			<-r.Context().Done()
		}, " within the connect limit: context deadline exceeded"},
		{"no token", token(`{"planted":1}`), ": the answer is no token, or the key cannot sign"},
		{"no JSON", token(`planted`), ": the answer is no token, or the key cannot sign"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := tokenServer(t, tt.answer)
			e := target1(t, nil, "provider: openai\nbase_url: http://h\noauth2: {client_id: me, client_secret: planted, token_url: \""+url+"/t?x=planted\"}")
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			begin := time.Now()
			h, err := e.Headers(ctx)
			if want := "no OAuth 2 token from " + url + "/t?<secret>" + tt.want; err == nil || err.Error() != want {
				t.Errorf("%v, %v; want %q", h, err, want)
			}
			if spent := time.Since(begin); spent > 5*time.Second {
				t.Errorf("took %v for a limit of 0.3 s", spent)
			}
		})
	}
	if reached.Load() != 0 {
		t.Error("a redirect was followed with the client secret")
	}
}
