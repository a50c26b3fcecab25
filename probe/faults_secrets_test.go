package probe_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tokprobe/probe"
)

// Planted secrets. None may show in anything that a Result or an error says.
const (
	plantedKey    = "sk-planted/Aa0+Bb1Cc2Dd3Ee4Ff5"
	plantedHeader = "hdr-planted-9f8e7d6c5b4a"
	plantedProxy  = "prx-planted-0a1b2c3d4e"
	plantedPass   = "pw-planted-112233"
)

// echoes are answers that repeat what they were sent, in every place and form.
func echoes(h http.Header) []string {
	all := h.Get("Authorization") + " " + h.Get("X-Team-Secret") + " " + h.Get("Proxy-Authorization")
	for _, basic := range []string{h.Get("Authorization"), h.Get("Proxy-Authorization")} {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(basic, "Basic ")); err == nil {
			all += " " + string(plain)
		}
	}
	quoted, _ := json.Marshal(all)
	q := string(quoted)
	head := func(status, extra string) string {
		return "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + extra + "\r\n"
	}
	list := []string{
		head("401 Unauthorized", "") + `{"error":{"message":` + q + `}}`,
		head("401 Unauthorized", "") + all,
		head("500 Oops", "") + "<html>" + all,
		head("500 Oops", "") + strings.ReplaceAll(q, "/", `\/`),
		head("400 Bad", "") + url.QueryEscape(all) + url.PathEscape(all),
		head("403 No", "") + strings.ToUpper(all),
		head("403 No", "") + strings.Join(strings.Split(all, ""), "\u200b"),
		head("403 No", "") + strings.ReplaceAll(all, "planted", "plan\x1bted"),
		head("302 Found", "Location: https://user:"+plantedPass+"@x.test/"+url.PathEscape(all)+"?k="+plantedKey+"\r\n"),
		head("200 OK", "X-Request-Id: "+strings.ReplaceAll(all, " ", "")+"\r\n") + tok("a") + done,
		head("200 OK", "") + `data: {"id":` + q + `,"model":` + q + `,"choices":[{"delta":{"content":` + q + `},"finish_reason":` + q + `}]}` + "\n\n" + done,
		head("200 OK", "") + `data: {"error":{"message":` + q + `,"code":` + q + `}}` + "\n\n",
		head("200 OK", "") + "data: " + all + "\n\n",
		head("200 OK", "") + "error: " + all + "\n\n",
		head("200 OK", "Content-Encoding: "+strings.ReplaceAll(all, " ", "")+"\r\n"),
		head("200 OK", "X-Bad "+all+"\r\n"),
		"HTTP/1.1 " + all + "\r\n\r\n",
		all + "\r\n",
	}
	// Cut by every bound at every place inside the secret.
	for pad := 120; pad < 310; pad += 7 {
		list = append(list, head("200 OK", "")+"<html>"+strings.Repeat("x", pad)+all, head("500 Oops", "")+strings.Repeat("y", pad)+all)
	}
	return list
}

// leaks returns what of a secret shows in a text: pieces of 8 bytes are enough.
func leaks(text string) []string {
	var found []string
	text = strings.ToLower(text)
	for _, secret := range []string{plantedKey, plantedHeader, plantedProxy, plantedPass, base64.StdEncoding.EncodeToString([]byte("user:" + plantedProxy)), base64.StdEncoding.EncodeToString([]byte("user:" + plantedPass))} {
		secret = strings.ToLower(secret)
		for i := 0; i+8 <= len(secret); i++ {
			if strings.Contains(text, secret[i:i+8]) {
				found = append(found, secret[i:i+8])
				break
			}
		}
	}
	return found
}

// shownBy is every text of a Result, and of the list of models.
func shownBy(t *testing.T, e *probe.Endpoint) string {
	t.Helper()
	s := spec()
	s.KeepText = true
	r := e.Probe(t.Context(), s)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	_, listed := e.Models(t.Context())
	opened := e.Open(t.Context())
	health := ""
	if _, err := e.Health(t.Context(), "http://user:"+plantedPass+"@127.0.0.1:1/health?k="+plantedKey); err != nil {
		health = err.Error()
	}
	return fmt.Sprintf("%s %+v %v %v %s", b, r, listed, opened, health)
}

// TestNoSecretIsShown plants secrets in every place that an endpoint takes them
// from and looks for them in all it says, for servers and proxies that repeat
// what they were sent in many forms.
func TestNoSecretIsShown(t *testing.T) {
	n := 0
	grep := func(name, text string) {
		t.Helper()
		n += len(text)
		if found := leaks(text); len(found) > 0 {
			t.Errorf("%s: %q in %s", name, found, text)
		}
	}
	which := 0
	address := listener(t, func(c *net.TCPConn, _ func() error) {
		req, err := readRequest(bufioReader(c))
		if err != nil {
			return
		}
		list := echoes(req.Header)
		io.WriteString(c, list[which%len(list)])
	})
	key := func(context.Context) (string, error) { return plantedKey, nil }
	headers := func(context.Context) (http.Header, error) { return http.Header{"X-Team-Secret": {plantedHeader}}, nil }
	basic := func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+plantedPass))}}, nil
	}
	viaProxy := proxy(strings.Replace(address, "http://", "http://user:"+plantedProxy+"@", 1))
	for name, cfg := range map[string]probe.EndpointConfig{
		"key and header":   {BaseURL: address, Key: key, Headers: headers},
		"basic":            {BaseURL: address, Headers: basic},
		"through a proxy":  {BaseURL: "http://t.test", Key: key, Proxy: viaProxy},
		"proxy and tunnel": {BaseURL: "https://t.test", Key: key, Proxy: viaProxy, ProxyHeader: http.Header{"X-Team-Secret": {plantedHeader}}},
	} {
		for which = range echoes(http.Header{}) {
			grep(fmt.Sprint(name, " ", which), shownBy(t, endpoint(t, cfg)))
		}
	}
	for name, cfg := range map[string]probe.EndpointConfig{
		"refused proxy": {BaseURL: "http://t.test", Proxy: proxy("http://user:" + plantedProxy + "@" + closedPort(t))},
		"bad proxy":     {BaseURL: "http://t.test", Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://user:" + plantedProxy + "@h:x/") }}, //lint:ignore SA1007 a URL that cannot be parsed is the point
		"proxy function": {BaseURL: "http://t.test", Proxy: func(*http.Request) (*url.URL, error) {
			return nil, errors.New("bad proxy http://user:" + plantedProxy + "@h/")
		}},
		"key with a feed": {BaseURL: "http://t.test", Key: func(context.Context) (string, error) { return plantedKey + "\n" + plantedKey, nil }},
		"key that panics": {BaseURL: "http://t.test", Key: func(context.Context) (string, error) { panic(plantedKey) }},
	} {
		grep(name, shownBy(t, endpoint(t, cfg)))
	}
	for _, bad := range []string{"http://user:" + plantedPass + "@h", "http://u:" + plantedPass + " x@h", "http://h/?k=" + plantedKey, "http://h:" + plantedPass, "://" + plantedPass} {
		if _, err := probe.NewEndpoint(probe.EndpointConfig{BaseURL: bad}); err == nil {
			t.Errorf("%s is no error", bad)
		} else {
			grep("base URL", err.Error())
		}
	}
	t.Logf("%d bytes searched", n)
}
