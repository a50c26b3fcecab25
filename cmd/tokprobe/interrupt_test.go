package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
)

// asCommand makes the test binary run main instead of the tests.
const asCommand = "TOKPROBE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSweepInterrupted sends real signals to the command in the middle of
// level 1 of 3: Ctrl-C ends that level, a second one the sweep; SIGTERM ends it
// at once. What was measured is printed and saved each time.
func TestSweepInterrupted(t *testing.T) {
	for name, tt := range map[string]struct {
		first  os.Signal
		levels int
	}{"ctrl-c twice": {os.Interrupt, 2}, "sigterm": {syscall.SIGTERM, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := sim.New(sim.Config{Engine: sim.Engine{FixedTTFT: 5 * time.Millisecond, FixedTPOT: 5 * time.Millisecond}})
			answered := make(chan struct{}, 1)
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				server.ServeHTTP(w, r)
				select {
				case answered <- struct{}{}:
				default:
				}
			}))
			defer web.Close()
			defer server.Close()
			dir := t.TempDir()
			// Left alone, level 1 would take 5,000 × 20 ms.
			cmd := exec.Command(os.Args[0], "sweep", "--base-url", web.URL, "--model", "sim-fast", "--max-tokens", "4", "--requests", "5000",
				"--concurrency", "1,3,4", "--cool-down", "0s", "--repeats", "1", "--format", "json", "--save", dir)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			until := func(what string, is func(sim.Stats) bool) {
				t.Helper()
				late := time.After(20 * time.Second)
				for !is(server.Stats()) {
					select {
					case <-answered:
					case <-late:
						cmd.Process.Kill()
						<-ended
						t.Fatalf("%s: never came; %+v, standard error %s", what, server.Stats(), errs.String())
					}
				}
			}
			until("30 requests", func(s sim.Stats) bool { return s.Requests >= 30 })
			if err := cmd.Process.Signal(tt.first); err != nil {
				t.Fatal(err)
			}
			if tt.levels > 1 {
				until("30 more at three streams", func(s sim.Stats) bool { return s.MaxInFlight >= 3 && s.Requests >= 60 })
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				cmd.Process.Kill()
				t.Fatalf("still running: %s", errs.String())
			}
			if code := cmd.ProcessState.ExitCode(); code != exitFail {
				t.Errorf("status %d, want %d", code, exitFail)
			}
			if says := strings.Contains(errs.String(), "this level ends here; once more ends the sweep"); says != (tt.levels > 1) {
				t.Errorf("standard error %q", errs.String())
			}
			printed, err := capacity.ReadReport(&out)
			if err != nil {
				t.Fatal(err)
			}
			if printed.Aborted != "interrupted" || len(printed.Levels) != tt.levels {
				t.Errorf("aborted %q with %d levels, want interrupted with %d", printed.Aborted, len(printed.Levels), tt.levels)
			}
			for _, l := range printed.Levels {
				if l.Completed < 20 || l.Failed != 0 || l.Completed >= 5000 {
					t.Errorf("level %g: %d completed, %d failed, %d cut", l.Load, l.Completed, l.Failed, l.Cut)
				}
			}
			files, err := filepath.Glob(filepath.Join(dir, "sweep-*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("saved %v, %v", files, err)
			}
			saved, err := readReport(files[0])
			if err != nil || len(saved.Levels) != tt.levels || len(saved.Levels[0].Samples) < 20 {
				t.Errorf("saved report: %v, %d levels", err, len(saved.Levels))
			}
		})
	}
}

// TestInterruptedWhileReading: a pipe that nobody writes to keeps no command
// from ending.
func TestInterruptedWhileReading(t *testing.T) {
	for name, args := range map[string][]string{
		"dataset":  {"sweep", "--base-url", "http://127.0.0.1:1", "--model", "m", "--concurrency", "1,2", "--dataset"},
		"baseline": {"sweep", "--base-url", "http://127.0.0.1:1", "--model", "m", "--concurrency", "1,2", "--baseline"},
		"plan":     {"plan", "--peak-rps", "10", "--from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skipf("SKIPPED: no named pipes here: %v", err)
			}
			cmd := exec.Command(os.Args[0], append(args, pipe)...)
			cmd.Env = append(os.Environ(), asCommand+"=1")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			// A pipe opens for writing once somebody has it open for reading.
			reading := make(chan *os.File, 1)
			go func() {
				writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
				if err == nil {
					reading <- writer
				}
			}()
			select {
			case <-ended:
				t.Fatalf("did not wait for the pipe: %s", errs.String())
			case writer := <-reading:
				defer writer.Close()
			case <-time.After(20 * time.Second):
				cmd.Process.Kill()
				t.Fatal("the pipe was never opened")
			}
			cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				cmd.Process.Kill()
				t.Fatal("a signal did not end it")
			}
			if code := cmd.ProcessState.ExitCode(); code != exitFail || !strings.Contains(errs.String(), "interrupted before anything was sent") {
				t.Errorf("status %d, %q", code, errs.String())
			}
		})
	}
}
