package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tokprobe/probe"
)

// childEnv names the endpoint that the child process probes.
const childEnv = "TOKPROBE_TEST_DESCRIPTORS"

// descriptorRun is what the child saw: without a descriptor left, and after.
type descriptorRun struct {
	Probe, Named, Key, After            string // outcomes
	ProbeKind, NamedKind, KeyKind, Hint string
	Text                                string
	Took                                time.Duration
}

// TestDescriptorsExhausted: a machine without file descriptors says so of
// itself, not that the service is down, and recovers.
func TestDescriptorsExhausted(t *testing.T) {
	if address := os.Getenv(childEnv); address != "" {
		descriptorChild(t, address)
		return
	}
	address := listener(t, func(c *net.TCPConn, request func() error) {
		for request() == nil {
			healthy(c)
		}
	})
	cmd := exec.Command(os.Args[0], "-test.run=^TestDescriptorsExhausted$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), childEnv+"="+address)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, line, _ := strings.Cut(string(out), "RUN ")
	var got descriptorRun
	if err := json.NewDecoder(strings.NewReader(line)).Decode(&got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := descriptorRun{
		Probe: "internal", ProbeKind: "ours", Named: "internal", NamedKind: "ours", Key: "internal", KeyKind: "ours",
		After: "ok", Text: got.Text, Hint: got.Hint, Took: got.Took,
	}
	if got != want || !strings.Contains(got.Text, "too many open files") || got.Hint == "" || got.Took > slowest {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	t.Logf("| descriptors exhausted | %s (%s) | %.2f | |", got.Probe, got.Text, got.Took.Seconds())
}

func descriptorChild(t *testing.T, address string) {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	dir := t.TempDir()
	keyFile := filepath.Join(dir, "key")
	if err := os.WriteFile(keyFile, []byte("sk-child-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := endpoint(t, probe.EndpointConfig{BaseURL: address})
	named := endpoint(t, probe.EndpointConfig{BaseURL: "http://llm.example:" + port, DialContext: (&net.Dialer{Resolver: &net.Resolver{PreferGo: true}}).DialContext})
	keyed := endpoint(t, probe.EndpointConfig{BaseURL: address, Key: func(context.Context) (string, error) {
		b, err := os.ReadFile(keyFile)
		return string(b), err
	}})
	if r := plain.Probe(t.Context(), spec()); r.Outcome != probe.OK {
		t.Fatalf("%s (%s)", r.Outcome, r.Err)
	}
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var hoard []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil || len(hoard) > 100 {
			t.Fatalf("%d files, %v", len(hoard), err)
		}
		hoard = append(hoard, f)
	}
	var got descriptorRun
	begin := time.Now()
	r := plain.Probe(t.Context(), spec())
	got.Took = time.Since(begin)
	got.Probe, got.ProbeKind, got.Text, got.Hint = string(r.Outcome), string(r.Kind()), r.Err, r.Hint
	r = named.Probe(t.Context(), spec())
	got.Named, got.NamedKind = string(r.Outcome)+strings.Repeat(" "+r.Err, btoi(r.Outcome != probe.Internal)), string(r.Kind())
	r = keyed.Probe(t.Context(), spec())
	got.Key, got.KeyKind = string(r.Outcome), string(r.Kind())
	for _, f := range hoard {
		f.Close()
	}
	r = plain.Probe(t.Context(), spec())
	got.After = string(r.Outcome)
	os.Stdout.WriteString("RUN ")
	_ = json.NewEncoder(os.Stdout).Encode(got)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
