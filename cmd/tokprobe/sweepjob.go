package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tokprobe/exporter/report"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sweep"
)

// sweepJob is a sweep whose flags are all in order.
type sweepJob struct {
	flags    *sweepFlags
	choice   choice
	plan     sweep.Plan
	gates    []capacity.Gate
	baseline *capacity.Report
}

func (j *sweepJob) run(ctx context.Context, c console) int {
	sentinel := probe.NewSentinel()
	j.choice.endpoint.Lag = sentinel
	endpoint, err := probe.NewEndpoint(j.choice.endpoint)
	if err != nil {
		return fail(c, err)
	}
	defer endpoint.Close()
	if j.choice.note != "" {
		fmt.Fprintf(c.err, "note: %s\n", j.choice.note)
	}
	ctx, endLevel, stop := interrupts(ctx, c)
	defer stop()
	watching, stopWatching := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { sentinel.Run(watching) })
	env := sweep.Env{Endpoint: endpoint, EndLevel: endLevel, Lock: &sweep.HostLock{}}
	line := newProgressLine(c.err)
	if line != nil {
		env.Progress = line.show
	} else {
		env.Progress = longPauses(c.err)
	}
	if url := j.metricsURL(); url != "" {
		env.ServerMetrics = pageReader(url)
	}
	fmt.Fprintln(c.err, j.forecast())
	result, err := sweep.Run(ctx, j.plan, env)
	line.clear()
	stopWatching()
	wg.Wait()
	if err != nil {
		return fail(c, err)
	}
	return j.finish(c, result)
}

// forecast says what the sweep may cost while Ctrl-C still costs nothing. Money
// only where the target has a price.
func (j *sweepJob) forecast() string {
	load := j.plan.Forecast()
	line := fmt.Sprintf("forecast: up to %.0f requests, %.0f tokens", load.Requests, load.Tokens())
	if p := j.choice.target.Price; p != nil {
		line += fmt.Sprintf(", %.2f %s", (load.InputTokens*p.Input+load.OutputTokens*p.Output)/1e6, p.Currency)
	}
	if j.plan.Repeats > 1 {
		line += ", and repeats of the levels around the knee"
	}
	return line
}

// longPauses says why nothing will happen for a while, where no progress line
// does: after a refusal a sweep may wait a minute to a quarter of an hour.
func longPauses(w io.Writer) func(sweep.Progress) {
	return func(p sweep.Progress) {
		if p.Stage == sweep.Cooling && p.Left >= time.Minute {
			fmt.Fprintf(w, "note: waiting %s before the level of %g (--cool-down, or what a 429 asked for)\n", p.Left.Round(time.Second), p.Load)
		}
	}
}

func (j *sweepJob) metricsURL() string {
	if j.flags.serverMetrics != "" {
		return j.flags.serverMetrics
	}
	return j.choice.target.ServerMetrics.URL
}

// interrupts lets the first Ctrl-C end the level and a second one, or SIGTERM,
// the sweep. What was measured is printed and saved either way, so the
// returned context is not the one that a first signal has ended already.
func interrupts(ctx context.Context, c console) (context.Context, <-chan struct{}, func()) {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	endLevel := make(chan struct{}, 1)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		ended, given := ctx.Done(), 0
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				if given++; given > 1 || s != os.Interrupt {
					cancel()
					continue
				}
				fmt.Fprintln(c.err, "\ntokprobe: this level ends here; once more ends the sweep")
				endLevel <- struct{}{}
			case <-ended:
				ended = nil
				// A signal is on its way through the other channel, too.
				if !isSignal(context.Cause(ctx)) {
					cancel()
				}
			}
		}
	})
	return run, endLevel, func() {
		signal.Stop(signals)
		close(done)
		wg.Wait()
		cancel()
	}
}

// isSignal tells the cause that signal.NotifyContext gives from plain
// cancellations and deadlines, which are these very values.
func isSignal(cause error) bool {
	return cause != context.Canceled && cause != context.DeadlineExceeded //nolint:errorlint
}

// finish prints, saves and compares.
func (j *sweepJob) finish(c console, result sweep.Result) int {
	code := exitOK
	r := result.Report
	if err := report.Write(c.out, j.flags.format, r.WithoutSamples()); err != nil {
		code = fail(c, err)
	}
	fmt.Fprintf(c.err, "used %d requests, %d input and %d output tokens\n", result.Cost.Requests, result.Cost.InputTokens, result.Cost.OutputTokens)
	if j.flags.save != "" {
		path, err := saveReport(j.flags.save, r)
		if err != nil {
			code = fail(c, fmt.Errorf("--save: %w", err))
		} else {
			fmt.Fprintf(c.err, "saved %s\n", path)
		}
	}
	if r.Aborted != "" {
		fmt.Fprintf(c.err, "tokprobe: the sweep was ended early: %s\n", r.Aborted)
		code = exitFail
	}
	if !slices.ContainsFunc(r.Levels, func(l capacity.Level) bool { return l.Completed > 0 }) {
		fmt.Fprintf(c.err, "tokprobe: no request succeeded%s\n", firstError(r))
		code = exitFail
	}
	return max(code, j.compare(c, r))
}

// firstError is what the first failed request said.
func firstError(r capacity.Report) string {
	for _, l := range r.Levels {
		for _, x := range l.Samples {
			if !x.OK() && !x.Cut {
				return fmt.Sprintf(": %s: %s", x.Outcome, x.Err)
			}
		}
	}
	return ""
}

// saveReport writes a report under a name of its own: first beside it, then
// in its place, so that nobody ever reads half of one.
func saveReport(dir string, r capacity.Report) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, ".sweep-*.tmp")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) // gone already if all went well
	err = errors.Join(r.Write(file), file.Chmod(0o644), file.Sync(), file.Close())
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("sweep-%s-%s-%s.json", fileName(r.Conditions.Target), fileName(r.Conditions.Model), r.Conditions.Started.UTC().Format("20060102T150405.000Z"))
	path := filepath.Join(dir, name)
	return path, os.Rename(file.Name(), path)
}

// fileName keeps what is harmless in a name of a file.
func fileName(s string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, s)
	return name[:min(len(name), 80)]
}

// checkFolder finds out before the sweep that its report could not be saved.
func checkFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usagef("--save: %v", err)
	}
	probe, err := os.CreateTemp(dir, ".sweep-*.tmp")
	if err != nil {
		return usagef("--save: %v", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

const pageTime = 2 * time.Second // for one page of the server's metrics
