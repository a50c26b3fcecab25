package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/probe/sim"
)

// simFlags set up a simulated endpoint. What the flags leave at zero keeps the
// simulator's own default.
type simFlags struct {
	listen, models, keyEnv, refuse string
	engine                         sim.Engine
	quota                          sim.Quota
	seed                           uint64
	truth, cache                   bool
	ttft, tpot, decode, slope      *time.Duration
}

func simCommand(app *kingpin.Application) command {
	clause := app.Command("sim", "Serve a simulated inference endpoint: batching, queue, quotas, faults, and its own record of what it did.")
	f := &simFlags{}
	clause.Flag("listen", "Address to listen on.").Default("127.0.0.1:9817").StringVar(&f.listen)
	clause.Flag("models", "Model ids, separated by commas.").Default("sim-fast,sim-large").StringVar(&f.models)
	clause.Flag("api-key-env", "Environment variable with the key that is demanded; without it none is.").PlaceHolder("VAR").StringVar(&f.keyEnv)
	clause.Flag("refuse", "Parameters to refuse with a 400, separated by commas: max_tokens, stream_options, …").PlaceHolder("P,P").StringVar(&f.refuse)
	clause.Flag("slots", "Sequences in the batch.").PlaceHolder("N").IntVar(&f.engine.Slots)
	clause.Flag("queue-limit", "Requests that may wait for a slot; 0 is no limit, -1 is no queue.").PlaceHolder("N").IntVar(&f.engine.QueueLimit)
	clause.Flag("prefill-rate", "Prompt tokens a second.").PlaceHolder("R").Float64Var(&f.engine.PrefillRate)
	clause.Flag("jitter", "Sigma of a log-normal factor on prefill and decode.").PlaceHolder("S").Float64Var(&f.engine.Jitter)
	f.decode = durationFlag(clause, "decode", "Time of one decode step.", 0)
	f.slope = durationFlag(clause, "decode-slope", "What each sequence of the batch adds to a step.", 0)
	clause.Flag("prefix-cache", "Skip the prefill of prefixes seen before.").BoolVar(&f.cache)
	clause.Flag("truth", "First token after exactly 200 ms, then 20 ms a token, for any load.").BoolVar(&f.truth)
	f.ttft = durationFlag(clause, "fixed-ttft", "Time to first token in truth mode.", 0)
	f.tpot = durationFlag(clause, "fixed-tpot", "Time per token in truth mode.", 0)
	clause.Flag("rpm", "Requests a minute, then 429.").PlaceHolder("N").IntVar(&f.quota.RPM)
	clause.Flag("tpm", "Tokens a minute, prompt and output, then 429.").PlaceHolder("N").IntVar(&f.quota.TPM)
	clause.Flag("concurrency-limit", "Requests in flight, then 429.").PlaceHolder("N").IntVar(&f.quota.Concurrency)
	clause.Flag("seed", "Makes jitter and faults repeatable.").PlaceHolder("N").Uint64Var(&f.seed)
	return command{clause, f.run}
}

func (f *simFlags) config(c console) (sim.Config, error) {
	cfg := sim.Config{Models: splitList(f.models), Refuse: splitList(f.refuse), Quota: f.quota, Seed: f.seed, Engine: f.engine}
	if f.truth {
		cfg.Engine = sim.Truth()
	}
	cfg.Engine.Decode, cfg.Engine.DecodeSlope, cfg.Engine.PrefixCache = *f.decode, *f.slope, f.cache
	if *f.ttft > 0 {
		cfg.Engine.FixedTTFT = *f.ttft
	}
	if *f.tpot > 0 {
		cfg.Engine.FixedTPOT = *f.tpot
	}
	if len(cfg.Models) == 0 {
		return cfg, usagef("--models: name at least one model")
	}
	if f.keyEnv != "" {
		key, ok := c.env(f.keyEnv)
		if !ok || key == "" {
			return cfg, usagef("--api-key-env: the variable %s is not set or empty", f.keyEnv)
		}
		cfg.APIKey = key
	}
	return cfg, nil
}

func (f *simFlags) run(ctx context.Context, c console) int {
	cfg, err := f.config(c)
	if err != nil {
		return fail(c, err)
	}
	ln, err := net.Listen("tcp", f.listen)
	if err != nil {
		return fail(c, fmt.Errorf("--listen: %w", err))
	}
	server := sim.New(cfg)
	defer server.Close()
	fmt.Fprintf(c.out, `simulated endpoint on http://%s with %s
  faults:  curl -X PUT -d '{"ttft_factor": 3}' http://%[1]s/sim/faults     (GET shows, DELETE clears)
  truth:   http://%[1]s/sim/records   http://%[1]s/sim/stats
`, ln.Addr(), strings.Join(cfg.Models, ", "))
	if err := server.Serve(ctx, ln); err != nil && ctx.Err() == nil {
		return fail(c, err)
	}
	return exitOK
}

// splitList cuts "a, b" into its parts, without empty ones.
func splitList(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
