package configs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/common/config"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// tokenSource fetches OAuth 2 tokens and keeps one until shortly before it
// expires. Unlike the round tripper of prometheus/common it ends with the
// caller's context, follows no redirect (which would carry the client secret to
// another host), and its errors hold nothing of the answer's body.
type tokenSource struct {
	cfg    *config.OAuth2
	client *http.Client
	// turn is held while the token is looked at or fetched: one fetch at a
	// time, and whoever waits leaves with their own context.
	turn   chan struct{}
	token  *oauth2.Token
	secret Secret // the token was got with it; a new one in the file gets a new token
}

func newTokenSource(c *config.OAuth2) (*tokenSource, error) {
	tlsConfig, err := config.NewTLSConfig(&c.TLSConfig)
	if err != nil {
		return nil, fmt.Errorf("oauth2 tls_config: %w", err)
	}
	return &tokenSource{
		cfg:  c,
		turn: make(chan struct{}, 1),
		client: &http.Client{
			Transport: &http.Transport{
				TLSClientConfig:    tlsConfig,
				Proxy:              c.Proxy(),
				ProxyConnectHeader: c.GetProxyConnectHeader(),
				// A fetch an hour is not worth a connection that waits.
				DisableKeepAlives: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       30 * time.Second, // where the caller has no limit
		},
	}, nil
}

// header returns the value of Authorization.
func (s *tokenSource) header(ctx context.Context) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", fmt.Errorf("no OAuth 2 token within the connect limit: %w", ctx.Err())
	}
	secret, err := s.readSecret(ctx)
	if err != nil {
		return "", err
	}
	if !s.token.Valid() || secret != string(s.secret) {
		token, err := s.fetch(ctx, secret)
		if err != nil {
			return "", s.explain(err)
		}
		s.token, s.secret = token, Secret(secret)
	}
	return s.token.Type() + " " + s.token.AccessToken, nil
}

func (s *tokenSource) readSecret(ctx context.Context) (string, error) {
	text, file := string(s.cfg.ClientSecret), s.cfg.ClientSecretFile
	if s.cfg.GrantType == jwtGrant {
		text, file = string(s.cfg.ClientCertificateKey), s.cfg.ClientCertificateKeyFile
	}
	if file == "" {
		return text, nil
	}
	v, err := config.NewFileSecret(file).Fetch(ctx)
	if err != nil {
		return "", &KeyError{"file " + file, "cannot be read: " + reason(err)}
	}
	if v == "" {
		return "", &KeyError{"file " + file, "is empty"}
	}
	return v, nil
}

const jwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

func (s *tokenSource) fetch(ctx context.Context, secret string) (*oauth2.Token, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, s.client)
	params := url.Values{}
	for k, v := range s.cfg.EndpointParams {
		params.Set(k, v)
	}
	var source oauth2.TokenSource
	if s.cfg.GrantType == jwtGrant {
		source = (&config.JwtGrantTypeConfig{
			PrivateKey: []byte(secret), PrivateKeyID: s.cfg.ClientCertificateKeyID, SigningAlgorithm: signing(s.cfg.SignatureAlgorithm),
			Iss: first(s.cfg.Iss, s.cfg.ClientID), Subject: s.cfg.ClientID, Audience: s.cfg.Audience, PrivateClaims: s.cfg.Claims,
			Scopes: s.cfg.Scopes, TokenURL: s.cfg.TokenURL, EndpointParams: params,
		}).TokenSource(ctx)
	} else {
		source = (&clientcredentials.Config{
			ClientID: s.cfg.ClientID, ClientSecret: secret, Scopes: s.cfg.Scopes, TokenURL: s.cfg.TokenURL, EndpointParams: params,
		}).TokenSource(ctx)
	}
	token, err := source.Token()
	if err == nil && (token == nil || token.AccessToken == "") {
		err = errNoToken
	}
	return token, err
}

func signing(name string) *jwt.SigningMethodRSA {
	switch name {
	case "RS384":
		return jwt.SigningMethodRS384
	case "RS512":
		return jwt.SigningMethodRS512
	}
	return jwt.SigningMethodRS256
}

// explain tells what went wrong with a token without the answer's body, which
// may repeat what was sent.
func (s *tokenSource) explain(err error) error {
	what := "no OAuth 2 token from " + urlForPeople(s.cfg.TokenURL)
	var refused *oauth2.RetrieveError
	var transport *url.Error
	switch {
	case errors.As(err, &refused) && refused.Response != nil:
		return fmt.Errorf("%s: HTTP status %d", what, refused.Response.StatusCode)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s within the connect limit: %w", what, context.DeadlineExceeded)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, context.Canceled)
	case errors.As(err, &transport):
		return fmt.Errorf("%s: %w", what, transport.Err)
	case errors.Is(err, errNoToken):
		return fmt.Errorf("%s: %w", what, err)
	}
	return errors.New(what + ": the answer is no token, or the key cannot sign")
}
