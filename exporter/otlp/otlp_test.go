package otlp

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"tokprobe/probe"
	"tokprobe/probe/probetest"
	"tokprobe/probe/roster"
	"tokprobe/probe/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var (
	chat = probe.ID{Target: "t", Model: "m", Probe: "chat"}
	slow = probe.ID{Target: "u", Model: "m2", Probe: "text"}
)

func watched() roster.Roster {
	return roster.Roster{
		Targets: []roster.Target{
			{Name: "t", Provider: "vllm", BaseURL: "http://10.0.0.5:8000/prefix"},
			{Name: "u", Provider: "openai", BaseURL: "https://u.test"},
		},
		Watches: []roster.Watch{
			{ID: chat, Spec: probe.Spec{ID: chat}},
			{ID: slow, Spec: probe.Spec{ID: slow, Protocol: "openai-completions"}},
		},
	}
}

// receiver decodes what it is sent; its answers are scripted.
type receiver struct {
	mu      sync.Mutex
	status  int
	answer  string
	pushes  []map[string]any
	headers []http.Header
	paths   []string
}

func (r *receiver) handle(req *http.Request) (int, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unpacked, err := gzip.NewReader(req.Body)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(unpacked)
	if err != nil {
		return 0, "", err
	}
	var push map[string]any
	if err := json.Unmarshal(body, &push); err != nil {
		return 0, "", err
	}
	r.pushes, r.headers, r.paths = append(r.pushes, push), append(r.headers, req.Header.Clone()), append(r.paths, req.URL.Path)
	return max(r.status, 200*(1-min(r.status, 1))), r.answer, nil
}

// ServeHTTP is the receiver on a real socket.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	status, answer, err := r.handle(req)
	if err != nil {
		status, answer = http.StatusBadRequest, err.Error()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, answer) //nolint:errcheck // the client sees it
}

// RoundTrip is the receiver inside a bubble.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	status, answer, err := r.handle(req)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pushes)
}

// points flattens one push: "metric{attributes}" to count, sum and the filled
// buckets with their upper bound.
func points(t *testing.T, push map[string]any) map[string]string {
	t.Helper()
	out := map[string]string{}
	scopes := push["resourceMetrics"].([]any)[0].(map[string]any)["scopeMetrics"].([]any)
	for _, m := range scopes[0].(map[string]any)["metrics"].([]any) {
		m := m.(map[string]any)
		h := m["histogram"].(map[string]any)
		if h["aggregationTemporality"] != 2.0 {
			t.Errorf("%v: temporality %v, want 2, cumulative", m["name"], h["aggregationTemporality"])
		}
		for _, p := range h["dataPoints"].([]any) {
			p := p.(map[string]any)
			counts, bounds := p["bucketCounts"].([]any), p["explicitBounds"].([]any)
			if len(counts) != len(bounds)+1 {
				t.Errorf("%v: %d buckets for %d bounds", m["name"], len(counts), len(bounds))
			}
			text := fmt.Sprintf("%v of %v:", p["count"], p["sum"])
			for i, n := range counts {
				if n != "0" {
					text += fmt.Sprintf(" %v≤%v", n, bounds[i])
				}
			}
			out[fmt.Sprintf("%v[%v]{%s}", m["name"], m["unit"], attributes(p["attributes"]))] = text
		}
	}
	return out
}

