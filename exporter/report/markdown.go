package report

import (
	"bytes"
	"fmt"
	"strings"

	"tokprobe/probe/capacity"
)

func writeMarkdown(b *bytes.Buffer, r capacity.Report) {
	fmt.Fprintf(b, "## %s\n\n%s\n\n", escapeMarkdown(title(r)), escapeMarkdown(subtitle(r)))
	b.WriteString("### Conditions\n\n| condition | value |\n| --- | --- |\n")
	for _, c := range conditions(r) {
		fmt.Fprintf(b, "| %s | %s |\n", escapeMarkdown(c.name), escapeMarkdown(c.value))
	}
	b.WriteString("\n### Levels\n\n")
	if len(r.Levels) == 0 {
		b.WriteString("No level was measured.\n")
	} else {
		cols := columns(r.Mode)
		titles := make([]string, len(cols))
		left := make([]bool, len(cols))
		for i, c := range cols {
			titles[i], left[i] = c.title, c.left
		}
		markdownHead(b, titles, left)
		for _, l := range byLoad(r) {
			cells := make([]string, len(cols))
			for i, c := range cols {
				cells[i] = c.cell(l)
			}
			markdownRow(b, cells)
		}
		fmt.Fprintf(b, "\n%s\n", escapeMarkdown(caption(r.Mode)))
	}
	b.WriteString("\n### Judgement\n\n")
	markdownLines(b, judgement(r))
}

// markdownHead prints the header of a table and its alignment.
func markdownHead(b *bytes.Buffer, titles []string, left []bool) {
	markdownRow(b, titles)
	marks := make([]string, len(titles))
	for i := range titles {
		marks[i] = "---:"
		if left[i] {
			marks[i] = "---"
		}
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(marks, " | "))
}

func markdownRow(b *bytes.Buffer, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = escapeMarkdown(c)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(escaped, " | "))
}

func markdownLines(b *bytes.Buffer, lines []line) {
	for _, l := range lines {
		fmt.Fprintf(b, "- **%s:** %s\n", escapeMarkdown(l.label), escapeMarkdown(l.text))
	}
}
