package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/exporter/report"
	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sweep"
)

// sweepFlags are those of `tokprobe sweep`.
type sweepFlags struct {
	*targetFlags
	connect, firstToken, stall, total *time.Duration

	concurrency, rate *[]float64
	auto              bool
	autoMode          string
	maxLoad           *float64
	autoStart         *float64
	autoTolerance     *float64
	requests          *int
	duration          *time.Duration

	scenario, lang, dataset string
	forceLength             bool
	arrival                 string
	burstiness              *float64
	seed                    uint64

	coolDown, deadline, longest, abortTTFT *time.Duration
	abortErrors                            *float64
	serverMetrics                          string
	repeats                                *int
	thresholds                             capacity.Thresholds

	slo, format, save, baseline string
	failOn                      []string
}

func sweepCommand(app *kingpin.Application) command {
	clause := app.Command("sweep", "Climb a ladder of loads: how much an endpoint holds, what stops it, and whether that moved.")
	return command{clause, bindSweep(clause).run}
}

func bindSweep(clause *kingpin.CmdClause) *sweepFlags {
	limits := probe.SweepLimits()
	f := &sweepFlags{
		targetFlags:   bindTarget(clause),
		connect:       durationFlag(clause, "timeout-connect", "Limit for DNS, TCP and TLS together.", limits.Connect),
		firstToken:    durationFlag(clause, "timeout-first-token", "Limit from the ready connection to the first token.", limits.FirstToken),
		stall:         durationFlag(clause, "timeout-stall", "Longest pause between tokens.", limits.Stall),
		total:         durationFlag(clause, "timeout", "Limit for a whole answer; without it the level's deadline.", limits.Total),
		concurrency:   numbersFlag(clause, "concurrency", "Ladder of a closed loop: so many streams in flight."),
		rate:          numbersFlag(clause, "rate", "Ladder of an open loop: so many requests a second, answered or not."),
		maxLoad:       numberFlag(clause, "max-load", "Most load that --auto may try."),
		autoStart:     numberFlag(clause, "auto-start", "First load that --auto tries (default 1; of a rate an eighth of --max-load, at most 1)."),
		autoTolerance: shareFlag(clause, "auto-tolerance", "Share of the load at which --auto has found it closely enough (default 5%).", 0),
		requests:      countFlag(clause, "requests", "Requests of each level (default max(50, 4 a stream); of a rate at least 45 s of them).", 0, 1),
		duration:      durationFlag(clause, "duration", "How long each level sends, instead of --requests. A quota a minute is named from 60 s on.", 0),
	}
	f.bindMore(clause)
	return f
}

func (f *sweepFlags) bindMore(clause *kingpin.CmdClause) {
	flag := func(name, help string) *kingpin.FlagClause { return clause.Flag(name, help) }
	flag("auto", "Instead of a ladder: double the load until it saturates, fails or misses the SLO, then halve the bracket.").BoolVar(&f.auto)
	enumFlag(clause, &f.autoMode, "auto-mode", "What --auto varies: concurrency or rate.", "concurrency", "concurrency", "rate")
	flag("scenario", "T1 (16 tokens), T2 (64, the default), T3 (512) or T4 (2048).").PlaceHolder("T").StringVar(&f.scenario)
	enumFlag(clause, &f.lang, "lang", "Language of the scenario's prompt.", "en", sweep.Languages()...)
	flag("dataset", "Prompts from a JSON or JSONL file: conversations (ShareGPT), messages (OpenAI) or prompt.").PlaceHolder("F").StringVar(&f.dataset)
	flag("force-length", "Ask for answers of exactly the length (always done for vllm).").BoolVar(&f.forceLength)
	enumFlag(clause, &f.arrival, "arrival", "How the requests of a rate arrive: poisson, constant or gamma.", "poisson", "poisson", "constant", "gamma")
	f.burstiness = numberFlag(clause, "burstiness", "Shape of gamma arrivals: 1 is Poisson, less is burstier.")
	seedFlag(clause, &f.seed, "seed", "Makes arrivals and the choice of prompts repeatable.")
	f.repeats = countFlag(clause, "repeats", "How often the levels around the knee are run in all.", 3, 1)
	f.coolDown = pauseFlag(clause, "cool-down", "Pause between levels, 0s for none; after a 429 at least a minute.", 5*time.Second)
	f.deadline = durationFlag(clause, "level-deadline", "End of a level whatever happens (default five times what it should take, at least 5m).", 0)
	f.longest = durationFlag(clause, "max-duration", "End of the sweep whatever happens.", 0)
	f.abortErrors = shareFlag(clause, "abort-error-ratio", "End the sweep above this share of failures and refusals, such as 20%.", 0)
	f.abortTTFT = durationFlag(clause, "abort-ttft", "End the sweep when the median TTFT of the last 10 answers is above.", 0)
	clause.Flag("threshold", "Change a threshold of the judgement, such as saturated_gain=3%. May be given several times; configs/reference.yaml lists them.").
		PlaceHolder("NAME=VALUE").SetValue(&flagValue{name: "threshold", many: true, set: f.setThreshold, text: func() string { return "" }})
	flag("server-metrics", "The endpoint's own vLLM-style /metrics page, read during each level.").PlaceHolder("URL").StringVar(&f.serverMetrics)
	flag("slo", "Name of an SLO in the configuration file.").PlaceHolder("NAME").StringVar(&f.slo)
	enumFlag(clause, &f.format, "format", "text, json, csv, markdown or html.", "text", report.Formats()...)
	flag("save", "Write the report with every request as JSON into this folder.").PlaceHolder("DIR").StringVar(&f.save)
	flag("baseline", "Compare with this saved report.").PlaceHolder("REPORT").StringVar(&f.baseline)
	flag("fail-on", "With --baseline, exit with 1 if this moved: ttft_p90>+10%, output_tps<-5%, ttft_p99@8>500ms. May be given several times.").PlaceHolder("COND").StringsVar(&f.failOn)
}

