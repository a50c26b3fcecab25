package probe_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tokprobe/probe"
)

// The load of the benchmark: 400 streams at once, of 64 tokens each, one every
// 20 ms after the first at 200 ms: up to 20,000 token events a second.
const (
	benchStreams = 400
	benchTokens  = 64
	benchFirst   = 200 * ms
	benchPause   = 20 * ms
	benchSpread  = time.Second // the starts are spread over this
	benchRounds  = 3
	benchEnv     = "TOKPROBE_BENCH_SERVER"
)

// BenchmarkStreams compares the CPU time that a token event costs on our path
// with that of a reader that parses nothing, in the same run: the ratio is what
// decoding, stamping and limits add to net/http. The server runs in a child
// process, so that its CPU is not counted.
//
//	go test ./probe -run '^$' -bench Streams -benchtime 1x
func BenchmarkStreams(b *testing.B) {
	address := benchChild(b)
	e, err := probe.NewEndpoint(probe.EndpointConfig{BaseURL: address})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	plain := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	s := spec()
	s.Limits = probe.HandLimits()
	ours := func() error {
		r := e.Probe(b.Context(), s)
		if r.Outcome != probe.OK || r.Chunks != benchTokens {
			return fmt.Errorf("%s with %d tokens: %s", r.Outcome, r.Chunks, r.Err)
		}
		return nil
	}
	bare := func() error { return readAll(plain, address) }
	for b.Loop() {
		var mine, theirs []float64
		for range benchRounds {
			theirs = append(theirs, benchRound(b, bare))
			mine = append(mine, benchRound(b, ours))
		}
		// Other work on the machine only ever adds.
		m, t := slices.Min(mine), slices.Min(theirs)
		b.ReportMetric(m, "cpu-µs/token")
		b.ReportMetric(t, "bare-cpu-µs/token")
		b.ReportMetric(m/t, "ratio")
	}
}

// benchRound runs all streams once and returns the CPU microseconds a token.
func benchRound(b *testing.B, one func() error) float64 {
	begin := cpuTime(b)
	var wg sync.WaitGroup
	for i := range benchStreams {
		wg.Go(func() {
			time.Sleep(benchSpread * time.Duration(i) / benchStreams)
			if err := one(); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	return float64((cpuTime(b) - begin).Nanoseconds()) / 1000 / (benchStreams * benchTokens)
}

func readAll(t *http.Transport, address string) error {
	req, err := http.NewRequest(http.MethodPost, address+"/v1/chat/completions", strings.NewReader("{}"))
	if err != nil {
		return err
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	buf := make([]byte, 4096)
	for {
		if _, err := resp.Body.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchChild starts this test binary as the server and returns its address.
func benchChild(b *testing.B) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchEnv+"=1")
	stdin, err := cmd.StdinPipe() // the child ends when it is closed
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// benchServer serves streams until stdin ends.
func benchServer() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + ln.Addr().String())
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go benchStream(conn)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func benchStream(conn net.Conn) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	const shape = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1767000001,"model":"bench-14b","choices":[{"index":0,"delta":{"content":%q},"logprobs":null,"finish_reason":%s}]}` + "\n\n"
	send := func(s string) { _, _ = io.WriteString(conn, s) }
	send(answer)
	due := time.Now().Add(benchFirst)
	for range benchTokens {
		time.Sleep(time.Until(due))
		due = due.Add(benchPause)
		send(chunk(fmt.Sprintf(shape, " token", "null")))
	}
	send(chunk(fmt.Sprintf(shape, "", `"stop"`)) + chunk(usage(20, benchTokens, 0)) + chunk(done) + "0\r\n\r\n")
}
