package configs

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/common/config"

	"tokprobe/probe/wire"
)

// maxPromptFile bounds a prompt file: 4 MiB are about a million tokens.
const maxPromptFile = 4 << 20

// readFile reads a prompt from its file: JSON messages from *.json, else text.
func (b *builder) readFile(p *prompt) {
	if p.file == nil || p.file.text == "" {
		return
	}
	bad := func(format string, args ...any) { p.file.at.bad(quote(p.file.text), format, args...) }
	f, err := os.Open(config.JoinDir(b.opts.Dir, p.file.text))
	if err != nil {
		bad("cannot be read: %s; relative paths begin in the folder of the configuration", reason(err))
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPromptFile+1))
	switch {
	case err != nil:
		bad("cannot be read: %s", reason(err))
		return
	case len(data) > maxPromptFile:
		bad("is larger than 4 MiB; shorten it")
		return
	case len(bytes.TrimSpace(data)) == 0:
		bad("is empty; write what to ask into it")
		return
	}
	b.contents = append(b.contents, data)
	if filepath.Ext(p.file.text) != ".json" {
		p.Messages = []wire.Message{{Role: "user", Content: strings.TrimRight(string(data), "\r\n")}}
		return
	}
	var messages []struct{ Role, Content string }
	if err := json.Unmarshal(data, &messages); err != nil || len(messages) == 0 {
		bad(`holds no messages; write [{"role": "user", "content": "…"}]`)
		return
	}
	for _, m := range messages {
		if m.Role != "system" && m.Role != "user" && m.Role != "assistant" || m.Content == "" {
			bad("has a message without content or with another role than system, user or assistant")
			return
		}
		p.Messages = append(p.Messages, wire.Message{Role: m.Role, Content: m.Content})
	}
}
