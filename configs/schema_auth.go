package configs

import (
	"net/http"
	"net/url"
	"regexp"

	"github.com/prometheus/common/config"
)

// auth is how a target is reached and how we identify ourselves there. Its
// structs are those of prometheus/common, filled by our own walk.
type auth struct {
	keyEnv, keyFile string
	keyAt           node
	http            config.HTTPClientConfig
	sources         []string // the ways of identification that are given
	tlsAt, proxyAt  *node
	oauthAt         *node
	sourceAt        node // the first of them
}

// given says whether the file names any way of identification.
func (a *auth) given() bool { return len(a.sources) > 0 }

// schema adds the keys of a target that are about the connection.
func (a *auth) schema(k keys) {
	source := func(key string, read func(node)) {
		k[key] = func(n node) {
			if len(a.sources) > 0 {
				n.bad("", "%s is given too; keep one way of identification", a.sources[0])
			}
			if a.sources = append(a.sources, key); len(a.sources) == 1 {
				a.sourceAt = n
			}
			read(n)
		}
	}
	source("api_key_env", func(n node) { a.keyEnv, a.keyAt = n.envName(), n })
	source("api_key_file", func(n node) { a.keyFile, a.keyAt = n.path1(), n })
	source("authorization", a.readAuthorization)
	source("basic_auth", a.readBasicAuth)
	source("oauth2", a.readOAuth2)
	k["tls_config"] = func(n node) { a.tlsAt = &n; n.tls(&a.http.TLSConfig) }
	n := &a.http.ProxyConfig
	proxySchema(k, n, func(n node) { a.proxyAt = &n })
	k["http_headers"] = a.readHeaders
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// envName reads the name of an environment variable. Whoever writes the key
// itself here by mistake does not see it again in any message.
func (n node) envName() string {
	s := n.secret()
	if n.y.Kind != yamlScalar || n.y.Tag == "!!null" {
		return ""
	}
	if !envName.MatchString(s) {
		n.bad("", "is no name of an environment variable (the value is not shown, it may be a key); write a name such as TAOTOKEN_API_KEY")
		return ""
	}
	n.show(s)
	return s
}

// path1 reads the path of a file with a secret in it. Paths are shown.
func (n node) path1() string { return n.line() }

// inline reads a secret that stands in the file itself.
func (n node) inline(fileKey string) config.Secret {
	s := n.secret()
	if s != "" {
		n.warn("", "a secret stands in the configuration itself; write %s: PATH, which is also read anew at each use", fileKey)
	}
	return config.Secret(s)
}

func (a *auth) readAuthorization(n node) {
	c := &config.Authorization{Type: "Bearer"}
	a.http.Authorization = c
	given := 0
	n.object(keys{
		"type":             func(n node) { c.Type = n.line() },
		"credentials":      func(n node) { given++; c.Credentials = n.inline("credentials_file") },
		"credentials_file": func(n node) { given++; c.CredentialsFile = n.path1() },
	})
	if given != 1 {
		n.bad("", "write exactly one of credentials_file and credentials")
	}
}

func (a *auth) readBasicAuth(n node) {
	c := &config.BasicAuth{}
	a.http.BasicAuth = c
	n.object(keys{
		"username":      func(n node) { c.Username = n.line() },
		"username_file": func(n node) { c.UsernameFile = n.path1() },
		"password":      func(n node) { c.Password = n.inline("password_file") },
		"password_file": func(n node) { c.PasswordFile = n.path1() },
	})
	if (c.Username == "") == (c.UsernameFile == "") {
		n.bad("", "write exactly one of username and username_file")
	}
}

func (a *auth) readOAuth2(n node) {
	c := &config.OAuth2{}
	a.http.OAuth2, a.oauthAt = c, &n
	const jwt = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	k := keys{
		"client_id":                   func(n node) { c.ClientID = n.line() },
		"client_secret":               func(n node) { c.ClientSecret = n.inline("client_secret_file") },
		"client_secret_file":          func(n node) { c.ClientSecretFile = n.path1() },
		"client_certificate_key_id":   func(n node) { c.ClientCertificateKeyID = n.line() },
		"client_certificate_key":      func(n node) { c.ClientCertificateKey = n.inline("client_certificate_key_file") },
		"client_certificate_key_file": func(n node) { c.ClientCertificateKeyFile = n.path1() },
		"grant_type":                  func(n node) { c.GrantType = n.oneOf("client_credentials", jwt) },
		"signature_algorithm":         func(n node) { c.SignatureAlgorithm = n.oneOf("RS256", "RS384", "RS512") },
		"iss":                         func(n node) { c.Iss = n.line() },
		"audience":                    func(n node) { c.Audience = n.line() },
		"claims": func(n node) {
			c.Claims = map[string]any{}
			n.entries(func(key string, value node) { c.Claims[key] = value.json() })
		},
		"scopes":    func(n node) { n.list(true, func(n node) { c.Scopes = append(c.Scopes, n.line()) }) },
		"token_url": func(n node) { c.TokenURL = n.pageURL() },
		"endpoint_params": func(n node) { // some providers take a password here
			c.EndpointParams = map[string]string{}
			n.entries(func(key string, value node) { c.EndpointParams[key] = value.secret() })
		},
		"tls_config": func(n node) { n.tls(&c.TLSConfig) },
	}
	proxySchema(k, &c.ProxyConfig, func(node) {})
	n.object(k, "client_id", "token_url")
}

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

// validate lets prometheus/common check what it knows better, once the parts
// are read. Without it the header would lack its "Bearer".
func (a *auth) validate(dir string) {
	a.http.SetDirectory(dir)
	a.keyFile = config.JoinDir(dir, a.keyFile)
	if a.http.HTTPHeaders != nil && a.http.HTTPHeaders.Validate() != nil {
		return // said by readHeaders
	}
	if len(a.sources) > 1 {
		return // said by schema
	}
	if a.proxyAt != nil {
		if err := a.http.ProxyConfig.Validate(); err != nil {
			a.proxyAt.bad("", "%v", err)
			return
		}
	}
	if a.oauthAt != nil && (a.http.OAuth2.ClientID == "" || a.http.OAuth2.TokenURL == "") {
		return // said by readOAuth2
	}
	if err := a.http.Validate(); err != nil {
		a.sourceAt.bad("", "%v", err)
	}
	if a.tlsAt != nil {
		if _, err := config.NewTLSConfig(&a.http.TLSConfig); err != nil {
			a.tlsAt.bad("", "%v; relative paths begin in the folder of the configuration", err)
		}
	}
	if a.oauthAt != nil {
		if _, err := config.NewTLSConfig(&a.http.OAuth2.TLSConfig); err != nil {
			a.oauthAt.bad("", "tls_config: %v", err)
		}
	}
}
