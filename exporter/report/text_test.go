package report

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestTextFitsTerminal(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "text", gateway()); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		if n := utf8.RuneCount(bytes.TrimRight(line, "\n")); n > maxWidth {
			t.Errorf("a line of %d columns, at most %d wanted: %s", n, maxWidth, line)
		}
	}
}