func attributes(list any) string {
	var parts []string
	for _, a := range list.([]any) {
		a := a.(map[string]any)
		for _, v := range a["value"].(map[string]any) {
			parts = append(parts, fmt.Sprintf("%v=%v", a["key"], v))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func recorder(t *testing.T, cfg Config) *Recorder {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Apply(watched())
	return r
}

func tok(s string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}]}`, s) + "\n\n"
}

// scripted measures answers in a bubble and records them there.
func scripted(t *testing.T, r *Recorder, id probe.ID, script *probetest.Script) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, err := probe.NewEndpoint(probe.EndpointConfig{BaseURL: "http://t.test", Transport: script})
		if err != nil {
			t.Fatal(err)
		}
		result := e.Probe(t.Context(), probe.Spec{ID: id,
			Prompt: probe.Prompt{Messages: []wire.Message{{Role: "user", Content: "hi"}}},
			Limits: probe.Limits{Connect: time.Second, FirstToken: 2 * time.Second, Stall: time.Second, Total: 5 * time.Second}})
		r.Record(probe.Tick{ID: id, Result: result}) // of a start: no measurement
		r.Record(probe.Tick{ID: id, Stage: probe.TickDone, Result: result})
	})
}

const (
	attrsChat = "gen_ai.operation.name=chat,gen_ai.provider.name=vllm,gen_ai.request.model=m"
	restChat  = "server.address=10.0.0.5,server.port=8000,tokprobe.probe=chat,tokprobe.target=t"
	attrsText = "gen_ai.operation.name=text_completion,gen_ai.provider.name=openai,gen_ai.request.model=m2"
	restText  = "server.address=u.test,server.port=443,tokprobe.probe=text,tokprobe.target=u"
)

// TestValues: an answer with tokens at 300, 370 and 440 ms that ends at 500 ms,
// and an endpoint that says nothing for its 2 s, as a receiver on a real
// socket decodes them.
func TestValues(t *testing.T) {
	got := &receiver{}
	server := httptest.NewServer(got)
	defer server.Close()
	r := recorder(t, Config{Endpoint: server.URL, Resource: Resource{Version: "1.2.3", Instance: "h:9816", Location: "fra"}})
	scripted(t, r, chat, &probetest.Script{Connect: 50 * ms, Steps: []probetest.Step{
		{After: 300 * ms, Data: tok("a")}, {After: 70 * ms, Data: tok("b")}, {After: 70 * ms, Data: tok("c")},
		{After: 60 * ms, Data: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"model":"served-secretly","usage":{"prompt_tokens":17,"completion_tokens":3}}` + "\n\ndata: [DONE]\n\n"},
	}})
	scripted(t, r, slow, &probetest.Script{Connect: 50 * ms, End: probetest.Hang})
	r.Record(probe.Tick{ID: probe.ID{Target: "gone"}, Stage: probe.TickDone, Result: probe.Result{Outcome: probe.OK, E2E: probe.Some(time.Second)}})
	r.push(t.Context(), 5*time.Second)
	r.client.CloseIdleConnections()

	if got.count() != 1 || got.paths[0] != "/v1/metrics" {
		t.Fatalf("%d pushes to %v, want one to /v1/metrics", got.count(), got.paths)
	}
	want := map[string]string{
		"gen_ai.client.operation.duration[s]{" + attrsChat + "," + restChat + "}":                                "1 of 0.5: 1≤0.64",
		"gen_ai.client.operation.duration[s]{error.type=timeout_first_token," + attrsText + "," + restText + "}": "1 of 2: 1≤2.56",
		"gen_ai.client.operation.time_to_first_chunk[s]{" + attrsChat + "," + restChat + "}":                     "1 of 0.3: 1≤0.32",
		"gen_ai.client.operation.time_per_output_chunk[s]{" + attrsChat + "," + restChat + "}":                   "2 of 0.14: 2≤0.08",
		"gen_ai.client.token.usage[{token}]{" + attrsChat + ",gen_ai.token.type=input," + restChat + "}":         "1 of 17: 1≤64",
		"gen_ai.client.token.usage[{token}]{" + attrsChat + ",gen_ai.token.type=output," + restChat + "}":        "1 of 3: 1≤4",
	}
	if p := points(t, got.pushes[0]); !reflect.DeepEqual(p, want) {
		t.Errorf("got\n%s\nwant\n%s", lines(p), lines(want))
	}
	resource := got.pushes[0]["resourceMetrics"].([]any)[0].(map[string]any)["resource"].(map[string]any)["attributes"]
	if a := attributes(resource); a != "service.instance.id=h:9816,service.name=tokprobe,service.version=1.2.3,tokprobe.location=fra" {
		t.Errorf("resource %s", a)
	}
}

