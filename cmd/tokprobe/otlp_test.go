package main

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestOTLPPush: the demo pushes to a receiver that refuses at first; the page
// counts both, the log tells each change once, the last push comes at
// shutdown, and the key is in none of what was written.
func TestOTLPPush(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var refused, taken atomic.Int64
	var broken atomic.Bool
	broken.Store(true)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(unpacked)
		if err != nil || !strings.Contains(string(body), `"gen_ai.client.operation.duration"`) || r.Header.Get("X-Key") != "k-planted-secret" {
			t.Errorf("pushed %.200s, %v, headers %v", body, err, r.Header)
		}
		if broken.Load() {
			refused.Add(1)
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		taken.Add(1)
	}))
	defer receiver.Close()
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("X-Key: k-planted-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, nil, "--demo", "--otlp.endpoint", receiver.URL, "--otlp.interval", "200ms", "--otlp.headers-file", file, "--log.level", "debug")
	counted := func(result string) float64 {
		n, _ := value(d.metrics(t), "tokprobe_otlp_pushes_total", map[string]string{"result": result})
		return n
	}
	eventually(t, time.Minute, "two refused pushes", func() bool { return counted("failure") >= 2 })
	broken.Store(false)
	eventually(t, time.Minute, "a push that is taken", func() bool { return counted("success") >= 1 })
	_, page := d.get(t, http.MethodGet, "/metrics")
	before := taken.Load()
	d.end(t)
	if taken.Load() <= before {
		t.Error("no last push at shutdown")
	}
	log := d.errs.String()
	if n := strings.Count(log, "push failed"); n != 1 {
		t.Errorf("%d lines on %d refused pushes, want 1", n, refused.Load())
	}
	if n := strings.Count(log, "push succeeded"); n != 1 {
		t.Errorf("%d lines on the recovery, want 1", n)
	}
	if strings.Contains(log+page+d.out.String(), "k-planted-secret") {
		t.Error("the key of the headers file is shown")
	}
}

func TestOTLPFlags(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--otlp.headers-file x", "--otlp.headers-file needs --otlp.endpoint"},
		{"--otlp.endpoint collector:4318", "--otlp.endpoint is not a URL such as http://collector:4318"},
		{"--otlp.endpoint http://c:4318 --otlp.headers-file /does/not/exist", "--otlp.headers-file: open /does/not/exist"},
		{"--otlp.endpoint http://c:4318 --otlp.interval 0s", "--otlp.interval"},
	} {
		var errs strings.Builder
		code := run(context.Background(), append([]string{"serve", "--demo"}, strings.Fields(tt.args)...),
			console{in: strings.NewReader(""), out: io.Discard, err: &errs, env: func(string) (string, bool) { return "", false }})
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: exit %d, %q, want %d and %q", tt.args, code, errs.String(), exitUsage, tt.want)
		}
	}
}
