package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// line is a labelled sentence of the judgement.
type line struct {
	label string
	text  string // clean, not yet escaped
	bad   bool   // a reader must not miss it
}

// judgement says in sentences what a report found: knee, advice, walls, the
// second opinion, and what limits their worth.
func judgement(r capacity.Report) []line {
	var out []line
	add := func(label, format string, args ...any) {
		out = append(out, line{label: label, text: clean(fmt.Sprintf(format, args...))})
	}
	if r.Aborted != "" {
		out = append(out, line{"aborted", clean(r.Aborted), true})
	}
	add("knee", "%s", kneeSentence(r))
	add("recommended", "%s", recommendedSentence(r))
	if v, ok := r.MostLoadUnderSLO.Get(); ok {
		add("SLO", "%s is the most load at which every promise%s held", loadWords(v, r.Mode), ofSLO(r))
	}
	if v, ok := r.PeakOutputThroughput.Get(); ok {
		add("peak", "%s output tok/s, steady", number(v))
	}
	for _, w := range r.Limits {
		from := ""
		if v, ok := w.FromLoad.Get(); ok {
			from = ", from " + load(v)
		}
		add("wall", "%s%s: %s", w.Limit, from, w.Evidence)
	}
	for _, l := range byLoad(r) {
		if l.Repeats > 1 {
			add("repeats", "%d runs at %s, %s", l.Repeats, load(l.Load), spreadWords(l))
		}
	}
	if r.KneeRuns != nil {
		add("knee again", "%s", r.KneeRuns)
	}
	if r.USL != nil {
		add("USL", "%s", uslSentence(*r.USL))
	}
	for _, text := range r.Warnings {
		out = append(out, line{"warning", clean(text), true})
	}
	return append(out, notes(r)...)
}

func kneeSentence(r capacity.Report) string {
	if v, ok := r.Knee.Load.Get(); ok && r.Knee.Reached {
		return loadWords(v, r.Mode) + ", the last level that still paid"
	}
	if v, ok := r.Knee.AtLeast.Get(); ok {
		return "not reached: at least " + loadWords(v, r.Mode)
	}
	if len(r.Levels) == 0 {
		return "unknown: no level was measured"
	}
	return "unknown: no level could be judged"
}

func recommendedSentence(r capacity.Report) string {
	if r.Recommended == nil {
		return absent
	}
	rec := *r.Recommended
	by := fmt.Sprintf("%s × knee", load(rec.Factor))
	if rec.By == "slo" {
		by = "bounded by the SLO" + ofSLO(r)
	}
	return loadWords(rec.Load, r.Mode) + " (" + by + ")"
}

func ofSLO(r capacity.Report) string {
	if r.Conditions.SLO == "" {
		return ""
	}
	return " of " + r.Conditions.SLO
}

func spreadWords(l capacity.Level) string {
	if v, ok := l.Spread.Get(); ok {
		return "steady throughput spread " + percent(v) + " (largest − smallest, of the median)"
	}
	return "spread unknown"
}

// uslSentence prints the fitted law with standard errors where they are known.
func uslSentence(u capacity.USL) string {
	with := func(v float64, e probe.Opt[float64]) string {
		if !e.OK {
			return number(v)
		}
		return number(v) + " ± " + number(e.V)
	}
	s := fmt.Sprintf("second opinion, fitted to %d levels: λ %s tok/s, σ %s, κ %s, R² %.3f", u.Levels,
		with(u.Lambda, u.LambdaErr), with(u.Sigma, u.SigmaErr), with(u.Kappa, u.KappaErr), u.R2)
	peak, ok := u.Peak.Get()
	if !ok {
		return s + "; the curve has no peak"
	}
	s += "; peak at " + number(peak) + " streams"
	if v, ok := u.PeakThroughput.Get(); ok {
		s += " with " + number(v) + " tok/s"
	}
	return s
}

// notes are what was odd at single levels: failures by class, promises missed,
// refusals, what the server said of itself, and the warnings of the level.
func notes(r capacity.Report) []line {
	var out []line
	for _, l := range byLoad(r) {
		var parts []string
		if l.Failed > 0 {
			parts = append(parts, "failures: "+outcomes(l.Outcomes))
		}
		for _, o := range l.Objectives {
			if v, ok := o.Attained.Get(); ok && !o.Met {
				parts = append(parts, fmt.Sprintf("promise missed: %s, held by %s of %d", promise(o), held(v), o.Counted))
			}
		}
		if l.Throttle != nil {
			for _, m := range l.Throttle.Messages {
				parts = append(parts, "refused with: "+m)
			}
		}
		if s := serverWords(l.Server); s != "" {
			parts = append(parts, "server: "+s)
		}
		for _, text := range append(parts, l.Warnings...) {
			out = append(out, line{label: "at " + load(l.Load), text: clean(text)})
		}
	}
	return out
}

// outcomes lists the failures of a level, the most frequent first.
func outcomes(counts map[probe.Outcome]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b probe.Outcome) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		if name != probe.OK && counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
		}
	}
	return strings.Join(parts, ", ")
}

func serverWords(s *capacity.ServerLoad) string {
	if s == nil {
		return ""
	}
	var parts []string
	for _, f := range []struct {
		what string
		v    probe.Opt[float64]
	}{{"waiting up to", s.WaitingMax}, {"running up to", s.RunningMax}, {"preemptions", s.Preemptions}} {
		if f.v.OK {
			parts = append(parts, f.what+" "+load(f.v.V))
		}
	}
	if s.KVUseMax.OK {
		parts = append(parts, "KV cache up to "+percent(s.KVUseMax.V))
	}
	return strings.Join(parts, ", ")
}
