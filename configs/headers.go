package configs

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/common/config"
)

// headers returns what computes credentials and custom headers of one request,
// or nil if there are none. It runs before the request's clock starts.
func (a *auth) headers() (func(context.Context) (http.Header, error), error) {
	c := a.http
	if c.Authorization == nil && c.BasicAuth == nil && c.OAuth2 == nil && c.HTTPHeaders == nil {
		return nil, nil
	}
	var rt http.RoundTripper = capture{}
	var token *tokenSource
	switch {
	case c.Authorization != nil:
		secret := secretOf(string(c.Authorization.Credentials), c.Authorization.CredentialsFile)
		rt = config.NewAuthorizationCredentialsRoundTripper(c.Authorization.Type, secret, rt)
	case c.BasicAuth != nil:
		rt = config.NewBasicAuthRoundTripper(secretOf(c.BasicAuth.Username, c.BasicAuth.UsernameFile), passwordOf(c.BasicAuth), rt)
	case c.OAuth2 != nil:
		var err error
		if token, err = newTokenSource(c.OAuth2); err != nil {
			return nil, err
		}
	}
	if c.HTTPHeaders != nil {
		rt = config.NewHeadersRoundTripper(c.HTTPHeaders, rt)
	}
	return func(ctx context.Context) (http.Header, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://headers.invalid/", nil)
		if err != nil {
			return nil, err
		}
		if token != nil {
			value, err := token.header(ctx)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", value)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		return resp.Request.Header, nil
	}, nil
}

// capture is the end of a chain of round trippers: it sends nothing and gives
// back the request as they made it.
type capture struct{}

func (capture) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
}

// checkedSecret refuses a secret that would make an empty or broken header,
// where prometheus/common sends "Bearer " and lets the server find out.
type checkedSecret struct{ config.SecretReader }

func (s checkedSecret) Fetch(ctx context.Context) (string, error) {
	v, err := s.SecretReader.Fetch(ctx)
	if err != nil {
		return "", &KeyError{s.Description(), "cannot be read: " + reason(err)}
	}
	return cleanKey(s.Description(), v)
}

func secretOf(text, file string) config.SecretReader {
	if file != "" {
		return checkedSecret{config.NewFileSecret(file)}
	}
	return checkedSecret{config.NewInlineSecret(text)}
}

// passwordOf reads a password, which may be empty or hold blanks.
func passwordOf(b *config.BasicAuth) config.SecretReader {
	if b.PasswordFile != "" {
		return config.NewFileSecret(b.PasswordFile)
	}
	return config.NewInlineSecret(string(b.Password))
}

// source says for a hint where the credentials come from.
func (a *auth) source() string {
	c := a.http
	switch {
	case a.keyEnv != "" || a.keyFile != "":
		return keySource{env: a.keyEnv, file: a.keyFile}.String()
	case c.Authorization != nil && c.Authorization.CredentialsFile != "":
		return "file " + c.Authorization.CredentialsFile
	case c.Authorization != nil:
		return "authorization.credentials in the configuration"
	case c.BasicAuth != nil:
		return "basic_auth in the configuration"
	case c.OAuth2 != nil:
		return "an OAuth 2 token from " + urlForPeople(c.OAuth2.TokenURL)
	}
	return ""
}

var errNoToken = errors.New("the token server's answer holds no access token")
