package configs

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/wire"
)

// prompt is one element of prompts.
type prompt struct {
	probe.Prompt
	name item
	text string
	file *item
	used bool
	at   node
}

func (f *file) readPrompt(n node) {
	p := &prompt{at: n}
	var sources []string
	from := func(key string, read func(node)) func(node) {
		return func(n node) { sources = append(sources, key); read(n) }
	}
	ok := n.object(keys{
		"name":         func(n node) { p.name = n.name() },
		"text":         from("text", func(n node) { p.text = n.promptText() }),
		"messages":     from("messages", func(n node) { n.list(false, p.readMessage) }),
		"file":         from("file", func(n node) { p.file = &item{n.line(), n} }),
		"input_tokens": from("input_tokens", func(n node) { p.InputTokens = int(n.integer(1, maxTokens)) }),
		"max_tokens":   func(n node) { p.MaxTokens = int(n.integer(1, maxTokens)) },
		"cache":        func(n node) { p.Cache = probe.CacheMode(n.oneOf("bust", "warm")) },
		"params":       func(n node) { p.Params = n.params() },
		"expect":       p.readExpect,
		"force_length": func(n node) { p.ForceLength = n.boolean() },
	}, "name")
	if !ok {
		return
	}
	switch {
	case len(sources) == 0:
		n.bad("", "asks nothing; write one of text, messages, file or input_tokens")
	case len(sources) > 1:
		slices.Sort(sources)
		n.bad(strings.Join(sources, " and "), "only one of text, messages, file and input_tokens can be the prompt; keep one")
	}
	if p.text != "" {
		p.Messages = []wire.Message{{Role: "user", Content: p.text}}
	}
	p.Prompt.Name = p.name.text
	f.prompts = append(f.prompts, p)
}

// promptText reads a text of any number of lines.
func (n node) promptText() string {
	s := n.text()
	if n.y.Kind == yaml.ScalarNode && n.y.Tag != "!!null" && strings.TrimSpace(s) == "" {
		n.bad(quote(s), "is blank; write what to ask")
	}
	return s
}

func (p *prompt) readMessage(n node) {
	var m wire.Message
	n.object(keys{
		"role":    func(n node) { m.Role = n.oneOf("system", "user", "assistant") },
		"content": func(n node) { m.Content = n.promptText() },
	}, "role", "content")
	p.Messages = append(p.Messages, m)
}

func (p *prompt) readExpect(n node) {
	n.object(keys{
		"regex": func(n node) {
			p.Expect.Regex = n.text()
			if _, err := regexp.Compile(p.Expect.Regex); err != nil {
				n.bad(quote(p.Expect.Regex), "is no regular expression (RE2): %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
		},
		"min_tokens":    func(n node) { p.Expect.MinTokens = int(n.integer(1, maxTokens)) },
		"finish_reason": func(n node) { p.Expect.FinishReason = n.line() },
	})
}

// fixedParams are set by the probe itself; to override them would break what
// is measured or forecast.
func fixedParams(key string) string {
	switch key {
	case "model":
		return "the model comes from models of the target; remove it"
	case "messages", "prompt":
		return "what is asked comes from the prompt; remove it"
	case "stream":
		return "probes always stream; remove it"
	}
	return ""
}

// params reads parameters that are merged verbatim into a request body.
func (n node) params() map[string]any {
	m := map[string]any{}
	n.entries(func(key string, value node) {
		if mend := fixedParams(key); mend != "" {
			value.bad("", "%s", mend)
			return
		}
		m[key] = value.json()
	})
	return m
}

// json reads any value as JSON would have it, and shows what roster.ShowParam
// lets pass.
func (n node) json() any {
	switch n.y.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		n.entries(func(key string, value node) { m[key] = value.json() })
		return m
	case yaml.SequenceNode:
		list := []any{}
		n.list(true, func(n node) { list = append(list, n.json()) })
		return list
	}
	switch n.y.Tag {
	case "!!null":
		n.show(n.y.Value)
		return nil
	case "!!bool":
		return n.boolean()
	case "!!int", "!!float":
		if roster.ShowParam(n.key(), 0.0) {
			n.show(n.y.Value)
		}
		if i, err := strconv.ParseInt(n.y.Value, 10, 64); err == nil {
			return i
		}
		f, err := strconv.ParseFloat(n.y.Value, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			n.bad(quote(n.y.Value), "is no JSON number; write plain digits")
			return nil
		}
		return f
	}
	if roster.ShowParam(n.key(), n.y.Value) {
		n.show(n.y.Value)
	}
	return n.y.Value
}

// key is the name under which the value stands: stop of targets[0].params.stop[1].
func (n node) key() string {
	path, _, _ := strings.Cut(n.path[strings.LastIndexByte(n.path, '.')+1:], "[")
	return path
}
