package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tokprobe/probe/capacity"
)

// condition is one row of what another person needs to repeat a sweep.
type condition struct{ name, value string }

// conditions lists everything that is known, in the order of the questions:
// what was asked, with what, how, from where, when.
func conditions(r capacity.Report) []condition {
	c := r.Conditions
	var out []condition
	text := func(name, value string) {
		if value = clean(value); value != "" {
			out = append(out, condition{name, value})
		}
	}
	text("sweep", c.Sweep)
	text("target", c.Target)
	text("endpoint", c.Endpoint)
	text("protocol", c.Protocol)
	text("model", c.Model)
	text("served model", c.ServedModel)
	text("server", c.ServerInfo)
	text("scenario", c.Scenario)
	text("prompt", c.Prompt)
	text("prompt hash", c.PromptHash)
	text("language", c.Language)
	text("prompt cache", c.Cache)
	text("input tokens asked for", count(c.InputTokens))
	if v, ok := c.PromptTokensP50.Get(); ok {
		text("prompt tokens P50", load(v))
	}
	text("max tokens", count(c.MaxTokens))
	if c.ForceLength {
		text("output length", "forced")
	}
	text("request parameters", strings.Join(c.Params, ", "))
	text("mode", string(r.Mode))
	text("ladder", ladder(c.Ladder))
	text("search", c.Search)
	text("arrivals", c.Arrival)
	if c.Burstiness != 0 {
		text("burstiness", load(c.Burstiness))
	}
	text("seed", strconv.FormatUint(c.Seed, 10))
	text("requests a level", count(c.Requests))
	text("level duration", secondsWords(c.LevelS))
	if v, ok := c.CoolDownS.Get(); ok { // none is a setting, too
		text("cool-down", load(v)+" s")
	}
	text("runs around the knee", count(c.Repeats))
	text("limits of a request", c.Limits)
	text("level deadline", secondsWords(c.LevelDeadlineS))
	text("longest duration", secondsWords(c.MaxDurationS))
	text("ends early at", c.Abort)
	text("thresholds", strings.Join(c.Thresholds, ", "))
	text("SLO", c.SLO)
	text("promises", promises(r))
	text("host", c.Host)
	text("location", c.Location)
	text("tokprobe", c.Version)
	text("Go", c.GoVersion)
	text("started", stamp(c.Started))
	text("finished", stamp(c.Finished))
	return out
}

// promises lists the objectives that the levels were held against.
func promises(r capacity.Report) string {
	for _, l := range r.Levels {
		var parts []string
		for _, o := range l.Objectives {
			parts = append(parts, promise(o))
		}
		if len(parts) > 0 {
			return strings.Join(parts, ", ")
		}
	}
	return ""
}

// promise prints "ttft ≤ 1500 ms for 95%".
func promise(o capacity.Objective) string {
	ratio := strconv.FormatFloat(100*o.Ratio, 'g', 6, 64) + "%"
	if v, ok := o.BelowMS.Get(); ok {
		return fmt.Sprintf("%s ≤ %s ms for %s", o.SLI, load(v), ratio)
	}
	return fmt.Sprintf("%s %s", o.SLI, ratio)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func secondsWords(s float64) string {
	if s == 0 {
		return ""
	}
	return load(s) + " s"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func ladder(loads []float64) string {
	texts := make([]string, len(loads))
	for i, x := range loads {
		texts[i] = load(x)
	}
	return strings.Join(texts, ", ")
}

// title names a report in one line.
func title(r capacity.Report) string {
	c := r.Conditions
	const most = 40 // of a name, so that the title stays a line
	subject := strings.Join(nonEmpty(short(c.Target, most), short(c.Model, most)), " / ")
	if subject == "" {
		subject = "unnamed endpoint"
	}
	if c.Scenario != "" {
		subject += ", scenario " + short(c.Scenario, 20)
	}
	return "Sweep of " + subject
}

// subtitle says which kind of ladder it was, when, and for how long.
func subtitle(r capacity.Report) string {
	kind := "ladder"
	switch r.Mode {
	case capacity.Concurrency:
		kind = "concurrency ladder (load in streams in flight)"
	case capacity.Rate:
		kind = "rate ladder (load in requests/s)"
	}
	parts := []string{fmt.Sprintf("%s, %d levels", kind, len(r.Levels))}
	if len(r.Levels) == 1 {
		parts = []string{kind + ", 1 level"}
	}
	parts = append(parts, nonEmpty(stamp(r.Conditions.Started))...)
	if s, f := r.Conditions.Started, r.Conditions.Finished; !s.IsZero() && f.After(s) {
		parts = append(parts, "took "+took(f.Sub(s)))
	}
	return strings.Join(parts, ", ")
}

func nonEmpty(texts ...string) []string {
	var out []string
	for _, s := range texts {
		if s = clean(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
