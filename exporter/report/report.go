// Package report renders sweep reports and comparisons for people and for other
// programs: a text table for a terminal, Markdown and HTML for a document, CSV
// for a spreadsheet, JSON as package capacity defines it.
//
// Every format shows the same numbers. What was not measured is "-" in a table
// and empty in CSV, never 0. Texts that came from an endpoint or a file (model
// names, error messages, warnings) are cleaned of control characters, bounded,
// and escaped for the format.
package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"tokprobe/probe/capacity"
)

// Formats of a report; Write takes no other.
func Formats() []string { return []string{"text", "json", "csv", "markdown", "html"} }

// ComparisonFormats are those of a comparison.
func ComparisonFormats() []string { return []string{"text", "markdown", "json"} }

// Write renders an assessed report. Nothing is written if it cannot be
// rendered. It fails for an unknown format, for a number that JSON cannot hold,
// and with the error of w.
func Write(w io.Writer, format string, r capacity.Report) error {
	var b bytes.Buffer
	var err error
	switch format {
	case "text":
		writeText(&b, r)
	case "json":
		err = writeJSON(&b, r.Write)
	case "csv":
		err = writeCSV(&b, r)
	case "markdown":
		writeMarkdown(&b, r)
	case "html":
		err = writeHTML(&b, r)
	default:
		err = unknownFormat(format, Formats())
	}
	return finish(w, &b, err)
}

// WriteComparison renders a new report held against a baseline.
func WriteComparison(w io.Writer, format string, c capacity.Comparison) error {
	var b bytes.Buffer
	var err error
	switch format {
	case "text":
		comparisonText(&b, c)
	case "markdown":
		comparisonMarkdown(&b, c)
	case "json":
		err = comparisonJSON(&b, c)
	default:
		err = unknownFormat(format, ComparisonFormats())
	}
	return finish(w, &b, err)
}

func finish(w io.Writer, b *bytes.Buffer, err error) error {
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func unknownFormat(format string, known []string) error {
	return fmt.Errorf("format %q is unknown: use one of %s", clean(format), strings.Join(known, ", "))
}

// byLoad returns the levels in ascending order of load.
func byLoad(r capacity.Report) []capacity.Level {
	levels := slices.Clone(r.Levels)
	slices.SortStableFunc(levels, func(a, b capacity.Level) int {
		switch {
		case a.Load < b.Load:
			return -1
		case a.Load > b.Load:
			return 1
		}
		return 0
	})
	return levels
}
