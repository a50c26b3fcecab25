package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/prometheus/common/config"
)

// connectionHash changes when anything about the way to a target does. The
// secrets in it are hashed with the rest, and files by their names only.
func (t *target) connectionHash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %v %q %q\n", t.provider.text, t.protocol, t.baseURL, t.http2, t.auth.keyEnv, t.auth.keyFile)
	c := t.auth.http
	if a := c.Authorization; a != nil {
		fmt.Fprintf(h, "%q %q %q\n", a.Type, string(a.Credentials), a.CredentialsFile)
	}
	if a := c.BasicAuth; a != nil {
		fmt.Fprintf(h, "%q %q %q %q\n", a.Username, a.UsernameFile, string(a.Password), a.PasswordFile)
	}
	if a := c.OAuth2; a != nil {
		fmt.Fprintf(h, "%q %q %q %q %q %q %q\n", a.ClientID, string(a.ClientSecret), a.ClientSecretFile, string(a.ClientCertificateKey), a.ClientCertificateKeyFile, a.GrantType, a.TokenURL)
		fmt.Fprintf(h, "%q %q %q %q %v %q %v\n", a.ClientCertificateKeyID, a.SignatureAlgorithm, a.Iss, a.Audience, a.Claims, a.Scopes, a.EndpointParams)
		hashConnection(h, a.TLSConfig, a.ProxyConfig)
	}
	hashConnection(h, c.TLSConfig, c.ProxyConfig)
	for _, pem := range t.auth.authorities() {
		fmt.Fprintf(h, "%q\n", pem)
	}
	if c.HTTPHeaders != nil {
		for _, name := range sortedKeys(c.HTTPHeaders.Headers) {
			v := c.HTTPHeaders.Headers[name]
			fmt.Fprintf(h, "%q %q %q\n", name, v.Values, v.Files)
			for _, s := range v.Secrets {
				fmt.Fprintf(h, "%q\n", string(s))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func hashConnection(h interface{ Write([]byte) (int, error) }, t config.TLSConfig, p config.ProxyConfig) {
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %v %v %v\n", t.CA, t.CAFile, t.Cert, t.CertFile, string(t.Key), t.KeyFile, t.ServerName, t.InsecureSkipVerify, t.MinVersion, t.MaxVersion)
	raw := ""
	if p.ProxyURL.URL != nil {
		raw = p.ProxyURL.URL.String()
	}
	fmt.Fprintf(h, "%q %q %v\n", raw, p.NoProxy, p.ProxyFromEnvironment)
	for _, name := range sortedKeys(p.ProxyConnectHeader) {
		for _, s := range p.ProxyConnectHeader[name] {
			fmt.Fprintf(h, "%q %q\n", name, string(s))
		}
	}
}
