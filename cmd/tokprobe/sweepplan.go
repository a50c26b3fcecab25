package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sweep"
)

// plan turns the flags into what is to be done, but for the prompts.
func (f *sweepFlags) plan(ch *choice, mode capacity.Mode, ladder []float64) (sweep.Plan, error) {
	p := sweep.Plan{
		Target: ch.target.Name, Model: ch.spec.Model, Protocol: ch.spec.Protocol,
		Mode: mode, Ladder: ladder, Requests: *f.requests, Duration: *f.duration,
		Arrival: capacity.Arrival(f.arrival), Seed: f.seed,
		Limits:        probe.Limits{Connect: *f.connect, FirstToken: *f.firstToken, Stall: *f.stall, Total: *f.total},
		LevelDeadline: *f.deadline, CoolDown: *f.coolDown, MaxDuration: *f.longest,
		TokenBudget: ch.target.Budget.SweepTokensPerDay, Repeats: *f.repeats, Thresholds: f.thresholds,
	}
	if p.CoolDown == 0 {
		p.CoolDown = -1 // asked for none, which zero would not say
	}
	p.Abort.TTFT, p.Abort.ErrorRatio = *f.abortTTFT, *f.abortErrors
	if f.auto {
		p.Auto = &sweep.Auto{MaxLoad: *f.maxLoad, Start: *f.autoStart, Tolerance: *f.autoTolerance}
		if mode == capacity.Rate && p.Auto.Start == 0 {
			p.Auto.Start = min(1, *f.maxLoad/8)
		}
	}
	switch {
	case *f.burstiness > 0 && p.Arrival != capacity.Gamma:
		return p, usagef("--burstiness shapes gamma arrivals: add --arrival gamma, or leave it out")
	case *f.burstiness == 0 && p.Arrival == capacity.Gamma:
		return p, usagef("--arrival gamma needs --burstiness: below 1 is burstier than Poisson, 1 is Poisson")
	}
	p.Burstiness = *f.burstiness
	p.Conditions = capacity.Conditions{
		Version: versionLine(), GoVersion: runtime.Version(), Host: hostLine(), Endpoint: ch.target.BaseURL,
	}
	return p, nil
}

// hostLine says where the load comes from.
func hostLine() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown host"
	}
	return fmt.Sprintf("%s, %s/%s, %d cores", name, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// prompts takes one of scenario, prompt and data set; T2 if none is named.
func (f *sweepFlags) prompts(c console, p *sweep.Plan, ch *choice) error {
	given := 0
	for _, s := range []string{f.scenario, f.prompt, f.dataset} {
		if s != "" {
			given++
		}
	}
	var err error
	switch {
	case given > 1:
		return usagef("--scenario, --prompt and --dataset exclude one another: keep one")
	case f.dataset != "":
		err = f.readDataset(c, p)
	case f.prompt != "":
		if err = f.pickPrompt(ch, ch.config.Roster()); err == nil {
			p.Prompts = []probe.Prompt{ch.spec.Prompt}
		}
	default:
		err = f.pickScenario(p)
	}
	if err != nil {
		return err
	}
	for i := range p.Prompts {
		p.Prompts[i] = ch.config.WithParams(ch.target.Name, p.Prompts[i])
		if *f.maxTokens > 0 {
			p.Prompts[i].MaxTokens = *f.maxTokens
		}
		p.Prompts[i].ForceLength = p.Prompts[i].ForceLength || f.forceLength
	}
	return nil
}

func (f *sweepFlags) pickScenario(p *sweep.Plan) error {
	name := strings.ToUpper(f.scenario)
	if name == "" {
		name = "T2"
	}
	prompt, err := sweep.ScenarioPrompt(name, f.lang)
	if err != nil {
		return usagef("--%v", err)
	}
	p.Prompts = []probe.Prompt{prompt}
	p.Conditions.Scenario, p.Conditions.Language = name, f.lang
	return nil
}

// readDataset says which lines could not be used.
func (f *sweepFlags) readDataset(c console, p *sweep.Plan) error {
	if err := readable(f.dataset); err != nil {
		return usagef("--dataset: %v", err)
	}
	file, err := os.Open(f.dataset)
	if err != nil {
		return usagef("--dataset: %v", err)
	}
	defer file.Close()
	data, err := sweep.ReadDataset(file, sweep.Sampling{Name: "dataset", Seed: f.seed})
	if err != nil {
		return usagef("--dataset: %s: %v", f.dataset, err)
	}
	const shown = 5
	for i, bad := range data.Bad {
		if i == shown {
			fmt.Fprintf(c.err, "note: and %d more lines\n", data.Skipped-shown)
			break
		}
		fmt.Fprintf(c.err, "note: %s line %d is skipped: %s\n", f.dataset, bad.Line, bad.Why)
	}
	p.Prompts = data.Prompts
	p.Conditions.Prompt = fmt.Sprintf("data set %s: %d prompts, %d used", filepath.Base(f.dataset), data.Good, len(data.Prompts))
	return nil
}

// readable lets files and pipes pass, so that <(zcat …) is a data set, too. A
// device such as /dev/zero has no end.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // opening it says why
	}
	what := "socket"
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode&os.ModeNamedPipe != 0:
		return nil
	case mode.IsDir():
		what = "folder"
	case mode&os.ModeDevice != 0:
		what = "device"
	}
	return fmt.Errorf("%s is a %s; name a JSON or JSONL file", path, what)
}

func (f *sweepFlags) pickSLO(p *sweep.Plan, ch *choice) error {
	if f.slo == "" {
		return nil
	}
	var names []string
	for _, s := range ch.config.Roster().SLOs {
		if s.Name == f.slo {
			p.SLO = &s
			return nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return usagef("--slo: %q: there is no SLO to name; write one under slos: in a file and give it with --config.file", f.slo)
	}
	return usagef("--slo: %q is not in the configuration, which has %s", f.slo, strings.Join(names, ", "))
}
