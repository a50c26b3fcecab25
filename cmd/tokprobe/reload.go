package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"tokprobe/configs"
	"tokprobe/probe"
	"tokprobe/probe/admit"
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
	d.exporter.SetReload(err == nil, time.Now())
	if err != nil {
		if d.loaded { // the first failure ends the program, which prints it itself
			d.log.Error("configuration not loaded, the old one stays in force", zap.Error(err))
		}
		return err
	}
	d.loaded = true
	for _, w := range cfg.Warnings {
		d.log.Warn("configuration", zap.String("warning", w.Error()))
	}
	d.log.Info("configuration loaded", zap.String("hash", cfg.Hash()))
	return nil
}

// reloadIfChanged compares the hash of the content: times of files do not
// change when a mounted ConfigMap is swapped.
func (d *daemon) reloadIfChanged() {
	cfg, err := d.load()
	d.mu.Lock()
	same := err == nil && d.config != nil && cfg.Hash() == d.config.Hash()
	d.mu.Unlock()
	if !same {
		d.reload() //nolint:errcheck // logged, and on the page as a gauge
	}
}

// apply makes every part follow cfg. Endpoints of unchanged targets stay, with
// their connections and what they have learned.
func (d *daemon) apply(cfg *configs.Config) error {
	r := d.shard(cfg.Roster())
	wanted, err := cfg.Endpoints()
	if err != nil {
		return err
	}
	endpoints, hashes := map[string]*probe.Endpoint{}, map[string]string{}
	for _, t := range r.Targets {
		hashes[t.Name] = t.Hash
		if old := d.endpoints[t.Name]; old != nil && d.hashes[t.Name] == t.Hash {
			endpoints[t.Name] = old
			continue
		}
		conf := wanted[t.Name]
		conf.Lag = d.lag
		if endpoints[t.Name], err = probe.NewEndpoint(conf); err != nil {
			return err
		}
	}
	if err := schedule.Check(r); err != nil {
		return err
	}
	// The page first: a tick of a watch that the page does not know would not
	// be counted. The fleet before the scheduler, which may fire at once.
	d.exporter.Apply(r)
	d.fleet.Replace(endpoints)
	if err := d.sched.Apply(r); err != nil {
		return err
	}
	d.health.Apply(r)
	d.config, d.endpoints, d.hashes = cfg, endpoints, hashes
	d.setGauges(r)
	return nil
}

func (d *daemon) ready() error {
	d.mu.Lock()
	loaded := d.loaded
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
	if d.config == nil {
		return roster.Roster{}
	}
	return d.shard(d.config.Roster())
}

func (d *daemon) nextDue(id probe.ID) (time.Time, bool) {
	t := d.sched.Next(id)
	return t, !t.IsZero()
}

// keepGauges refreshes what no tick reports: budgets and maintenance windows.
func (d *daemon) keepGauges(ctx context.Context) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.setGauges(d.rosterNow())
		}
	}
}

func (d *daemon) setGauges(r roster.Roster) {
	ledger, now := d.sched.Ledger(), time.Now()
	for _, t := range r.Targets {
		d.exporter.SetMaintenance(t.Name, d.sched.InMaintenance(t.Name))
		if limit := t.Budget.ProbeTokensPerDay; limit > 0 {
			d.exporter.SetBudgetRemaining(t.Name, "probe", limit-ledger.Spent(now, t.Name, admit.ProbePurse))
		}
		if limit := t.Budget.SweepTokensPerDay; limit > 0 {
			d.exporter.SetBudgetRemaining(t.Name, "sweep", limit-ledger.Spent(now, t.Name, admit.SweepPurse))
		}
	}
}

// askHealth asks a target's own health endpoint. Only a clear answer counts:
// 2xx is up; no answer in time, no connection and 5xx are down; anything else
// (no such path, a login) says nothing.
func (d *daemon) askHealth(ctx context.Context, t roster.Target) (up, known bool) {
	d.mu.Lock()
	endpoint := d.endpoints[t.Name]
	d.mu.Unlock()
	if endpoint == nil {
		return false, false
	}
	status, err := endpoint.Health(ctx, t.HealthURL)
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // the poll was ended, not the target
		return false, false
	case err != nil || status >= http.StatusInternalServerError:
		return false, true
	}
	return true, status < 300
}

// setHealth takes what was not answered off the page: a gauge that keeps its
// last 1 would make a dead machine read as "hung but healthy".
func (d *daemon) setHealth(target string, up, known bool) {
	if known {
		d.exporter.SetHealth(target, up)
	} else {
		d.exporter.ClearHealth(target)
	}
}
