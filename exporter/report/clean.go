package report

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds every text that is shown, in runes; the longest sentences of
// package capacity have some 250.
const maxText = 500

// clean makes one line of s: control characters, invisible formatting (which
// can turn the direction of a line), and what is no UTF-8 become spaces, runs
// of white space one space, and a long text ends in "…".
func clean(s string) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			space = n > 0
			continue
		}
		if n == maxText {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// short is clean with fewer runes, for titles and narrow cells.
func short(s string, most int) string {
	rs := []rune(clean(s))
	if len(rs) <= most {
		return string(rs)
	}
	return string(rs[:most-1]) + "…"
}

// escapeMarkdown cleans s and makes it plain text of a Markdown document, also
// inside a table: HTML and everything that could start a link, an emphasis,
// code or a formula is escaped. An underscore inside a word means nothing there
// and stays, so that model names can still be read in the source.
func escapeMarkdown(s string) string {
	rs := []rune(clean(s))
	var b strings.Builder
	for i, r := range rs {
		switch r {
		case '<', '>', '&':
			b.WriteString(html.EscapeString(string(r)))
			continue
		case '\\', '|', '`', '*', '[', ']', '~', '$', '#', '!':
			b.WriteByte('\\')
		case '_':
			if i == 0 || i == len(rs)-1 || !wordRune(rs[i-1]) || !wordRune(rs[i+1]) {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