func lines(m map[string]string) string {
	var list []string
	for k, v := range m {
		list = append(list, k+" "+v)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// TestExclusions: what is kept out of latencies still bills its tokens, and a
// count of token events is no count of tokens.
func TestExclusions(t *testing.T) {
	result := probe.Result{Outcome: probe.OK, E2E: probe.Some(time.Second), TTFT: probe.Some(ms), Gaps: []time.Duration{ms},
		PromptTokens: probe.Some(int64(8)), OutputTokens: probe.Some(int64(2)), OutputTokensSource: "chunks"}
	lag := result
	lag.LagSuspect = true
	cut := result
	cut.Cut = true
	for name, tick := range map[string]probe.Tick{
		"lag suspect": {Result: lag}, "bystander": {Result: result, Bystander: true},
		"maintenance": {Result: result, Maintenance: true}, "cut": {Result: cut},
	} {
		got := &receiver{}
		r := recorder(t, Config{Endpoint: "http://r.test", Transport: got})
		tick.ID, tick.Stage = chat, probe.TickDone
		r.Record(tick)
		r.push(t.Context(), time.Second)
		if name == "cut" {
			if got.count() != 0 {
				t.Errorf("cut: pushed")
			}
			continue
		}
		want := map[string]string{"gen_ai.client.token.usage[{token}]{" + attrsChat + ",gen_ai.token.type=input," + restChat + "}": "1 of 8: 1≤16"}
		if p := points(t, got.pushes[0]); !reflect.DeepEqual(p, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, lines(p), lines(want))
		}
	}
}

// okTick is a finished probe with nothing but an E2E.
func okTick(id probe.ID) probe.Tick {
	return probe.Tick{ID: id, Stage: probe.TickDone, Result: probe.Result{Outcome: probe.OK, E2E: probe.Some(time.Second)}}
}

// TestFailureRecoveryAndFlush runs on the clock of a bubble: pushes at 60, 120,
// 180 and 240 s, of which two fail, then one more at the end; changes are told
// once each and what failed is made up for.
func TestFailureRecoveryAndFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := &receiver{status: http.StatusServiceUnavailable}
		var told []string
		start := time.Now()
		r := recorder(t, Config{Endpoint: "http://r.test", Transport: got, Pushed: func(err error, changed bool) {
			told = append(told, fmt.Sprintf("%v %v %v", time.Since(start), err, changed))
		}})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		time.Sleep(59 * time.Second)
		r.Record(okTick(chat))
		time.Sleep(62 * time.Second) // 121 s
		got.mu.Lock()
		got.status = 0
		got.mu.Unlock()
		r.Record(okTick(chat))
		time.Sleep(120 * time.Second) // 241 s
		r.Record(okTick(chat))
		stop()
		running.Wait()
		want := []string{"1m0s the receiver answers 503 true", "2m0s the receiver answers 503 false",
			"3m0s <nil> true", "4m0s <nil> false", "4m1s <nil> false"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		key := "gen_ai.client.operation.duration[s]{" + attrsChat + "," + restChat + "}"
		for i, n := range []int{1, 1, 2, 2, 3} {
			if p := points(t, got.pushes[i])[key]; p != fmt.Sprintf("%d of %[1]d: %[1]d≤1.28", n) {
				t.Errorf("push %d: %s, want %d of %[3]d", i, p, n)
			}
		}
	})
}

// deaf never answers.
type deaf struct{}

func (deaf) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// TestBounded: a receiver that hangs costs 10 s a push, never the next one's
// place, and 3 s at the end; Record goes on meanwhile.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		start := time.Now()
		r := recorder(t, Config{Endpoint: "http://r.test", Transport: deaf{}, Pushed: func(err error, _ bool) {
			told = append(told, fmt.Sprintf("%v %v", time.Since(start), err))
		}})
		r.Record(okTick(chat))
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		time.Sleep(65 * time.Second)
		r.Record(okTick(chat))
		if at := time.Since(start); at != 65*time.Second {
			t.Errorf("Record waited until %v", at)
		}
		time.Sleep(57 * time.Second) // 122 s: the second push is under way
		stop()
		running.Wait()
		if want := []string{"1m10s no answer within 10s", "2m5s no answer within 3s"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// TestReload: an unchanged probe keeps its sums over Apply, a changed target
// starts anew, a removed probe is pushed no more.
func TestReload(t *testing.T) {
	got := &receiver{}
	r := recorder(t, Config{Endpoint: "http://r.test", Transport: got})
	r.Record(okTick(chat))
	r.Record(okTick(slow))
	next := watched()
	next.Targets[1].BaseURL = "https://other.test"
	r.Apply(next)
	r.Record(okTick(chat))
	r.Record(okTick(slow))
	r.push(t.Context(), time.Second)
	next.Watches = next.Watches[1:]
	r.Apply(next)
	r.push(t.Context(), time.Second)
	other := "gen_ai.client.operation.duration[s]{" + attrsText + "," + strings.Replace(restText, "u.test", "other.test", 1) + "}"
	want := []map[string]string{
		{"gen_ai.client.operation.duration[s]{" + attrsChat + "," + restChat + "}": "2 of 2: 2≤1.28", other: "1 of 1: 1≤1.28"},
		{other: "1 of 1: 1≤1.28"},
	}
	for i := range want {
		if p := points(t, got.pushes[i]); !reflect.DeepEqual(p, want[i]) {
			t.Errorf("push %d: got\n%s\nwant\n%s", i, lines(p), lines(want[i]))
		}
	}
}

// TestBatches: 450 probes go in three requests and none is left out.
func TestBatches(t *testing.T) {
	got := &receiver{}
	r := recorder(t, Config{Endpoint: "http://r.test", Transport: got})
	ros := roster.Roster{Targets: watched().Targets}
	for i := range 450 {
		ros.Watches = append(ros.Watches, roster.Watch{ID: probe.ID{Target: "t", Model: "m", Probe: fmt.Sprint(i)}})
	}
	r.Apply(ros)
	for _, w := range ros.Watches {
		r.Record(okTick(w.ID))
	}
	r.push(t.Context(), time.Second)
	var sizes []int
	for _, p := range got.pushes {
		sizes = append(sizes, len(points(t, p)))
	}
	if want := []int{200, 200, 50}; !slices.Equal(sizes, want) {
		t.Errorf("requests of %v probes, want %v", sizes, want)
	}
}

// TestAnswers: what each answer of a receiver is taken for.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		status       int
		answer, want string
	}{
		{200, `{}`, ""}, {202, ``, ""}, {200, `{"partialSuccess":{}}`, ""}, {200, `{"partialSuccess":{"rejectedDataPoints":"0"}}`, ""},
		{200, `{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}`, "the receiver rejected part of the data points"},
		{200, `{"partialSuccess":{"rejectedDataPoints":3}}`, "the receiver rejected part of the data points"},
		{401, `bad key k-123`, "the receiver answers 401: check the key in --otlp.headers-file"},
		{404, ``, "the receiver answers 404: no OTLP metrics are taken at the path of --otlp.endpoint"},
		{415, ``, "the receiver answers 415: it has to take OTLP/HTTP in its JSON form with gzip"},
		{302, ``, "the receiver answers 302: redirects are not followed, write the final URL in --otlp.endpoint"},
		{500, `<b>`, "the receiver answers 500"},
	} {
		got := ""
		r := recorder(t, Config{Endpoint: "http://r.test", Transport: &receiver{status: tt.status, answer: tt.answer}, Pushed: func(err error, _ bool) {
			if err != nil {
				got = err.Error()
			}
		}})
		r.Record(okTick(chat))
		r.push(t.Context(), time.Second)
		if got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.status, tt.answer, got, tt.want)
		}
	}
}

