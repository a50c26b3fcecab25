package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/probe/capacity"
)

// planFlags are those of `tokprobe plan`.
type planFlags struct {
	peak, perInstance *float64
	from              string
	headroom          *float64
	instances         *int
	ttft              *time.Duration
	json              bool
}

func planCommand(app *kingpin.Application) command {
	clause := app.Command("plan", "How many instances a peak needs, from a saved sweep or from a figure.")
	f := &planFlags{
		peak:        numberFlag(clause, "peak-rps", "Requests a second at the peak."),
		perInstance: numberFlag(clause, "per-instance-rps", "Requests a second that one instance holds."),
		instances:   countFlag(clause, "report-instances", "How many instances the report measured.", 1, 1),
		headroom:    shareFlag(clause, "headroom", "Instances on top, such as 15%.", 0.15),
		ttft:        durationFlag(clause, "ttft-p99", "Take the most load of the report with a TTFT P99 of at most this.", 0),
	}
	clause.Flag("from", "A report that sweep --save wrote.").PlaceHolder("REPORT").StringVar(&f.from)
	clause.Flag("json", "Print JSON.").BoolVar(&f.json)
	return command{clause, f.run}
}

func (f *planFlags) run(ctx context.Context, c console) int {
	demand, err := within(ctx, f.demand)
	if err != nil {
		return fail(c, err)
	}
	p, err := capacity.NewPlan(demand)
	if err != nil {
		return fail(c, err)
	}
	if f.json {
		enc := json.NewEncoder(c.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(p); err != nil {
			return fail(c, err)
		}
		return exitOK
	}
	fmt.Fprintf(c.out, "peak            %g requests/s\nper instance    %.4g requests/s (%s)\ninstances       %d\nwith headroom   %d (%.4g %% on top)\n",
		p.PeakRPS, p.PerInstanceRPS, p.Basis, p.Instances, p.WithHeadroom, 100*p.Headroom)
	for _, w := range p.Warnings {
		fmt.Fprintf(c.out, "warning: %s\n", w)
	}
	return exitOK
}

func (f *planFlags) demand() (capacity.Demand, error) {
	d := capacity.Demand{Instances: *f.instances}
	switch {
	case *f.peak == 0:
		return d, usagef("--peak-rps: give one number, the requests a second at the peak")
	case f.from == "" && *f.perInstance == 0:
		return d, usagef("what one instance holds is not known: give --from REPORT (saved by sweep --save) or --per-instance-rps N")
	case f.from != "" && *f.perInstance > 0:
		return d, usagef("--from and --per-instance-rps exclude one another: keep one")
	case f.from == "" && *f.ttft > 0:
		return d, usagef("--ttft-p99 chooses a level of a report: add --from REPORT")
	}
	d.PeakRPS, d.Headroom = *f.peak, *f.headroom
	if f.from == "" {
		d.PerInstanceRPS = *f.perInstance
		return d, nil
	}
	r, err := readReport(f.from)
	if err != nil {
		return d, usagef("--from: %v", err)
	}
	d.Report = &r
	if *f.ttft > 0 {
		d.Limit = &capacity.Limit{Metric: capacity.TTFT, Stat: "p99", Most: float64(*f.ttft) / float64(time.Millisecond)}
	}
	return d, nil
}
