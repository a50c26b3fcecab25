package configs

import (
	"fmt"

	"github.com/prometheus/common/config"

	"tokprobe/probe"
)

// Endpoints returns how each target is reached, by its name. Keys, tokens and
// header files are read when a request is made, not here; a certificate that
// cannot be read is an error.
func (c *Config) Endpoints() (map[string]probe.EndpointConfig, error) {
	all := map[string]probe.EndpointConfig{}
	for _, t := range c.targets {
		e, err := c.endpoint(t)
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", t.name.text, err)
		}
		all[t.name.text] = e
	}
	return all, nil
}

// SweepEndpoint returns how the sweeps of a target reach it: as its probes do,
// or with the key in the variable keyEnv in place of all other credentials.
func (c *Config) SweepEndpoint(name, keyEnv string) (probe.EndpointConfig, error) {
	for _, t := range c.targets {
		if t.name.text != name {
			continue
		}
		own := *t
		if keyEnv != "" {
			own.auth.keyEnv, own.auth.keyFile = keyEnv, ""
			own.auth.http.Authorization, own.auth.http.BasicAuth, own.auth.http.OAuth2 = nil, nil, nil
		}
		return c.endpoint(&own)
	}
	return probe.EndpointConfig{}, fmt.Errorf("target %s: not in the configuration", name)
}

func (c *Config) endpoint(t *target) (probe.EndpointConfig, error) {
	a := &t.auth
	tlsConfig, err := config.NewTLSConfig(&a.http.TLSConfig)
	if err != nil {
		return probe.EndpointConfig{}, err
	}
	e := probe.EndpointConfig{
		Target: t.name.text, BaseURL: t.baseURL, Vendor: t.provider.text, HTTP2: t.http2,
		TLS: tlsConfig, Proxy: a.http.Proxy(), ProxyHeader: a.http.GetProxyConnectHeader(),
		KeySource: a.source(),
	}
	key := keySource{env: a.keyEnv, file: a.keyFile, lookup: c.opts.LookupEnv}
	if key.given() {
		e.Key = key.read
	}
	e.Headers, err = a.headers()
	return e, err
}
