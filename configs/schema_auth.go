package configs

import (
	"os"
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

// authorities are the contents of the CA files: unlike keys they are read once,
// so a new one must count as a change.
func (a *auth) authorities() [][]byte {
	files := []string{a.http.TLSConfig.CAFile}
	if a.http.OAuth2 != nil {
		files = append(files, a.http.OAuth2.TLSConfig.CAFile)
	}
	var all [][]byte
	for _, f := range files {
		if f == "" {
			continue
		}
		if data, err := os.ReadFile(f); err == nil { // said by validate if not
			all = append(all, data)
		}
	}
	return all
}

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
