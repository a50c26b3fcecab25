package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

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
