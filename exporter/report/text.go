package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"tokprobe/probe/capacity"
)

const (
	maxWidth = 140 // columns of a terminal that the table keeps to
	minFlags = 9   // the longest flag
	prose    = 120 // where sentences break
)

func writeText(b *bytes.Buffer, r capacity.Report) {
	fmt.Fprintf(b, "%s\n%s\n", title(r), subtitle(r))
	var parts []string
	for _, c := range conditions(r) {
		switch c.name {
		case "target", "model", "scenario", "mode", "started", "finished", "sweep", "ladder":
			continue // said already, or in the table
		}
		parts = append(parts, c.name+" "+c.value)
	}
	wrap(b, strings.Join(parts, " · "), "")
	b.WriteByte('\n')
	if len(r.Levels) > 0 {
		textTable(b, columns(r.Mode), byLoad(r))
		b.WriteByte('\n')
		wrap(b, caption(r.Mode), "")
		b.WriteByte('\n')
	}
	labelled(b, judgement(r))
}

// textTable prints the levels under two header lines. Gaps are two wide where
// all fits, else one; flags that do not fit go on under their column.
func textTable(b *bytes.Buffer, cols []column, levels []capacity.Level) {
	rows := make([][]string, len(levels))
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = max(len(c.sub), soleWidth(cols, i))
	}
	for i, l := range levels {
		rows[i] = make([]string, len(cols))
		for j, c := range cols {
			rows[i][j] = c.cell(l)
			if j < len(cols)-1 {
				widths[j] = max(widths[j], utf8.RuneCountInString(rows[i][j]))
			}
		}
	}
	last := len(cols) - 1
	total, gap := 0, "  "
	for _, w := range widths[:last] {
		total += w
	}
	longest := minFlags
	for _, row := range rows {
		longest = max(longest, len(row[last]))
	}
	if total+2*last+longest > maxWidth {
		gap = " "
	}
	widths[last] = max(minFlags, maxWidth-total-len(gap)*last)
	header(b, cols, widths, gap)
	for _, row := range rows {
		for k, words := range wrapWords(row[last], widths[last]) {
			cells := make([]string, len(cols))
			if k == 0 {
				copy(cells, row)
			}
			cells[last] = words
			textRow(b, cols, cells, widths, gap)
		}
	}
}

// soleWidth is what a column needs for its group: nothing where the group
// spans several columns.
func soleWidth(cols []column, i int) int {
	if i > 0 && cols[i-1].group == cols[i].group || i+1 < len(cols) && cols[i+1].group == cols[i].group {
		return 0
	}
	return len(cols[i].group)
}

// header prints the groups, each centred over its columns, then units and
// quantiles.
func header(b *bytes.Buffer, cols []column, widths []int, gap string) {
	var top strings.Builder
	subs := make([]string, len(cols))
	for i := 0; i < len(cols); {
		w, j := widths[i], i+1
		for ; j < len(cols) && cols[j].group == cols[i].group; j++ {
			w += len(gap) + widths[j]
		}
		if i > 0 {
			top.WriteString(gap)
		}
		switch name := cols[i].group; {
		case j-i > 1:
			top.WriteString(centre(name, w))
		case cols[i].left:
			fmt.Fprintf(&top, "%-*s", w, name)
		default:
			fmt.Fprintf(&top, "%*s", w, name)
		}
		i = j
	}
	for i, c := range cols {
		subs[i] = c.sub
	}
	b.WriteString(strings.TrimRight(top.String(), " ") + "\n")
	textRow(b, cols, subs, widths, gap)
}

// centre puts a group's name over its columns between dashes.
func centre(name string, w int) string {
	free := w - len(name) - 2
	if free < 2 {
		return fmt.Sprintf("%*s", w, name)
	}
	return strings.Repeat("-", free/2) + " " + name + " " + strings.Repeat("-", free-free/2)
}

func textRow(b *bytes.Buffer, cols []column, cells []string, widths []int, gap string) {
	var row strings.Builder
	for i, s := range cells {
		if i > 0 {
			row.WriteString(gap)
		}
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(s)))
		if cols[i].left {
			row.WriteString(s + pad)
		} else {
			row.WriteString(pad + s)
		}
	}
	b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
}

// labelled prints sentences behind their labels.
func labelled(b *bytes.Buffer, lines []line) {
	w := 0
	for _, l := range lines {
		w = max(w, utf8.RuneCountInString(l.label))
	}
	for _, l := range lines {
		label := l.label + strings.Repeat(" ", w-utf8.RuneCountInString(l.label)) + "  "
		b.WriteString(label)
		wrap(b, l.text, strings.Repeat(" ", w+2))
	}
}

// wrap prints text broken between words, its further lines indented.
func wrap(b *bytes.Buffer, text, indent string) {
	b.WriteString(strings.Join(wrapWords(text, prose-len(indent)), "\n"+indent) + "\n")
}

// wrapWords breaks text between words into lines of at most width runes, at
// least one line. A longer word keeps a line of its own.
func wrapWords(text string, width int) []string {
	lines := []string{""}
	n := 0
	for _, word := range strings.Fields(text) {
		w := utf8.RuneCountInString(word)
		last := len(lines) - 1
		switch {
		case n == 0:
			lines[last], n = word, w
		case n+1+w <= width:
			lines[last] += " " + word
			n += 1 + w
		default:
			lines, n = append(lines, word), w
		}
	}
	return lines
}
