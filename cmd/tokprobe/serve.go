package main

import (
	"context"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"go.uber.org/zap"

	"tokprobe/configs"
	"tokprobe/exporter"
	"tokprobe/exporter/otlp"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/schedule"
)

// serveFlags are those of `tokprobe serve`.
type serveFlags struct {
	configFile, webConfig, healthAddress, shard, location string
	listen                                                []string
	demo, lifecycle, pprof                                bool
	grace, poll                                           *time.Duration
	otlp                                                  *otlpFlags
	*logFlags
}

func serveCommand(app *kingpin.Application) command {
	clause := app.Command("serve", "Run the daemon: probe on a schedule, serve /metrics.").Default()
	f := &serveFlags{logFlags: bindLog(clause)}
	clause.Flag("config.file", "Configuration file. Without it the TAOTOKEN_* variables are used.").PlaceHolder("F").StringVar(&f.configFile)
	clause.Flag("demo", "Watch an embedded simulator.").BoolVar(&f.demo)
	clause.Flag("web.listen-address", "Address to listen on; may be repeated.").Default(exporter.DefaultListenAddress).StringsVar(&f.listen)
	clause.Flag("web.config.file", "TLS and basic auth, as the Prometheus exporter toolkit reads them.").PlaceHolder("F").StringVar(&f.webConfig)
	clause.Flag("web.health-address", "Serve /-/healthy and /-/ready on a plain listener of their own.").PlaceHolder("A").StringVar(&f.healthAddress)
	clause.Flag("web.enable-lifecycle", "Allow what changes state: POST to /-/reload, /-/sweeps/stop and resume, /-/probes/stop and resume, /api/v1/…/run. SIGHUP always reloads.").BoolVar(&f.lifecycle)
	clause.Flag("web.enable-pprof", "Serve /debug/pprof/.").BoolVar(&f.pprof)
	clause.Flag("shard", "Run only part of the probes: 2/5 is the second of five parts, auto/5 the one of this StatefulSet ordinal.").PlaceHolder("I/N").StringVar(&f.shard)
	clause.Flag("location", "Name of this place; sweeps that name locations run only in those.").PlaceHolder("NAME").StringVar(&f.location)
	f.grace = durationFlag(clause, "shutdown.grace", "How long running probes may finish after SIGTERM.", 25*time.Second)
	f.poll = durationFlag(clause, "config.poll-interval", "Reload when the content of the configuration has changed, looked at this often. Off by default.", 0)
	f.otlp = bindOTLP(clause)
	return command{clause, f.run}
}

// daemon is what serve wires together. The path of a probe through it:
// scheduler (tick → worker) → fleet (Probe) → recorders (exporter, log) → page.
type daemon struct {
	log      *zap.Logger
	exporter *exporter.Exporter
	web      *exporter.HTTPServer
	fleet    *probe.Fleet
	sched    *schedule.Scheduler
	health   *schedule.HealthPoller
	lag      *probe.Sentinel
	load     func() (*configs.Config, error)
	shard    func(roster.Roster) roster.Roster

	state    *stateKeeper
	book     *sweepBook
	location string
	kill     *killSwitch
	hosts    *hostWatch
	push     *otlp.Recorder // nil without --otlp.endpoint
	blind    *blindness

	mu        sync.Mutex      // one reload at a time; guards what follows
	config    *configs.Config // nil before the first load
	roster    roster.Roster   // our shard of it
	endpoints map[string]*probe.Endpoint
	hashes    map[string]string // of the targets behind endpoints
	refused   string            // why the last attempt to load failed; empty: it did not
}

