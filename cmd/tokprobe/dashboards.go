package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/dashboards"
)

// dashboardsFlags say where the generated dashboards go.
type dashboardsFlags struct {
	out, format, runbook string
}

func dashboardsCommand(app *kingpin.Application) command {
	clause := app.Command("dashboards", "Write the Grafana dashboards, as JSON files or as a Kubernetes ConfigMap.")
	f := &dashboardsFlags{}
	clause.Flag("out", "Folder to write to; it is made if it does not exist.").Default("dashboards").StringVar(&f.out)
	enumFlag(clause, &f.format, "format", "json: one file for each board. configmap: one manifest with all of them, for Grafana's sidecar.",
		"json", "json", "configmap")
	clause.Flag("runbook-url", "Where deploy/RUNBOOK.md is published, for the link on every board.").PlaceHolder("URL").StringVar(&f.runbook)
	return command{clause, f.run}
}

func (f *dashboardsFlags) run(_ context.Context, c console) int {
	if u, err := url.Parse(f.runbook); f.runbook != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fail(c, usagef("--runbook-url: %q is not an address that begins with https:// or http://", f.runbook))
	}
	files, err := dashboards.Files(dashboards.Options{RunbookURL: f.runbook})
	if err != nil {
		return fail(c, err)
	}
	if f.format == "configmap" {
		files = []dashboards.File{{Name: "configmap.yaml", JSON: dashboards.ConfigMap(files)}}
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fail(c, fmt.Errorf("--out: %w", err))
	}
	for _, file := range files {
		path := filepath.Join(f.out, file.Name)
		if err := os.WriteFile(path, file.JSON, 0o644); err != nil {
			return fail(c, fmt.Errorf("--out: %w", err))
		}
		fmt.Fprintln(c.out, path)
	}
	return exitOK
}
