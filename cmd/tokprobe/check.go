package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/configs"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

type checkFlags struct {
	configFile string
	online     bool
}

func checkCommand(app *kingpin.Application) command {
	clause := app.Command("check", "Validate a configuration and print its plan: probes, cost a day, what each SLO can detect.")
	f := &checkFlags{}
	clause.Flag("config.file", "Configuration file. Without it the TAOTOKEN_* variables are used.").PlaceHolder("F").StringVar(&f.configFile)
	clause.Flag("online", "Go to every target: DNS, TCP, TLS, /health, /v1/models, one completion a model.").BoolVar(&f.online)
	return command{clause, f.run}
}

func (f *checkFlags) run(ctx context.Context, c console) int {
	cfg, err := loadConfig(c, f.configFile)
	if err != nil {
		return fail(c, err)
	}
	r := cfg.Roster()
	printPlan(c.out, r)
	printForecast(c.out, roster.ForecastDay(r, time.Now()))
	printDetection(c.out, r)
	for _, w := range cfg.Warnings {
		fmt.Fprintf(c.out, "warning: %s\n", w.Error())
	}
	warnKeys(ctx, c.out, cfg)
	if !f.online {
		fmt.Fprintln(c.out, "configuration is good")
		return exitOK
	}
	return walkAll(ctx, c, cfg)
}

// warnKeys names the keys that cannot be read here and now. That is no fault of
// the file: a check may well run where the keys are not.
func warnKeys(ctx context.Context, w io.Writer, cfg *configs.Config) {
	said := map[string]bool{}
	look := func(who string, e probe.EndpointConfig, err error) {
		if err == nil && e.Key != nil {
			_, err = e.Key(ctx)
		}
		if text := fmt.Sprintf("%s: %v", who, err); err != nil && !said[text] {
			said[text] = true
			fmt.Fprintf(w, "warning: %s; its requests would not be sent and count as auth\n", text)
		}
	}
	r := cfg.Roster()
	for _, t := range r.Targets {
		e, err := cfg.SweepEndpoint(t.Name, "")
		look("target "+t.Name, e, err)
	}
	for _, s := range r.Sweeps {
		if s.KeyEnv != "" {
			e, err := cfg.SweepEndpoint(s.Target, s.KeyEnv)
			look("sweep "+s.Name+" of "+s.Target, e, err)
		}
	}
}

// loadConfig reads the named file, or without a name the TAOTOKEN_* variables.
func loadConfig(c console, file string) (*configs.Config, error) {
	if file == "" {
		return configs.FromEnv(c.env)
	}
	return configs.Load(file, configs.Options{LookupEnv: c.env})
}

// walkAll goes to every target and asks every model for one completion.
func walkAll(ctx context.Context, c console, cfg *configs.Config) int {
	endpoints, err := cfg.Endpoints()
	if err != nil {
		return fail(c, err)
	}
	r, code := cfg.Roster(), exitOK
	for _, target := range r.Targets {
		endpoint, err := probe.NewEndpoint(endpoints[target.Name])
		if err != nil {
			return fail(c, err)
		}
		w := &walk{out: c.out, target: target, cfg: endpoints[target.Name], endpoint: endpoint, specs: onePerModel(r, target)}
		if !w.run(ctx) {
			code = exitFail
		}
		endpoint.Close()
	}
	return code
}

// onePerModel takes the first probe of each model of a target, with the
// limits of a request by hand: a cold model may be slow once.
func onePerModel(r roster.Roster, t roster.Target) []probe.Spec {
	var specs []probe.Spec
	seen := map[string]bool{}
	for _, w := range r.Watches {
		if w.ID.Target != t.Name || seen[w.ID.Model] {
			continue
		}
		seen[w.ID.Model] = true
		spec := w.Spec
		spec.Limits, spec.Reuse = probe.HandLimits(), false
		specs = append(specs, spec)
	}
	return specs
}

