package report

import (
	"bytes"
	"errors"

	"tokprobe/probe/capacity"
)

func writeHTML(b *bytes.Buffer, r capacity.Report) error { return errors.New("html: not built yet") }
