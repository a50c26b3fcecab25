package configs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestSecretShowsItselfNowhere prints a Secret in every way there is.
func TestSecretShowsItselfNowhere(t *testing.T) {
	const text = "planted"
	s := Secret(text)
	in := struct{ S Secret }{s}
	var outs []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T|%v"} {
		if verb == "%T|%v" {
			outs = append(outs, fmt.Sprintf(verb, s, s))
			continue
		}
		outs = append(outs, fmt.Sprintf(verb, s), fmt.Sprintf(verb, in), fmt.Sprintf(verb, []Secret{s}))
	}
	j, err := json.Marshal(in)
	y, err2 := yaml.Marshal(in)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	var decoded map[string]string
	if err := json.Unmarshal(j, &decoded); err != nil || decoded["S"] != masked {
		t.Errorf("JSON %s", j)
	}
	for _, out := range append(outs, string(y), fmt.Sprint(decoded)) {
		if strings.Contains(out, text) || strings.Contains(strings.ToLower(out), fmt.Sprintf("%x", text)) || !strings.Contains(out, masked) {
			t.Errorf("shown as %q", out)
		}
	}
}

// secretive holds a planted text in every place where a secret may stand, one
// of them by an alias that is harmless elsewhere.
const secretive = `
# planted-comment
targets:
  - name: a
    provider: openai
    base_url: https://h/api
    models: [m]
    authorization: {type: Bearer, credentials: planted-1}
    proxy_url: http://bob:planted-2@proxy:3128
    proxy_connect_header: {X-Key: [planted-3]}
    http_headers:
      X-Key: {values: [planted-4], secrets: [planted-5], files: [planted-6]}
    tls_config: {insecure_skip_verify: true}
    health_url: https://h/health?key=planted-7
    server_metrics: {url: "https://h/metrics?key=planted-8"}
    params: {api_key: Planted-9, effort: low, n: 1, pin_key: 20261130, password: horse}
  - name: b
    provider: openai
    base_url: https://h2
    models: [m]
    oauth2:
      client_id: me
      client_secret: planted-10
      token_url: https://login/token?tenant=planted-11
      endpoint_params: {password: planted-12}
      proxy_url: http://bob:planted-13@proxy:3128
  - name: &planted planted-is-a-name
    provider: openai
    base_url: https://h3
    models: [m]
    basic_auth: {username: bob, password: *planted}
canary: {url: "https://example.com/?planted-14"}
`

func TestRedacted(t *testing.T) {
	cfg, err := Parse([]byte(secretive), Options{LookupEnv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	want := `targets:
    - name: a
      provider: openai
      base_url: https://h/api
      models: [m]
      authorization: {type: Bearer, credentials: <secret>}
      proxy_url: http://<secret>@proxy:3128
      proxy_connect_header: {X-Key: [<secret>]}
      http_headers:
        X-Key: {values: [<secret>], secrets: [<secret>], files: [<secret>]}
      tls_config: {insecure_skip_verify: true}
      health_url: https://h/health?<secret>
      server_metrics: {url: 'https://h/metrics?<secret>'}
      params: {api_key: <secret>, effort: low, n: 1, pin_key: <secret>, password: <secret>}
    - name: b
      provider: openai
      base_url: https://h2
      models: [m]
      oauth2:
        client_id: me
        client_secret: <secret>
        token_url: https://login/token?<secret>
        endpoint_params: {password: <secret>}
        proxy_url: http://<secret>@proxy:3128
    - name: planted-is-a-name
      provider: openai
      base_url: https://h3
      models: [m]
      basic_auth: {username: bob, password: <secret>}
canary: {url: 'https://example.com/?<secret>'}
`
	if got := string(cfg.Redacted()); got != want {
		t.Errorf("redacted:\n%s\nwant:\n%s", got, want)
	}
	if text := strings.ReplaceAll(cfg.Warnings.Error(), "planted-is-a-name", ""); strings.Contains(strings.ToLower(text), "planted") {
		t.Errorf("a secret is in a warning: %s", text)
	}
}

// TestErrorsHideSecrets breaks each line of a file full of secrets in turn: no
// message may repeat one, even where the value itself is what is wrong.
func TestErrorsHideSecrets(t *testing.T) {
	lines := strings.Split(strings.ReplaceAll(secretive, "planted-is-a-name", "c"), "\n")
	tried := 0
	for i, line := range lines {
		for _, broken := range []string{
			strings.Replace(line, ": ", ": [", 1),
			strings.Replace(line, "[", "{x: ", 1),
			strings.ReplaceAll(line, "planted-", "\"planted-\\x01"),
			strings.Replace(line, "_", "", 1),
			strings.Replace(line, "credentials", "credentials_file: f, credentials", 1),
			strings.Replace(line, "http", "ht tp", 1),
			strings.Replace(line, ": planted", ": {planted: planted}, x: planted", 1),
		} {
			if broken == line {
				continue
			}
			data := strings.Join(append(append(append([]string{}, lines[:i]...), broken), lines[i+1:]...), "\n")
			_, err := Parse([]byte(data), Options{LookupEnv: noEnv})
			if err == nil {
				continue
			}
			tried++
			for _, p := range err.(Problems) {
				if strings.Contains(strings.ToLower(p.Value+p.Message), "planted-") {
					t.Errorf("line %q: %v", broken, p)
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d broken files", tried)
	}
}
