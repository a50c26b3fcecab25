package configs

import (
	"errors"
	"net/url"
	"strings"
)

// apiPaths end a URL that somebody copied from a curl line.
var apiPaths = []string{"/chat/completions", "/completions", "/messages", "/responses", "/embeddings", "/models"}

// NormalizeBaseURL gives the one form of a base URL: scheme, host and perhaps a
// path prefix, without /v1 and trailing slashes. "https://taotoken.net/api",
// "https://taotoken.net/api/" and "https://taotoken.net/api/v1" are the same.
// The error says what to write and never repeats user info or a query.
func NormalizeBaseURL(raw string) (string, error) {
	u, err := parseURL(raw)
	if err != nil {
		return "", err
	}
	prefix := strings.TrimRight(u.EscapedPath(), "/")
	prefix, full := cutAPIPath(prefix)
	prefix = strings.TrimSuffix(prefix, "/v1")
	prefix = strings.TrimRight(prefix, "/")
	plain := u.Scheme + "://" + strings.ToLower(u.Host) + prefix
	switch {
	case full:
		return "", errors.New("names one API method; write the base only: " + plain)
	case u.RawQuery != "" || u.ForceQuery:
		return "", errors.New("has a query (?…), which no API call may carry; write " + plain)
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return "", errors.New("has a fragment (#…); write " + plain)
	case strings.HasSuffix(prefix, "/v1"):
		return "", errors.New("has /v1 twice; write " + strings.TrimSuffix(plain, "/v1"))
	}
	return plain, nil
}

// cutAPIPath removes a trailing method path; full says that there was one.
func cutAPIPath(path string) (rest string, full bool) {
	for _, p := range apiPaths {
		if rest, ok := strings.CutSuffix(path, p); ok {
			return rest, true
		}
	}
	return path, false
}

// parseURL reads an absolute http or https URL without user info.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, errors.New("is no URL; write scheme, host and perhaps a path: https://host/prefix")
	case u.User != nil:
		return nil, errors.New("holds user info, and a password in a URL ends up in logs; remove it and write basic_auth: {username, password_file}")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("has no http:// or https:// in front; write https://host/prefix")
	case u.Hostname() == "":
		return nil, errors.New("names no host; write https://host/prefix")
	}
	return u, nil
}

// urlForPeople is raw without what may be secret in it: user info, query and
// fragment. What cannot be parsed is not shown if it could hold user info.
func urlForPeople(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		if strings.ContainsAny(raw, "@?#") {
			return masked
		}
		return raw
	}
	if u.User == nil && u.RawQuery == "" && u.Fragment == "" && !strings.Contains(u.Opaque, "@") {
		return raw
	}
	shown := u.Scheme + "://"
	if u.Opaque != "" {
		return masked
	}
	if u.User != nil {
		shown += masked + "@"
	}
	shown += u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		shown += "?" + masked
	}
	if u.Fragment != "" {
		shown += "#" + masked
	}
	return shown
}

// baseURL reads and normalises a base_url.
func (n node) baseURL() string {
	raw := n.secret()
	n.show(urlForPeople(raw))
	if raw == "" {
		if n.y.Kind == yamlScalar && n.y.Tag != "!!null" {
			n.bad(`""`, "is empty; write https://host/prefix")
		}
		return ""
	}
	norm, err := NormalizeBaseURL(raw)
	if err != nil {
		n.bad(quote(urlForPeople(raw)), "%v", err)
	}
	return norm
}

// pageURL reads the URL of a page that is fetched as it is, query included.
func (n node) pageURL() string {
	raw := n.secret()
	if n.y.Kind != yamlScalar || n.y.Tag == "!!null" {
		return ""
	}
	n.show(urlForPeople(raw))
	if _, err := parseURL(raw); err != nil {
		n.bad(quote(urlForPeople(raw)), "%v", err)
		return ""
	}
	return raw
}
