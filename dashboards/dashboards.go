// Package dashboards holds tokprobe's Grafana dashboards as Go code. Queries
// are built with the helpers of exporter/catalog, so a metric that was renamed
// or a label that does not exist stops the build of the boards instead of
// showing an empty panel. The *.json beside it are generated from it.
package dashboards

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// The boards' uids. Links and alerts point at them: they never change.
const (
	OverviewUID = "tokprobe-overview"
	TargetUID   = "tokprobe-target"
	SweepsUID   = "tokprobe-sweeps"
	ProberUID   = "tokprobe-prober"
)

// DefaultRunbookURL is where the runbook link of the boards goes unless
// Options say otherwise: the place in this repository, as the alerts have it.
// Only you know where you publish it.
const DefaultRunbookURL = "deploy/RUNBOOK.md"

// Options adapt the boards to an installation. The zero value works.
type Options struct {
	// RunbookURL is the address of your copy of deploy/RUNBOOK.md; empty is
	// DefaultRunbookURL.
	RunbookURL string
}

// File is one generated dashboard.
type File struct {
	Name string // overview.json, …
	JSON []byte // what Grafana imports, with a final line feed
}

// Files returns all boards, always in the same order and with the same bytes
// for the same options. An error names the board; it is a mistake in this
// package, never in the options.
func Files(o Options) ([]File, error) {
	if o.RunbookURL == "" {
		o.RunbookURL = DefaultRunbookURL
	}
	boards := []struct {
		name  string
		build func(Options) *dashboard.DashboardBuilder
	}{
		{"overview.json", overview},
		{"target.json", target},
		{"sweeps.json", sweeps},
		{"prober.json", prober},
	}
	var files []File
	for _, b := range boards {
		board, err := b.build(o).Build()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", b.name, err)
		}
		number(&board)
		data, err := json.MarshalIndent(board, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", b.name, err)
		}
		files = append(files, File{Name: b.name, JSON: append(readable(data), '\n')})
	}
	return files, nil
}

// number gives rows and panels the ids 1, 2, 3, … in reading order: the
// builders leave them at 0, and Grafana needs them unique within a board.
func number(board *dashboard.Dashboard) {
	id := uint32(0)
	next := func() uint32 { id++; return id }
	for i := range board.Panels {
		if row := board.Panels[i].RowPanel; row != nil {
			row.Id = next()
			for j := range row.Panels {
				n := next()
				row.Panels[j].Id = &n
			}
			continue
		}
		n := next()
		board.Panels[i].Panel.Id = &n
	}
}

// readable undoes the escapes of < > & that are meant for HTML: they make
// queries hard to read in a diff.
func readable(data []byte) []byte {
	return []byte(strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(data)))
}
