// Package deploy generates Prometheus rules from a roster and the catalogue of
// metrics, and holds what is committed beside them: the runbook, the
// Alertmanager and Prometheus examples and the rule tests.
package deploy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tokprobe/exporter/catalog"
)

// Options say for which Prometheus the rules are made. The zero value is for
// one that scrapes tokprobe under job "tokprobe".
type Options struct {
	// Job is the scrape job of tokprobe; empty is "tokprobe".
	Job string
	// GrafanaURL is where the dashboards are; empty is http://localhost:3000.
	GrafanaURL string
	// RunbookURL is the page whose anchors the alerts link to; empty is the
	// path of the runbook in this repository.
	RunbookURL string
	// Quorum is how many locations must agree before a target pages. 0 and 1:
	// each location pages for itself. It needs rules that see the external
	// label location of all of them (Thanos, Mimir, one global Prometheus).
	Quorum int
	// Scale multiplies every window and wait; 0 is 1. A test that lets probes
	// run each second for a minute where production takes one every 30 s for
	// half an hour has 1/30.
	Scale float64
	// EvalInterval is how often groups are evaluated; 0 is 30 s times Scale.
	EvalInterval time.Duration
	Regression   Regression
}

// Regression sets when a latency counts as worse than its past. Zero fields
// are the defaults.
type Regression struct {
	// Ratio is how many times its past a P95 must be; 0 is 1.5.
	Ratio float64
	// Median is how many times its past the P50 must be; 0 is 1.15.
	Median float64
	// Past are the ages of the past it is compared with; unset is one day and
	// one week. Before scaling.
	Past [2]time.Duration
	// Over is how long a piece of past is looked at; 0 is 2 h. Before scaling.
	Over time.Duration
	// For is how long the regression must last; 0 is 15 m. Before scaling.
	For time.Duration
	// Page makes it a page instead of a ticket.
	Page bool
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

func (o Options) withDefaults() Options {
	set := func(s *string, def string) {
		if *s == "" {
			*s = def
		}
	}
	set(&o.Job, "tokprobe")
	set(&o.GrafanaURL, "http://localhost:3000")
	set(&o.RunbookURL, "deploy/RUNBOOK.md")
	o.GrafanaURL = strings.TrimSuffix(o.GrafanaURL, "/")
	o.RunbookURL = strings.TrimSuffix(o.RunbookURL, "#")
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.EvalInterval == 0 {
		o.EvalInterval = max(time.Duration(float64(30*time.Second)*o.Scale), 100*time.Millisecond)
	}
	r := &o.Regression
	if r.Ratio == 0 {
		r.Ratio = 1.5
	}
	if r.Median == 0 {
		r.Median = 1.15
	}
	if r.Past == [2]time.Duration{} {
		r.Past = [2]time.Duration{day, week}
	}
	if r.Over == 0 {
		r.Over = 2 * time.Hour
	}
	if r.For == 0 {
		r.For = 15 * time.Minute
	}
	return o
}

// check refuses what would make rules that cannot work.
func (o Options) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Scale < 0 || o.Scale > 1000 {
		bad("scale %g: write a factor between 0 and 1000", o.Scale)
	}
	if o.Quorum < 0 {
		bad("quorum %d: write how many locations must agree, 0 for none", o.Quorum)
	}
	if o.EvalInterval < time.Millisecond {
		bad("evaluation interval %s: write at least 1ms", o.EvalInterval)
	}
	r := o.Regression
	if r.Ratio <= 1 || r.Median < 1 {
		bad("regression ratio %g and median %g: write a ratio over 1 and a median of at least 1", r.Ratio, r.Median)
	}
	if r.Past[0] <= 0 || r.Past[1] <= 0 || r.Over <= 0 || r.For < 0 {
		bad("regression windows: write durations over 0")
	}
	for name, link := range map[string]string{"Grafana URL": o.GrafanaURL, "runbook URL": o.RunbookURL} {
		if _, err := url.Parse(link); err != nil || !plainText(link) || strings.ContainsAny(link, " \"'{}#") {
			bad("%s %q: write a URL without blanks, quotes, braces and #", name, link)
		}
	}
	if !plainText(o.Job) || o.Job == "" {
		bad("job %q: write the job name of the scrape configuration", o.Job)
	}
	return errors.Join(errs...)
}

// span returns a window as PromQL writes it, scaled and never under 1 ms.
func (o Options) span(d time.Duration) string { return catalog.Range(o.scaled(d)) }

func (o Options) scaled(d time.Duration) time.Duration {
	return max(time.Duration(float64(d)*o.Scale).Round(time.Millisecond), time.Millisecond)
}

// seconds returns a scaled duration as a number of seconds.
func (o Options) seconds(d time.Duration) string {
	return catalog.Number(o.scaled(d).Seconds())
}

// unscaled is the interval that a probe would have with the real windows: with
// short test windows the probes are as much faster.
func (o Options) unscaled(gap time.Duration) time.Duration {
	return time.Duration(float64(gap) / o.Scale)
}

// wholeMinutes rounds a window up: a cron's average interval is no round one.
func wholeMinutes(d time.Duration) time.Duration {
	if r := d % time.Minute; d > time.Minute && r > 0 {
		return d - r + time.Minute
	}
	return d
}
