package probetest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe/probetest"
)

func TestLoadRefuses(t *testing.T) {
	const good = `{"name":"a","end":"close"}`
	for _, c := range []struct{ file, body, want string }{
		{"", "", "no wire cases"},
		{"b.json", good, `name is "a"`},
		{"a.json", `{"name":"a","end":"bang"}`, `end is "bang"`},
		{"a.json", `{"name":"a","end":"close","expects":{}}`, "unknown field"},
		{"a.json", good, ""},
	} {
		dir := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cases, err := probetest.Load(dir)
		if c.want == "" {
			if err != nil || len(cases) != 1 {
				t.Errorf("%s: %v, %d cases", c.body, err, len(cases))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.file, c.body, err, c.want)
		}
	}
}

func text(s string) *string { return &s }

// TestReplayer holds the bytes of the response and how it ends.
func TestReplayer(t *testing.T) {
	body := []probetest.Segment{{Data: text("ab\n")}, {AfterMS: 20, Data: text("c")}}
	kase := func(name, end string, headers map[string]string) probetest.Case {
		return probetest.Case{Name: name, Protocol: "openai-completions", Status: 200, Headers: headers, Body: body, End: end, HangMS: new(int)}
	}
	server, err := probetest.NewReplayer([]probetest.Case{
		kase("close", "close", nil), kase("truncate", "truncate", nil), kase("reset", "reset", nil), kase("hang", "hang", nil),
		kase("length", "close", map[string]string{"content-length": "4"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct {
		path    string
		chunked bool
		body    string
		err     error
	}{
		{"/close/v1/completions", true, "ab\nc", nil},
		{"/length/v1/completions", false, "ab\nc", nil},
		{"/truncate/v1/completions", true, "ab\nc", io.ErrUnexpectedEOF},
		{"/hang/v1/completions", true, "ab\nc", io.ErrUnexpectedEOF}, // for 0 ms
		{"/reset/v1/completions", true, "ab\nc", syscall.ECONNRESET},
		{"/close/v1/models", false, "<!doctype html><title>not here</title>\n", nil},
		{"/login", false, "<!doctype html><title>not here</title>\n", nil},
	} {
		resp, err := http.Post(server.URL()+c.path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if chunked := len(resp.TransferEncoding) > 0; string(got) != c.body || !errors.Is(err, c.err) || chunked != c.chunked || resp.StatusCode != 200 || !resp.Close {
			t.Errorf("%s: %q, %v, chunked %v, close %v", c.path, got, err, chunked, resp.Close)
		}
	}
	if sent := server.Sent("close"); len(sent) != 2 || sent[1] < 20*time.Millisecond {
		t.Errorf("sent %v", sent)
	}
}

// TestScript holds the moments of a scripted answer on the bubble's clock.
func TestScript(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		at := map[string]time.Duration{}
		mark := func(name string) { at[name] = time.Since(begin) }
		ctx, cancel := context.WithCancel(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn:              func(i httptrace.GotConnInfo) { mark("conn") },
			WroteRequest:         func(httptrace.WroteRequestInfo) { mark("wrote") },
			GotFirstResponseByte: func() { mark("byte") },
		}))
		defer cancel()
		script := &probetest.Script{Connect: 5 * ms, Send: 2 * ms, Wait: 3 * ms, Status: 201,
			Steps: []probetest.Step{{After: 10 * ms, Data: "abc"}, {After: 20 * ms, Data: "d"}}, End: probetest.Hang}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h/p", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := script.RoundTrip(req)
		if err != nil || resp.StatusCode != 201 {
			t.Fatal(err)
		}
		buf := make([]byte, 2)
		for _, want := range []string{"ab", "c", "d"} {
			n, err := resp.Body.Read(buf)
			if err != nil || string(buf[:n]) != want {
				t.Errorf("read %q, %v; want %q", buf[:n], err, want)
			}
			mark(want)
		}
		time.AfterFunc(100*ms, cancel)
		if _, err := resp.Body.Read(buf); !errors.Is(err, context.Canceled) {
			t.Errorf("after the cancel: %v", err)
		}
		mark("end")
		for name, want := range map[string]time.Duration{"conn": 5, "wrote": 7, "byte": 10, "ab": 20, "c": 20, "d": 40, "end": 140} {
			if at[name] != want*ms {
				t.Errorf("%s at %s, want %s", name, at[name], want*ms)
			}
		}
		if r := script.Requests(); len(r) != 1 || r[0].URL != "http://h/p" || string(r[0].Body) != "body" {
			t.Errorf("requests %+v", r)
		}
	})
}
