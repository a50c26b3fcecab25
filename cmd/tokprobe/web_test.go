package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// webPassword and its bcrypt hash of the lowest cost.
const (
	webPassword = "planted-web-password"
	webHash     = "$2a$04$.vcYWSUZtmwhr1pgE220gOg7wWyAVgq1rluzagcbFMJEz1FyhaSPq"
)

// webConfig writes a certificate for 127.0.0.1, its key, and a web config file
// that demands a password over TLS.
func webConfig(t *testing.T) (file string, pool *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(crt)
	for name, data := range map[string]string{
		"crt": string(crt),
		"key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		"web": "tls_server_config: {cert_file: crt, key_file: key}\nbasic_auth_users: {sre: " + webHash + "}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "web"), pool
}

// TestWebConfig: TLS and a password on every path, health on a plain listener
// of its own that serves nothing else, pprof behind its flag.
func TestWebConfig(t *testing.T) {
	_, base := simulator(t)
	web, pool := webConfig(t)
	health := freeAddress(t)
	d := startDaemon(t, nil, "--config.file", guarded(t, t.TempDir(), base, ""), "--web.config.file", web,
		"--web.health-address", health, "--web.enable-pprof", "--web.enable-lifecycle")
	if !strings.HasPrefix(d.url, "https://") {
		t.Fatalf("the console says %s", d.url)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	ask := func(method, url, password, origin string) int {
		t.Helper()
		req, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			req.SetBasicAuth("sre", password)
		}
		if origin != "" {
			req.Header.Set("Origin", origin)
			req.Header.Set("Sec-Fetch-Site", "cross-site")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, path := range []string{"/", "/metrics", "/config", "/api/v1/probes", "/api/v1/sweeps", "/-/healthy", "/-/ready", "/debug/pprof/cmdline"} {
		for password, want := range map[string]int{"": 401, "wrong": 401, webPassword: 200} {
			if got := ask(http.MethodGet, d.url+path, password, ""); got != want {
				t.Errorf("%s with password %q answers %d, want %d", path, password, got, want)
			}
		}
	}
	for origin, want := range map[string]int{"": 200, "https://evil.example": 403} {
		if got := ask(http.MethodPost, d.url+"/-/reload", webPassword, origin); got != want {
			t.Errorf("POST /-/reload from %q answers %d, want %d", origin, got, want)
		}
	}
	if got := ask(http.MethodPost, d.url+"/-/reload", "", ""); got != 401 {
		t.Errorf("POST /-/reload without a password answers %d", got)
	}
	for path, want := range map[string]int{"/-/healthy": 200, "/-/ready": 200, "/metrics": 404, "/config": 404, "/-/reload": 404, "/debug/pprof/": 404} {
		if got := ask(http.MethodGet, "http://"+health+path, "", ""); got != want {
			t.Errorf("health listener: %s answers %d, want %d", path, got, want)
		}
	}
	if all := d.out.String() + d.errs.String(); strings.Contains(all, webPassword) || strings.Contains(all, webHash) {
		t.Error("the console or the log shows the web password")
	}
}
