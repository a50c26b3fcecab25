package otlp

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxHeadersFile bounds what is read of the file.
const maxHeadersFile = 64 << 10

// headers reads the headers file: one "Name: value" a line; empty lines and
// those that begin with # are left out. Its errors name the line and never
// hold a part of it.
func (r *Recorder) headers() (http.Header, error) {
	header := http.Header{}
	if r.cfg.HeadersFile == "" {
		return header, nil
	}
	data, err := readSome(r.cfg.HeadersFile)
	if err != nil {
		return nil, fmt.Errorf("--otlp.headers-file: %w", err)
	}
	line := 0
	for l := range strings.SplitSeq(data, "\n") {
		line++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("--otlp.headers-file: line %d is no header; write it as Name: value", line)
		}
		if value == "" {
			return nil, fmt.Errorf("--otlp.headers-file: line %d has no value; remove the line or fill it", line)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Content-Type", "Content-Encoding", "Content-Length", "Host", "Transfer-Encoding", "Connection", "User-Agent":
			return nil, fmt.Errorf("--otlp.headers-file: line %d sets a header that belongs to the push itself; remove the line", line)
		}
		header.Add(name, value)
	}
	return header, nil
}

func readSome(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHeadersFile+1))
	if err == nil && len(data) > maxHeadersFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxHeadersFile)
	}
	return string(data), err
}
