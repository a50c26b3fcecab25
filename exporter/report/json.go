package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"

	"tokprobe/probe/capacity"
)

// writeJSON lets write fill a buffer and escapes what encoding/json leaves
// bare but a terminal or an eye may be fooled by: C1 control characters (the
// second way to write ESC [) and marks that turn the direction of a line. They
// occur inside strings only, so any reader gets the same text back.
func writeJSON(b *bytes.Buffer, write func(io.Writer) error) error {
	var raw bytes.Buffer
	if err := write(&raw); err != nil {
		return err
	}
	for _, r := range raw.String() {
		if r >= 0x7f && r <= 0xffff && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			fmt.Fprintf(b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return nil
}

func comparisonJSON(b *bytes.Buffer, c capacity.Comparison) error {
	if c.Rows == nil {
		c.Rows = []capacity.Row{}
	}
	return writeJSON(b, func(w io.Writer) error { return indented(w, c) })
}

func indented(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
