package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"tokprobe/exporter/report"
	"tokprobe/probe/capacity"
)

// readBaseline reads the report to compare with and the gates, before anything
// is sent: a sweep that cannot be compared in the end would be for nothing.
func (j *sweepJob) readBaseline() error {
	f := j.flags
	for _, text := range f.failOn {
		gate, err := capacity.ParseGate(text)
		if err != nil {
			return usagef("--fail-on: %v", err)
		}
		j.gates = append(j.gates, gate)
	}
	if f.baseline == "" {
		if len(j.gates) > 0 {
			return usagef("--fail-on needs --baseline REPORT: a report that --save wrote")
		}
		return nil
	}
	r, err := readReport(f.baseline)
	if err != nil {
		return usagef("--baseline: %v", err)
	}
	j.baseline = &r
	if r.Mode != j.plan.Mode {
		return usagef("--baseline: %s is a ladder of %s, this one of %s: TTFT depends on how load is applied, so the two cannot be compared", f.baseline, r.Mode, j.plan.Mode)
	}
	if j.plan.Auto != nil {
		return usagef("--baseline: only equal ladders can be compared, and what --auto will try is not known before; give %s as a ladder", f.baseline)
	}
	var theirs []float64
	for _, l := range r.Levels {
		theirs = append(theirs, l.Load)
	}
	if mine := slices.Sorted(slices.Values(j.plan.Ladder)); !slices.Equal(theirs, mine) {
		return usagef("--baseline: %s has the levels %s, this ladder %s: only the same levels can be compared", f.baseline, loads(theirs), loads(mine))
	}
	if err := capacity.ComparableConditions(r.Conditions, j.plan.Described()); err != nil {
		return usagef("--baseline: %s: %v", f.baseline, err)
	}
	return j.checkGates(theirs)
}

// checkGates refuses gates that nothing could break: on a level that is not in
// the ladder, or on attainment without an SLO on both sides.
func (j *sweepJob) checkGates(levels []float64) error {
	for _, g := range j.gates {
		if at, ok := g.AtLoad.Get(); ok && !slices.Contains(levels, at) {
			return usagef("--fail-on: %q: the ladder has no level %g; it has %s", g.Text, at, loads(levels))
		}
		if g.Metric == "attainment" && (j.plan.SLO == nil || j.baseline.Conditions.SLO == "") {
			return usagef("--fail-on: %q: attainment needs an SLO here (--slo NAME) and in the baseline", g.Text)
		}
	}
	return nil
}

func readReport(path string) (capacity.Report, error) {
	file, err := os.Open(path)
	if err != nil {
		return capacity.Report{}, err
	}
	defer file.Close()
	r, err := capacity.ReadReport(file)
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// compare prints what moved. JSON, CSV and HTML on standard output stay one
// document, so the comparison goes to the other stream there.
func (j *sweepJob) compare(c console, r capacity.Report) int {
	if j.baseline == nil {
		return exitOK
	}
	cmp, err := capacity.Compare(*j.baseline, r, j.gates)
	if err != nil {
		return fail(c, fmt.Errorf("--baseline: %w", err))
	}
	out, format := c.err, "text"
	if j.flags.format == "text" || j.flags.format == "markdown" {
		out, format = c.out, j.flags.format
		fmt.Fprintln(out)
	}
	if err := report.WriteComparison(out, format, cmp); err != nil {
		return fail(c, err)
	}
	if cmp.Failed() {
		return exitFail
	}
	return exitOK
}

// pageReader fetches a page of metrics. Redirects are not followed.
func pageReader(url string) func(context.Context) ([]byte, error) {
	client := &http.Client{Timeout: pageTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context) ([]byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("status %d", resp.StatusCode)
		}
		return io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	}
}
