package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"

	"tokprobe/configs"
	"tokprobe/exporter"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/schedule"
)

// reload reads the whole new configuration first and changes only what
// differs; if it is bad, the old one stays in force and the error has all
// reasons. The first load is a reload of nothing.
func (d *daemon) reload() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	cfg, err := d.load()
	if err == nil {
		err = d.apply(cfg)
	}
	d.settle(cfg, err)
	return err
}

// reloadIfChanged compares the hash of the content: times of files do not
// change when a mounted ConfigMap is swapped. What fails for the same reasons
// as the last time is no news.
func (d *daemon) reloadIfChanged() {
	d.mu.Lock()
	defer d.mu.Unlock()
	cfg, err := d.load()
	if err == nil {
		if d.refused == "" && d.config != nil && cfg.Hash() == d.config.Hash() {
			return
		}
		err = d.apply(cfg)
	}
	if err != nil && err.Error() == d.refused {
		return
	}
	d.settle(cfg, err)
}

// settle reports how an attempt to load ended. The caller holds d.mu.
func (d *daemon) settle(cfg *configs.Config, err error) {
	d.exporter.SetReload(err == nil, time.Now())
	if err != nil {
		d.refused = err.Error()
		if d.config != nil { // the first failure ends the program, which prints it itself
			d.log.Error("configuration not loaded, the old one stays in force", zap.Error(err))
		}
		return
	}
	d.refused = ""
	for _, w := range cfg.Warnings {
		d.log.Warn("configuration", zap.String("warning", w.Error()))
	}
	for _, s := range d.roster.Sweeps {
		if len(s.Locations) > 0 && d.location == "" {
			d.log.Warn("this sweep names locations and there is no --location: it never runs here", zap.String("sweep", s.Name), zap.Strings("locations", s.Locations))
		}
	}
	d.log.Info("configuration loaded", zap.String("hash", cfg.Hash()))
}

// fixed returns the error of a configuration that asks for what only a restart
// can change.
func (d *daemon) fixed(cfg *configs.Config) error {
	if d.config == nil || cfg.StateFile == d.config.StateFile {
		return nil
	}
	show := func(file string) string {
		if file == "" {
			return "none"
		}
		return file
	}
	return fmt.Errorf("state_file: from %s to %s: restart needed; put the old one back or restart tokprobe", show(d.config.StateFile), show(cfg.StateFile))
}

// apply makes every part follow cfg; whatever can fail comes first.
func (d *daemon) apply(cfg *configs.Config) error {
	if err := d.fixed(cfg); err != nil {
		return err
	}
	r := d.shard(cfg.Roster())
	endpoints, hashes, err := d.connect(cfg, r)
	if err != nil {
		return err
	}
	if err := schedule.Check(r); err != nil {
		return err
	}
	first := d.config == nil
	if first {
		d.state.path = cfg.StateFile
		d.state.restore(d.restore)
	}
	// The page first: a tick of a watch that the page does not know would not
	// be counted. The fleet before the scheduler, which may fire at once.
	d.exporter.SetHistory(exporter.HistorySize(cfg.History))
	d.exporter.Apply(r)
	d.push.Apply(r)
	d.book.apply(r)
	if first {
		d.book.show()
	}
	d.fleet.Replace(endpoints)
	d.kill.setFile(cfg.KillSwitchFile)
	if err := d.sched.Apply(r); err != nil {
		return err
	}
	d.health.Apply(r)
	d.hosts.apply(r)
	d.config, d.roster, d.endpoints, d.hashes = cfg, r, endpoints, hashes
	d.setGauges(r)
	return nil
}

// connect returns the endpoints of a roster. Those of unchanged targets stay,
// with their connections and what they have learned.
func (d *daemon) connect(cfg *configs.Config, r roster.Roster) (endpoints map[string]*probe.Endpoint, hashes map[string]string, err error) {
	wanted, err := cfg.Endpoints()
	if err != nil {
		return nil, nil, err
	}
	endpoints, hashes = map[string]*probe.Endpoint{}, map[string]string{}
	for _, t := range r.Targets {
		hashes[t.Name] = t.Hash
		if old := d.endpoints[t.Name]; old != nil && d.hashes[t.Name] == t.Hash {
			endpoints[t.Name] = old
			continue
		}
		conf := wanted[t.Name]
		conf.Lag = d.lag
		if endpoints[t.Name], err = probe.NewEndpoint(conf); err != nil {
			return nil, nil, err
		}
	}
	return endpoints, hashes, nil
}

func (d *daemon) ready() error {
	d.mu.Lock()
	loaded := d.config != nil
	d.mu.Unlock()
	if !loaded {
		return errors.New("no configuration is loaded yet")
	}
	return d.sched.Healthy()
}

func (d *daemon) redacted() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.config == nil {
		return nil
	}
	return d.config.Redacted()
}

func (d *daemon) rosterNow() roster.Roster {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.roster
}

func (d *daemon) canaryURL() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.config == nil {
		return ""
	}
	return d.config.Canary.URL
}

func (d *daemon) nextDue(id probe.ID) (time.Time, bool) {
	t := d.sched.Next(id)
	return t, !t.IsZero()
}

// watchConfig reloads on SIGHUP and, if asked to, when the content changed.
func (d *daemon) watchConfig(ctx context.Context, poll time.Duration) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	var tick <-chan time.Time
	if poll > 0 {
		ticker := time.NewTicker(poll)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			d.reload() //nolint:errcheck // logged, and on the page as a gauge
		case <-tick:
			d.reloadIfChanged()
		}
	}
}