func (f *sweepFlags) setThreshold(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("%q has no value; write NAME=VALUE, such as saturated_gain=3%%", s)
	}
	return f.thresholds.Set(strings.TrimSpace(name), value)
}

// run does the sweep. The status is 0 if it went through and no gate failed.
func (f *sweepFlags) run(ctx context.Context, c console) int {
	job, err := within(ctx, func() (*sweepJob, error) { return f.job(c) })
	if err != nil {
		return fail(c, err)
	}
	return job.run(ctx, c)
}

// job checks everything before the first request is sent.
func (f *sweepFlags) job(c console) (*sweepJob, error) {
	mode, ladder, err := f.ladder()
	if err != nil {
		return nil, err
	}
	ch, err := f.chooseTarget(c)
	if err != nil {
		return nil, err
	}
	j := &sweepJob{flags: f, choice: ch}
	j.plan, err = f.plan(&ch, mode, ladder)
	if err != nil {
		return nil, err
	}
	if err := f.prompts(c, &j.plan, &ch); err != nil {
		return nil, err
	}
	if err := f.pickSLO(&j.plan, &ch); err != nil {
		return nil, err
	}
	if err := j.plan.Check(); err != nil {
		return nil, usagef("%s: %v", f.loadFlag(), err)
	}
	if u, err := url.Parse(f.serverMetrics); f.serverMetrics != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, usagef("--server-metrics: want a URL such as http://10.0.0.5:8000/metrics")
	}
	if err := j.readBaseline(); err != nil {
		return nil, err
	}
	if err := checkFolder(f.save); err != nil {
		return nil, err
	}
	if len(ladder) == 1 && !f.auto {
		fmt.Fprintln(c.err, "note: a ladder of one level has no knee; give several, such as 1,4,8")
	}
	if !slices.IsSorted(ladder) {
		fmt.Fprintln(c.err, "note: the ladder is climbed in ascending order")
	}
	return j, nil
}

// loadFlag is the flag that the ladder comes from.
func (f *sweepFlags) loadFlag() string {
	switch {
	case f.auto:
		return "--auto"
	case len(*f.rate) > 0:
		return "--rate"
	}
	return "--concurrency"
}

// ladder decides between the three ways to load.
func (f *sweepFlags) ladder() (capacity.Mode, []float64, error) {
	var given []string
	for name, is := range map[string]bool{"--concurrency": len(*f.concurrency) > 0, "--rate": len(*f.rate) > 0, "--auto": f.auto} {
		if is {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	switch {
	case len(given) == 0:
		return "", nil, usagef("no load is named: give --concurrency 1,4,8 (streams in flight), --rate 0.5,10 (requests a second), or --auto --max-load 64")
	case len(given) > 1:
		return "", nil, usagef("%s exclude one another: keep one", strings.Join(given, " and "))
	case f.auto && *f.maxLoad == 0:
		return "", nil, usagef("--auto needs --max-load N: the most load that it may try")
	case !f.auto && *f.maxLoad > 0:
		return "", nil, usagef("--max-load bounds --auto: add --auto, or leave it out")
	case !f.auto && *f.autoStart > 0:
		return "", nil, usagef("--auto-start is where --auto begins: add --auto, or leave it out")
	case !f.auto && *f.autoTolerance > 0:
		return "", nil, usagef("--auto-tolerance is how closely --auto searches: add --auto, or leave it out")
	case *f.requests > 0 && *f.duration > 0:
		return "", nil, usagef("--requests and --duration exclude one another: a level ends by one of the two")
	case f.auto:
		return capacity.Mode(f.autoMode), nil, nil
	case len(*f.rate) > 0:
		return capacity.Rate, *f.rate, nil
	}
	for _, n := range *f.concurrency {
		if n != float64(int(n)) {
			return "", nil, usagef("--concurrency: %g streams: write whole numbers", n)
		}
	}
	return capacity.Concurrency, *f.concurrency, nil
}
