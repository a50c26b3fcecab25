package configs

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestFromEnv(t *testing.T) {
	tests := []struct {
		name, env, want, err string
	}{
		{"key and model", "TAOTOKEN_API_KEY=k TAOTOKEN_MODEL=gpt-4o", "https://taotoken.net/api gpt-4o", ""},
		{"several models", "TAOTOKEN_API_KEY=k TAOTOKEN_MODEL=gpt-4o,claude", "https://taotoken.net/api gpt-4o claude", ""},
		{"another address", "TAOTOKEN_API_KEY=k TAOTOKEN_MODEL=m TAOTOKEN_BASE_URL=http://127.0.0.1:1/v1", "http://127.0.0.1:1 m", ""},
		{"nothing", "", "", "config: nothing to watch; name a file with --config.file, try serve --demo, or set TAOTOKEN_API_KEY and TAOTOKEN_MODEL (and TAOTOKEN_BASE_URL for another address than https://taotoken.net/api)"},
		{"no model", "TAOTOKEN_API_KEY=k", "", "TAOTOKEN_MODEL: is not set; name the models to watch: TAOTOKEN_MODEL=claude-sonnet-4-5,gpt-4o"},
		{"twice", "TAOTOKEN_MODEL=m,m", "", `TAOTOKEN_MODEL: "m": two models of this target have this name, the other is targets[0].models[0]; rename one`},
		{"bad address", "TAOTOKEN_MODEL=m TAOTOKEN_BASE_URL=https://u:planted@h", "", `TAOTOKEN_BASE_URL: "https://<secret>@h": holds user info, and a password in a URL ends up in logs; remove it and write basic_auth: {username, password_file}`},
	}
	for _, tt := range tests {
		env := map[string]string{}
		for _, kv := range strings.Fields(tt.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		cfg, err := FromEnv(lookup)
		if err != nil || tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
			}
			continue
		}
		r := cfg.Roster()
		if got := r.Targets[0].BaseURL + " " + strings.Join(r.Targets[0].Models, " "); got != tt.want || r.Targets[0].Name != "taotoken" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if len(r.Watches) != len(r.Targets[0].Models) || r.Watches[0].ID.Probe != "chat" || r.Watches[0].Every != time.Minute {
			t.Errorf("%s: watches %+v, want the built-in chat every minute", tt.name, r.Watches)
		}
		endpoints, err := cfg.Endpoints()
		if err != nil {
			t.Fatal(err)
		}
		if key, err := endpoints["taotoken"].Key(context.Background()); key != env["TAOTOKEN_API_KEY"] || err != nil {
			t.Errorf("%s: key %q, %v", tt.name, key, err)
		}
	}
}

// TestAdhoc: a URL on the command line gets no key that was not named.
func TestAdhoc(t *testing.T) {
	lookup := func(name string) (string, bool) { return "key-of-" + name, true }
	for _, base := range []string{"https://api.openai.com/v1", "https://taotoken.net/api", "http://127.0.0.1:8000"} {
		cfg, err := Adhoc(OneTarget{BaseURL: base, Models: []string{"m"}}, Options{LookupEnv: lookup})
		if err != nil {
			t.Fatal(err)
		}
		endpoints, err := cfg.Endpoints()
		if err != nil {
			t.Fatal(err)
		}
		if e := endpoints["target"]; e.Key != nil || e.Headers != nil || e.KeySource != "" {
			t.Errorf("%s: a key is sent from %q", base, e.KeySource)
		}
	}
	cfg, err := Adhoc(OneTarget{Name: "x", Provider: "anthropic", BaseURL: "http://h", Models: []string{"m"}, APIKeyEnv: "V"}, Options{LookupEnv: lookup})
	if err != nil {
		t.Fatal(err)
	}
	endpoints, _ := cfg.Endpoints()
	if key, err := endpoints["x"].Key(context.Background()); key != "key-of-V" || err != nil {
		t.Errorf("key %q, %v", key, err)
	}
	if p := cfg.Roster().Targets[0].Protocol; p != "anthropic-messages" {
		t.Errorf("protocol %q", p)
	}
	_, err = Adhoc(OneTarget{BaseURL: "h:1", Models: []string{""}}, Options{LookupEnv: lookup})
	want := "--base-url: \"h:1\": has no http:// or https:// in front; write https://host/prefix\n--model: \"\": is empty; write the id as GET /v1/models lists it"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
