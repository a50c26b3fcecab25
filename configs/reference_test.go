package configs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReferenceHasEveryKey: the schema knows no key that reference.yaml does not
// show. Certificates are the exception: their files would have to exist.
func TestReferenceHasEveryKey(t *testing.T) {
	index := regexp.MustCompile(`\[\d+\]`)
	known, present := map[string]bool{}, map[string]bool{}
	visit := func(path string, k, p []string) {
		path = index.ReplaceAllString(path, "[]")
		if strings.HasPrefix(path, "targets[].http_headers.") {
			path = "targets[].http_headers.*"
		}
		for _, key := range k {
			known[path+"."+key] = true
		}
		for _, key := range p {
			present[path+"."+key] = true
		}
	}
	if _, err := Load("reference.yaml", Options{LookupEnv: noEnv, visit: visit}); err != nil {
		t.Fatal(err)
	}
	pem := []string{".ca", ".ca_file", ".cert", ".cert_file", ".key", ".key_file"}
	checked := 0
	for _, key := range sortedKeys(known) {
		isPEM := strings.Contains(key, "tls_config") && slices.ContainsFunc(pem, func(s string) bool { return strings.HasSuffix(key, s) })
		isTLSOfOAuth := strings.Contains(key, "oauth2.tls_config")
		if isPEM || isTLSOfOAuth || key == "sweeps[].timeouts.total" || key == "targets[].oauth2.client_certificate_key" {
			continue
		}
		checked++
		if !present[key] {
			t.Errorf("%s is not in reference.yaml", strings.TrimPrefix(key, "."))
		}
	}
	if checked < 130 {
		t.Errorf("only %d keys were seen", checked)
	}
}