func printPlan(w io.Writer, r roster.Roster) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TARGET\tMODEL\tPROBE\tWHEN\tLIMITS (connect, first token, stall, total)\tSLO")
	for _, watch := range r.Watches {
		l := watch.Spec.Limits
		var names []string
		for _, s := range watch.SLOs {
			names = append(names, s.Name)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s, %s, %s, %s\t%s\n", watch.ID.Target, watch.ID.Model, watch.ID.Probe, when(watch.Every, watch.Cron, watch.Zone),
			configs.FormatDuration(l.Connect), configs.FormatDuration(l.FirstToken), configs.FormatDuration(l.Stall), configs.FormatDuration(l.Total), strings.Join(names, ", "))
	}
	for _, s := range r.Sweeps {
		fmt.Fprintf(tw, "%s\t%s\t%s (sweep)\t%s\tat most %s, %s %s\t%s\n", s.Target, s.Model, s.Name, when(0, s.Cron, s.Zone), configs.FormatDuration(s.MaxDuration), s.Mode, loads(s.Ladder), sloName(s.SLO))
	}
	tw.Flush()
	fmt.Fprintln(w)
}

func sloName(s *slo.SLO) string {
	if s == nil {
		return ""
	}
	return s.Name
}

func when(every time.Duration, cron, zone string) string {
	if every > 0 {
		return "every " + configs.FormatDuration(every)
	}
	if zone == "" {
		zone = "UTC"
	}
	return cron + " " + zone
}

func loads(ladder []float64) string {
	parts := make([]string, len(ladder))
	for i, l := range ladder {
		parts[i] = fmt.Sprintf("%g", l)
	}
	return strings.Join(parts, ",")
}

// printForecast says what a day costs, against the budgets: input is
// estimated, output is the most that is allowed.
func printForecast(w io.Writer, f roster.Forecast) {
	fmt.Fprintf(w, "a day (%s UTC) costs at most:\n", f.Day.Format(time.DateOnly))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  TARGET\tKIND\tREQUESTS\tINPUT\tOUTPUT\tTOKENS\tMINUTES\tMONEY\tBUDGET")
	for _, t := range f.Targets {
		forecastRow(tw, t, "probes", t.Probes, t.Budget.ProbeTokensPerDay, t.ProbesOver())
		if t.Sweeps.Requests > 0 || t.Budget.SweepTokensPerDay > 0 {
			forecastRow(tw, t, "sweeps", t.Sweeps, t.Budget.SweepTokensPerDay, t.SweepsOver())
		}
	}
	tw.Flush()
	fmt.Fprintln(w)
}

func forecastRow(w io.Writer, t roster.TargetForecast, kind string, l roster.Load, limit int64, over bool) {
	money, budget := "no price", "none"
	if t.Currency != "" {
		money = fmt.Sprintf("%.2f %s", l.Money, t.Currency)
	}
	if limit > 0 {
		budget = fmt.Sprintf("%d tokens", limit)
		if over {
			budget += ", TOO SMALL"
		}
	}
	fmt.Fprintf(w, "  %s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%s\t%s\n", t.Target, kind, l.Requests, l.InputTokens, l.OutputTokens, l.Tokens(), l.Minutes, money, budget)
}

// printDetection says what each SLO can see with the samples of its probes,
// once per objective and interval.
func printDetection(w io.Writer, r roster.Roster) {
	type key struct {
		name  string
		sli   slo.SLI
		every time.Duration
	}
	seen := map[key]bool{}
	for _, watch := range r.Watches {
		for _, s := range watch.SLOs {
			for _, o := range s.Objectives {
				k := key{s.Name, o.SLI, watch.Gap()}
				if !seen[k] {
					seen[k] = true
					printObjective(w, s, o, k.every)
				}
			}
		}
	}
	if len(seen) > 0 {
		fmt.Fprintln(w)
	}
}

func printObjective(w io.Writer, s slo.SLO, o slo.Objective, every time.Duration) {
	promise := ""
	if o.Below > 0 {
		promise = " within " + configs.FormatDuration(o.Below)
	}
	fmt.Fprintf(w, "SLO %s, %s: %g%%%s, probed every %s\n", s.Name, o.SLI, o.Ratio*100, promise, configs.FormatDuration(every.Round(time.Millisecond)))
	for _, d := range slo.Detect(o.Ratio, every) {
		fmt.Fprintf(w, "  %-6s %-12s fires above %.3g%% bad: from %d of %d on, %s into a full outage\n",
			d.Severity, d.Pair, d.Ratio*100, d.MinBad, d.Samples, configs.FormatDuration(d.Outage.Round(time.Second)))
	}
	_, left := slo.Pairs(o.Ratio, every)
	for _, l := range left {
		fmt.Fprintf(w, "  left out %-12s %s\n", l.Pair, l.Reason)
	}
}
