package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/probe"
)

// probeFlags are those of `tokprobe probe`.
type probeFlags struct {
	*targetFlags
	count                             *int
	connect, firstToken, stall, total *time.Duration
	showText, json                    bool
}

func probeCommand(app *kingpin.Application) command {
	clause := app.Command("probe", "Send one measured request (or several) and print what a user would have felt.")
	limits := probe.HandLimits()
	f := &probeFlags{
		targetFlags: bindTarget(clause),
		count:       countFlag(clause, "count", "How many probes to send, one after the other.", 1, 1),
		connect:     durationFlag(clause, "timeout-connect", "Limit for DNS, TCP and TLS together.", limits.Connect),
		firstToken:  durationFlag(clause, "timeout-first-token", "Limit from the ready connection to the first token.", limits.FirstToken),
		stall:       durationFlag(clause, "timeout-stall", "Longest pause between tokens.", limits.Stall),
		total:       durationFlag(clause, "timeout", "Limit for the whole answer.", limits.Total),
	}
	clause.Flag("show-text", "Print the answer's text.").BoolVar(&f.showText)
	clause.Flag("json", "Print one JSON object a line.").BoolVar(&f.json)
	return command{clause, f.run}
}

// run sends the probes. The status is 0 if every probe was ok.
func (f *probeFlags) run(ctx context.Context, c console) int {
	ch, err := f.choose(c)
	if err != nil {
		return fail(c, err)
	}
	ch.spec.Limits = probe.Limits{Connect: *f.connect, FirstToken: *f.firstToken, Stall: *f.stall, Total: *f.total}
	ch.spec.KeepText = f.showText
	endpoint, err := probe.NewEndpoint(ch.endpoint)
	if err != nil {
		return fail(c, err)
	}
	defer endpoint.Close()
	if ch.note != "" {
		fmt.Fprintf(c.err, "note: %s\n", ch.note)
	}
	return f.send(ctx, c, ch.spec, endpoint)
}

func (f *probeFlags) send(ctx context.Context, c console, spec probe.Spec, endpoint *probe.Endpoint) int {
	code := exitOK
	results := make([]probe.Result, 0, *f.count)
	for i := range *f.count {
		r := probeOnce(ctx, endpoint, spec, i == 0)
		if r.Cut {
			fmt.Fprintln(c.err, "tokprobe: interrupted; the probe under way is not an outcome")
			return exitFail
		}
		if r.Outcome != probe.OK {
			code = exitFail
		}
		if f.json {
			if err := json.NewEncoder(c.out).Encode(r); err != nil {
				return fail(c, err)
			}
			continue
		}
		printResult(c.out, r)
		results = append(results, r)
	}
	if len(results) > 1 {
		printSummary(c.out, results)
	}
	return code
}

// probeOnce sends one probe. The first of a run learns what the endpoint
// accepts only if that is needed: where a prompt has to be generated to size,
// or where the endpoint refused a parameter by name. The refused request was
// the lesson and is not shown.
func probeOnce(ctx context.Context, e *probe.Endpoint, spec probe.Spec, first bool) probe.Result {
	if first && spec.Prompt.InputTokens > 0 {
		e.Calibrate(ctx, spec)
	}
	r := e.Probe(ctx, spec)
	if !first || r.Outcome != probe.BadRequest || r.Cut || !e.Refused(spec.Model) {
		return r
	}
	if cal := e.Calibrate(ctx, spec); cal.Err != nil || cal.Requests == 0 {
		return r
	}
	return e.Probe(ctx, spec)
}
