package configs

import (
	"net/http"
	"net/url"
	"regexp"

	"github.com/prometheus/common/config"
)

// tls reads a tls_config as prometheus/common has it.
func (n node) tls(c *config.TLSConfig) {
	version := func(to *config.TLSVersion) func(node) {
		return func(n node) { *to = config.TLSVersions[n.oneOf("TLS10", "TLS11", "TLS12", "TLS13")] }
	}
	n.object(keys{
		"ca":                   func(n node) { c.CA = n.text() },
		"ca_file":              func(n node) { c.CAFile = n.path1() },
		"cert":                 func(n node) { c.Cert = n.text() },
		"cert_file":            func(n node) { c.CertFile = n.path1() },
		"key":                  func(n node) { c.Key = n.inline("key_file") },
		"key_file":             func(n node) { c.KeyFile = n.path1() },
		"server_name":          func(n node) { c.ServerName = n.line() },
		"insecure_skip_verify": func(n node) { c.InsecureSkipVerify = n.boolean() },
		"min_version":          version(&c.MinVersion),
		"max_version":          version(&c.MaxVersion),
	})
}

// proxySchema adds the proxy keys of prometheus/common. at hears of the place
// of the first of them.
func proxySchema(k keys, c *config.ProxyConfig, at func(node)) {
	k["proxy_url"] = func(n node) {
		at(n)
		raw := n.secret()
		n.show(urlForPeople(raw))
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			n.bad(quote(urlForPeople(raw)), "is no proxy; write http://host:port, https://host:port or socks5://host:port")
			return
		}
		c.ProxyURL = config.URL{URL: u}
	}
	k["no_proxy"] = func(n node) { c.NoProxy = n.line() }
	k["proxy_from_environment"] = func(n node) { at(n); c.ProxyFromEnvironment = n.boolean() }
	k["proxy_connect_header"] = func(n node) {
		at(n)
		c.ProxyConnectHeader = config.ProxyHeader{}
		n.entries(func(key string, value node) {
			value.list(false, func(n node) {
				c.ProxyConnectHeader[key] = append(c.ProxyConnectHeader[key], config.Secret(n.headerValue()))
			})
		})
	}
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$")

// headerValue reads a header's value. It is masked wherever it is shown: keys
// in plain headers are how they usually leak.
func (n node) headerValue() string {
	s := n.secret()
	for _, r := range s {
		if isControl(r) {
			n.bad("", "holds control characters; write one plain line")
			return ""
		}
	}
	return s
}

func (a *auth) readHeaders(n node) {
	a.http.HTTPHeaders = &config.Headers{Headers: map[string]config.Header{}}
	n.entries(func(key string, value node) {
		var h config.Header
		value.object(keys{
			"values": func(n node) { n.list(false, func(n node) { h.Values = append(h.Values, n.headerValue()) }) },
			"secrets": func(n node) {
				n.list(false, func(n node) { h.Secrets = append(h.Secrets, config.Secret(n.headerValue())) })
			},
			"files": func(n node) { n.list(false, func(n node) { h.Files = append(h.Files, n.secretPath()) }) },
		})
		name := http.CanonicalHeaderKey(key)
		switch _, taken := config.ReservedHeaders[name]; {
		case !headerName.MatchString(key):
			value.bad(quote(key), "is no header name; write letters, digits and -")
		case name == "Authorization":
			value.bad("", "write api_key_env, api_key_file or authorization: {type, credentials_file}")
		case taken || name == "Accept" || name == "Transfer-Encoding":
			value.bad("", "this header is set by the probe itself; remove it")
		default:
			a.http.HTTPHeaders.Headers[key] = h
		}
	})
}

// secretPath reads a path that is masked when shown.
func (n node) secretPath() string { return n.secret() }
