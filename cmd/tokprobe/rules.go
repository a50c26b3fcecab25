package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/deploy"
)

type rulesFlags struct {
	configFile, format, out string
	opts                    deploy.Options
}

func rulesCommand(app *kingpin.Application) command {
	clause := app.Command("rules", "Make the Prometheus rules (recording rules, alerts) for a configuration.")
	f := &rulesFlags{}
	clause.Flag("config.file", "Configuration file. Without it the TAOTOKEN_* variables are used.").PlaceHolder("F").StringVar(&f.configFile)
	enumFlag(clause, &f.format, "format", "prometheus: a rule file; operator: a PrometheusRule.", "prometheus", "prometheus", "operator")
	clause.Flag("out", "File to write, replaced in one step. Without it the rules go to standard output.").PlaceHolder("FILE").StringVar(&f.out)
	clause.Flag("job", "Scrape job of tokprobe in Prometheus.").Default("tokprobe").StringVar(&f.opts.Job)
	clause.Flag("grafana-url", "Where the dashboards are, for the links of the alerts.").Default("http://localhost:3000").PlaceHolder("URL").StringVar(&f.opts.GrafanaURL)
	clause.Flag("runbook-url", "Where deploy/RUNBOOK.md is published, for the links of the alerts.").PlaceHolder("URL").StringVar(&f.opts.RunbookURL)
	clause.Flag("quorum", "How many locations must agree before a target pages; 1: each pages for itself.").Default("1").IntVar(&f.opts.Quorum)
	return command{clause, f.run}
}

func (f *rulesFlags) run(_ context.Context, c console) int {
	cfg, err := loadConfig(c, f.configFile)
	if err != nil {
		return fail(c, err)
	}
	file, err := deploy.Rules(cfg.Roster(), f.opts)
	if err != nil {
		return fail(c, err)
	}
	render := file.YAML
	if f.format == "operator" {
		render = file.Operator
	}
	data, err := render()
	if err != nil {
		return fail(c, err)
	}
	for _, w := range file.Warnings {
		fmt.Fprintf(c.err, "tokprobe: warning: %s\n", w)
	}
	if f.out == "" {
		if _, err := c.out.Write(data); err != nil {
			return fail(c, err)
		}
		return exitOK
	}
	if err := replaceFile(f.out, data); err != nil {
		return fail(c, err)
	}
	return exitOK
}

// replaceFile writes data to path in one step: whoever reads it, Prometheus in
// the middle of a reload for one, sees the old content or the new, and after an
// error the old.
func replaceFile(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Chmod(0o644); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