func (f *serveFlags) run(ctx context.Context, c console) int {
	log, err := f.logger(c.err)
	if err != nil {
		return fail(c, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d, err := f.wire(ctx, log, c)
	if err != nil {
		return fail(c, err)
	}
	d.web = d.page(f, c)
	if err := d.web.Listen(); err != nil {
		return fail(c, err)
	}
	defer d.web.Close()
	if err := d.reload(); err != nil {
		return fail(c, err)
	}
	return f.serve(ctx, stop, d, c)
}

// wire builds the parts; nothing runs yet but the demo's simulator.
func (f *serveFlags) wire(ctx context.Context, log *zap.Logger, c console) (*daemon, error) {
	load, err := f.loader(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &daemon{
		log: log, load: load, fleet: &probe.Fleet{}, lag: probe.NewSentinel(),
		exporter: exporter.New(exporter.Config{}),
		shard:    func(r roster.Roster) roster.Roster { return r },
		kill:     &killSwitch{}, hosts: &hostWatch{}, location: f.location,
	}
	d.book = &sweepBook{exporter: d.exporter, log: log}
	if f.shard != "" {
		i, n, err := thisShard(f.shard, c)
		if err != nil {
			return nil, usagef("--shard: %v", err)
		}
		d.shard = func(r roster.Roster) roster.Roster { return roster.Shard(r, i, n) }
	}
	if d.push, err = f.otlp.recorder(f, d); err != nil {
		return nil, err
	}
	d.sched, err = schedule.New(schedule.Config{
		Prober: d.fleet, Calibrator: d.fleet, Logger: log, Grace: *f.grace,
		Recorder: probe.Recorders{d.exporter, exporter.NewLog(log), d.hosts, d.push},
		Sweeps:   d.sweepSettings(f.location),
	})
	if err != nil {
		return nil, err
	}
	d.blind = &blindness{tell: d.sched.SetCanary}
	d.state = &stateKeeper{log: log, collect: d.collect, saved: d.exporter.StateSaved}
	d.health = &schedule.HealthPoller{Health: d.askHealth, Set: d.setHealth}
	return d, nil
}

// loader returns what (re)reads the configuration.
func (f *serveFlags) loader(ctx context.Context, c console) (func() (*configs.Config, error), error) {
	opts := configs.Options{LookupEnv: c.env}
	switch {
	case f.demo && f.configFile != "":
		return nil, usagef("--demo and --config.file exclude one another")
	case f.demo:
		cfg, _, err := demo(ctx, opts)
		return func() (*configs.Config, error) { return cfg, err }, err
	case f.configFile != "":
		return func() (*configs.Config, error) { return configs.Load(f.configFile, opts) }, nil
	}
	return func() (*configs.Config, error) { return configs.FromEnv(c.env) }, nil
}

// serve runs everything until ctx ends, then drains: no new ticks, running
// probes finish within the grace time, and the page stays up meanwhile.
func (f *serveFlags) serve(ctx context.Context, stop context.CancelFunc, d *daemon, c console) int {
	pageCtx, closePage := context.WithCancel(context.WithoutCancel(ctx))
	defer closePage()
	pageDone := make(chan error, 1)
	go func() {
		err := d.web.Run(pageCtx)
		stop() // without its page the daemon is of no use
		pageDone <- err
	}()
	var side sync.WaitGroup
	side.Go(func() { d.lag.Run(pageCtx) })
	side.Go(func() { d.push.Run(pageCtx) })
	side.Go(func() { d.keepGauges(ctx) })
	side.Go(func() { d.watchConfig(ctx, *f.poll) })
	side.Go(func() { d.watchMachine(ctx) })
	side.Go(func() { d.watchNetwork(ctx, canaryClient()) })
	side.Go(func() { d.state.run(ctx) })

	if err := d.sched.Start(); err != nil {
		return fail(c, err)
	}
	if f.demo {
		side.Go(func() { d.demoSweep(ctx) })
	}
	<-ctx.Done()
	d.log.Info("stopping: no new probes, waiting for those that run", zap.Int("running", d.sched.Running()))
	err := d.sched.Shutdown(context.WithoutCancel(ctx))
	d.health.Shutdown()
	d.fleet.Close()
	closePage()
	side.Wait()
	d.state.save() // what the last probes have spent
	if pageErr := <-pageDone; pageErr != nil {
		err = pageErr
	}
	if err != nil {
		return fail(c, err)
	}
	return exitOK
}
