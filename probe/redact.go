package probe

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"strings"
)

const (
	maxSecrets = 64 // texts that are blanked out; every value may have several spellings
	minSecret  = 6  // bytes; shorter values would blank ordinary words
	redacted   = "<secret>"
	// Of a key of at least longKey bytes every piece of pieceOfKey bytes is
	// blanked: servers like to cut and to mask what they repeat.
	longKey    = 16
	pieceOfKey = 8
	// tailOfText is how short the beginning of a secret may be at the end of a
	// text, where a bound has cut it, and still be blanked.
	tailOfText = 4
	// rawLine bounds a text before secrets are looked for.
	rawLine = 4 * maxErrBytes
)

// redactor blanks the credentials of one request out of texts; endpoints like
// to repeat a wrong key in their answer. The zero value knows no secrets.
type redactor struct{ secrets []secretText }

type secretText struct {
	text string // in lower case
	key  bool   // pieces of it are secret too
}

// header notes the values of a header that is sent.
func (r *redactor) header(name string, values []string) {
	key := isKeyHeader(name)
	for _, v := range values {
		bare := withoutScheme(v)
		r.add(bare, key || bare != v)
		r.basic(bare)
	}
}

// withoutScheme returns what follows "Bearer", said once or twice.
func withoutScheme(v string) string {
	for {
		v = strings.TrimSpace(v)
		scheme, rest, ok := strings.Cut(v, " ")
		if !ok || !isScheme(scheme) {
			return v
		}
		v = rest
	}
}

// basic notes the password inside the value of basic authentication.
func (r *redactor) basic(encoded string) {
	if plain, err := base64.StdEncoding.DecodeString(encoded); err == nil {
		if _, password, ok := strings.Cut(string(plain), ":"); ok {
			r.add(password, true)
		}
	}
}

// user notes the password of a URL, by itself and as a proxy is sent it.
func (r *redactor) user(u *url.URL) {
	if u == nil || u.User == nil {
		return
	}
	password, _ := u.User.Password()
	r.add(password, true)
	r.add(base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)), true)
}

// isKeyHeader says whether a header by its name carries a credential.
func isKeyHeader(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"auth", "key", "token", "secret", "cookie", "session", "password", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// add notes a secret and how it looks inside JSON, a URL and HTML.
func (r *redactor) add(v string, key bool) {
	if len(v) < minSecret {
		return
	}
	quoted, _ := json.Marshal(v)
	inside := string(quoted[1 : len(quoted)-1])
	for _, spelling := range []string{
		v, inside, strings.ReplaceAll(inside, "/", `\/`),
		url.QueryEscape(v), url.PathEscape(v), html.EscapeString(v),
	} {
		s := secretText{lowered(spelling), key && len(v) >= longKey}
		if len(r.secrets) < maxSecrets && !r.knows(s) {
			r.secrets = append(r.secrets, s)
		}
	}
}

func (r *redactor) knows(s secretText) bool {
	for i, have := range r.secrets {
		if have.text == s.text {
			r.secrets[i].key = have.key || s.key
			return true
		}
	}
	return false
}

// line returns s as one clean line without credentials and URL secrets. It is
// cleaned before secrets are looked for, since characters that are dropped may
// stand inside them, and cut to its length after.
func (r *redactor) line(s string) string {
	if s == "" {
		return ""
	}
	return oneLine(r.blank(withoutURLSecrets(oneLine(s, rawLine))), maxErrBytes)
}

// blank replaces what is secret in s.
func (r *redactor) blank(s string) string {
	if s == "" || len(r.secrets) == 0 {
		return s
	}
	low := lowered(s)
	hide := make([]bool, len(s))
	found := false
	for _, secret := range r.secrets {
		found = secret.mark(low, hide) || found
	}
	if !found {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !hide[i]:
			b.WriteByte(s[i])
		case i == 0 || !hide[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}

// lowered is s with ASCII letters in lower case, byte for byte.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// mark marks the places of the secret in s.
func (t secretText) mark(s string, hide []bool) bool {
	found := false
	mark := func(from, to int) {
		found = true
		for i := from; i < to; i++ {
			hide[i] = true
		}
	}
	piece := len(t.text)
	if t.key {
		piece = pieceOfKey
	}
	for i := 0; i+piece <= len(s); i++ {
		if strings.Contains(t.text, s[i:i+piece]) {
			mark(i, i+piece)
		}
	}
	end := len(strings.TrimSuffix(s, "…"))
	for n := min(len(t.text)-1, end); n >= tailOfText; n-- {
		if s[end-n:end] == t.text[:n] {
			mark(end-n, end)
			break
		}
	}
	return found
}

// proxySecrets notes what goes to a proxy: it answers too, and may repeat it.
func (e *Endpoint) proxySecrets(r *redactor) {
	for name, values := range e.cfg.ProxyHeader {
		r.header(name, values)
	}
	if e.cfg.Proxy == nil {
		return
	}
	if u, err := e.cfg.Proxy(&http.Request{URL: e.base}); err == nil {
		r.user(u)
	}
}
