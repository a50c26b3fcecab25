package deploy

import (
	"time"

	"tokprobe/exporter/catalog"
	"tokprobe/probe"
)

// outcomeAlert rings for outcomes that no burn rate counts as bad, since their
// cause lies with us, or that matter even without an SLO.
type outcomeAlert struct {
	name     string
	outcomes []probe.Outcome
	above    string // events within the window
	skipped  probe.SkipReason
	summary  string
	text     string
}

func outcomeAlerts() []outcomeAlert {
	return []outcomeAlert{
		{"TokprobeKeyRefused", []probe.Outcome{probe.Auth}, "1.5", "",
			"the key is refused",
			"answers were 401 or 403, or there was no key to send: these probes see nothing until the key is good. Users with other keys may be well."},
		// One 429 with a long Retry-After silences the probe: the ticks that
		// were skipped for it count too.
		{"TokprobeQuotaExceeded", []probe.Outcome{probe.RateLimited}, "2.5", probe.SkipRetryAfter,
			"over quota (429)",
			"probes were answered 429 or skipped to honour a Retry-After: the quota of our key is used up. Not counted against the service."},
		{"TokprobeUnknownModel", []probe.Outcome{probe.NotFound}, "1.5", "",
			"the model or path is not there (404)",
			"answers were 404: the model was renamed or removed, or base_url is wrong."},
		{"TokprobeBadRequest", []probe.Outcome{probe.BadRequest}, "1.5", "",
			"the endpoint refuses our request",
			"answers were 400, 413, 422 or the like: the endpoint does not take what the configuration sends, for instance a parameter of the prompt or too long an input."},
		{"TokprobeRedirected", []probe.Outcome{probe.Redirect}, "1.5", "",
			"the endpoint redirects",
			"answers were redirects, which are never followed since that would carry the key to another host: base_url is not the final address."},
		{"TokprobeInternalError", []probe.Outcome{probe.Internal}, "1.5", "",
			"tokprobe itself failed",
			"probes ended in an error of tokprobe itself: see its log."},
		{"TokprobeWrongAnswer", []probe.Outcome{probe.Short, probe.Assertion, probe.ContentFilter}, "2.5", "",
			"answers are not what was asked for",
			"answers came but were too short, missed what the prompt expects, or were filtered."},
	}
}

// outcomeGroup looks back over 10 minutes and at least 6 intervals.
func (g gen) outcomeGroup() Group {
	group := Group{Name: "tokprobe-outcomes"}
	for _, a := range outcomeAlerts() {
		expr := g.perWindow(10*time.Minute, 6, func(w time.Duration, m []catalog.Matcher) string {
			var names []string
			for _, o := range a.outcomes {
				names = append(names, string(o))
			}
			e := g.increases(w, catalog.Sel(catalog.Probes, append(m, oneOf(catalog.LabelOutcome, names))...), byProbe())
			if a.skipped != "" {
				e += "\n+\n" + g.increases(w, catalog.Sel(catalog.ProbesSkipped, append(m, catalog.Eq(catalog.LabelReason, string(a.skipped)))...), byProbe())
			}
			return e + " > " + a.above
		})
		group.Rules = append(group.Rules, g.alert(alert{
			name: a.name, severity: ticket, expr: g.labelled(expr), board: targetBoard(),
			summary:     ofProbe + ": " + a.summary + place,
			description: "About {{ $value | humanize }} times in the last " + g.o.span(10*time.Minute) + " (slower probes: 6 intervals) " + a.text,
		}))
	}
	return group
}
