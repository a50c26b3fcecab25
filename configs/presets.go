package configs

import (
	"net/url"
	"strings"

	"tokprobe/probe/wire"
)

// preset is what a provider's name stands for.
type preset struct {
	provider string
	baseURL  string // empty: must be given
	keyEnv   string // sent to baseURL's own host only
	protocol string
	health   string // appended to the base URL; empty: none
}

func presets() []preset {
	return []preset{
		{provider: "taotoken", baseURL: "https://taotoken.net/api", keyEnv: "TAOTOKEN_API_KEY", protocol: "openai-chat"},
		{provider: "vllm", protocol: "openai-chat", health: "/health"},
		{provider: "openai", baseURL: "https://api.openai.com", keyEnv: "OPENAI_API_KEY", protocol: "openai-chat"},
		{provider: "anthropic", baseURL: "https://api.anthropic.com", keyEnv: "ANTHROPIC_API_KEY", protocol: "anthropic-messages"},
	}
}

func presetOf(provider string) (preset, bool) {
	for _, p := range presets() {
		if p.provider == provider {
			return p, true
		}
	}
	return preset{}, false
}

func providers() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.provider)
	}
	return names
}

func protocols() []string { return wire.Names() }

// sameOrigin says whether two URLs have the same scheme, host and port: the
// condition for sending a preset's key.
func sameOrigin(a, b string) bool {
	origin := func(s string) string {
		u, err := url.Parse(s)
		if err != nil {
			return ""
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
	}
	o := origin(a)
	return o != "" && o == origin(b)
}

// complete fills in what the provider's preset knows and checks the rest.
// noPresetKey keeps a preset's key variable out even for its own host.
func (t *target) complete(noPresetKey bool) {
	p, ok := presetOf(t.provider.text)
	if !ok {
		return // said by oneOf, or missing
	}
	if t.protocol == "" {
		t.protocol = p.protocol
	}
	if t.baseAt == nil {
		if t.baseURL = p.baseURL; t.baseURL == "" {
			node{t.at.w, t.at.y, join(t.at.path, "base_url")}.bad("", "is missing; a %s has no address of its own, write base_url: http://host:8000", p.provider)
		}
	}
	if t.baseURL != "" && !t.healthSet && p.health != "" {
		t.health = t.baseURL + p.health
	}
	if t.auth.given() || p.keyEnv == "" || noPresetKey || t.baseURL == "" {
		return
	}
	if sameOrigin(t.baseURL, p.baseURL) {
		t.auth.keyEnv = p.keyEnv
		return
	}
	t.at.warn("", "sends no key: %s goes to %s only; write api_key_env: %s if this host is to have it", p.keyEnv, p.baseURL, p.keyEnv)
}