// TestHeaders: the file is read for every push, so a new key works at the
// next; a bad file names its line and none of its text.
func TestHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# ours\r\nAuthorization: Bearer k-one:1\r\n\nx-tenant:  a b \n")
	got := &receiver{}
	var last error
	r := recorder(t, Config{Endpoint: "http://r.test", HeadersFile: file, Transport: got, Pushed: func(err error, _ bool) { last = err }})
	r.Record(okTick(chat))
	r.push(t.Context(), time.Second)
	write("Authorization: Bearer k-two\n")
	r.push(t.Context(), time.Second)
	if a, b := got.headers[0], got.headers[1]; a.Get("Authorization") != "Bearer k-one:1" || a.Get("X-Tenant") != "a b" || b.Get("Authorization") != "Bearer k-two" || b.Get("X-Tenant") != "" {
		t.Errorf("headers %v, then %v", a, b)
	}
	for text, want := range map[string]string{
		"A: b\nk-secret\n":            "--otlp.headers-file: line 2 is no header; write it as Name: value",
		"k secret: v":                 "--otlp.headers-file: line 1 is no header; write it as Name: value",
		"A: k\x01secret":              "--otlp.headers-file: line 1 is no header; write it as Name: value",
		"Authorization:":              "--otlp.headers-file: line 1 has no value; remove the line or fill it",
		"content-type: text/k-secret": "--otlp.headers-file: line 1 sets a header that belongs to the push itself; remove the line",
		strings.Repeat("x", 64<<10+1): "--otlp.headers-file: " + file + " has more than 65536 bytes",
	} {
		write(text)
		r.push(t.Context(), time.Second)
		if last == nil || last.Error() != want {
			t.Errorf("%.30q: %v, want %s", text, last, want)
		}
	}
	if len(got.pushes) != 2 {
		t.Errorf("%d pushes, want the 2 with a good file", len(got.pushes))
	}
	os.Remove(file)
	if _, err := New(Config{Endpoint: "http://r.test", HeadersFile: file}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestEndpoint(t *testing.T) {
	for give, want := range map[string]string{
		"http://c:4318": "http://c:4318/v1/metrics", "http://c:4318/": "http://c:4318/v1/metrics",
		"https://p/api/v1/otlp": "https://p/api/v1/otlp/v1/metrics", "https://p/x/v1/metrics/": "https://p/x/v1/metrics",
		"c:4318": "!is not a URL", "": "!is not a URL", "grpc://c:4317": "!is not a URL", "http://u:k-secret@c": "!holds user info", "http://c?api_key=k-secret": "!holds a query",
		"http://k-secret\x7f": "!is not a URL",
	} {
		u, err := target(give)
		got := ""
		if err == nil {
			got = u.String()
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows it: %v", give, err)
		}
		if reason, bad := strings.CutPrefix(want, "!"); bad && (err == nil || !strings.Contains(err.Error(), reason)) || !bad && got != want {
			t.Errorf("%q: %q, %v, want %s", give, got, err, want)
		}
	}
}

// TestNil: without an endpoint there is no recorder, and it is called all the same.
func TestNil(t *testing.T) {
	var r *Recorder
	r.Apply(watched())
	r.Record(okTick(chat))
	r.Run(t.Context()) // returns at once, else the test would time out
}
