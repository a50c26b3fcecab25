package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// masked stands wherever a secret stood.
const masked = "<secret>"

// walk collects what a walk over one document finds. The readers of node decide
// what /config may show: a scalar that none of them called harmless is masked.
type walk struct {
	problems Problems
	warnings Problems
	// shown is what the redacted file has in place of a scalar.
	shown map[*yaml.Node]string
	// visit, if set, hears of every mapping: its path without indices, the keys
	// the schema knows and those that are there. The test of reference.yaml
	// needs it.
	visit func(path string, known, present []string)
}

// node is a place in the document, with the path that names it.
type node struct {
	w    *walk
	y    *yaml.Node
	path string
}

// keys is the schema of one mapping: each key with what reads its value.
type keys map[string]func(node)

// bad records a problem with the value that stands here. value is quoted by the
// caller, or empty.
func (n node) bad(value, format string, args ...any) {
	n.w.problems = append(n.w.problems, n.problem(value, format, args...))
}

// warn records a doubt about the value that stands here.
func (n node) warn(value, format string, args ...any) {
	n.w.warnings = append(n.w.warnings, n.problem(value, format, args...))
}

func (n node) problem(value, format string, args ...any) Problem {
	p := Problem{Path: n.path, Value: value, Message: fmt.Sprintf(format, args...)}
	if n.y != nil {
		p.Line = n.y.Line
	}
	return p
}

// is says whether the value has the kind, and records a problem if not.
func (n node) is(kind yaml.Kind, want string) bool {
	if n.y.Kind == kind && n.y.Tag != "!!null" {
		return true
	}
	switch {
	case n.y.Tag == "!!null":
		n.bad("", "has no value; write %s or remove the key", want)
	case n.y.Kind == yaml.MappingNode:
		n.bad("", "is a mapping; write %s", want)
	case n.y.Kind == yaml.SequenceNode:
		n.bad("", "is a list; write %s", want)
	default:
		n.bad("", "is a single value; write %s", want)
	}
	return false
}

// object reads a mapping by its schema. Keys that are unknown or stand there
// twice are problems; required ones that are missing too.
func (n node) object(schema keys, required ...string) bool {
	known := slices.Sorted(maps.Keys(schema))
	if !n.is(yaml.MappingNode, "a mapping with the keys "+strings.Join(known, ", ")) {
		return false
	}
	var present []string
	for i := 0; i+1 < len(n.y.Content); i += 2 {
		key, value := n.y.Content[i], n.y.Content[i+1]
		at := node{n.w, key, join(n.path, key.Value)}
		read, ok := schema[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			n.bad("", "has a key that is no word")
		case slices.Contains(present, key.Value):
			at.bad("", "stands here twice; keep one")
		case !ok:
			at.bad("", "%s", unknownKey(key.Value, known))
		default:
			n.w.shown[key] = key.Value
			present = append(present, key.Value)
			read(node{n.w, value, at.path})
		}
	}
	if n.w.visit != nil {
		n.w.visit(n.path, known, present)
	}
	for _, key := range required {
		if !slices.Contains(present, key) {
			node{n.w, n.y, join(n.path, key)}.bad("", "is missing; write %s: …", key)
		}
	}
	return true
}

func join(path, key string) string {
	if len(key) > shownBytes || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == '.' || r == '[' }) {
		key = quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// instead names the mends of keys that people bring along from elsewhere.
func instead(key string) string {
	switch key {
	case "api_key", "key", "token", "apikey", "bearer_token", "password":
		return "a key itself never goes into this file; write api_key_env: NAME_OF_VARIABLE or api_key_file: PATH"
	case "bearer_token_file":
		return "write api_key_file: PATH or authorization: {credentials_file: PATH}"
	case "model":
		return "write models: [NAME]"
	case "url", "endpoint", "address":
		return "write base_url: https://…"
	case "interval", "schedule":
		return "write every: 30s or cron: \"…\""
	case "timeout":
		return "write timeouts: {connect, first_token, stall, total}"
	case "headers":
		return "write http_headers: {NAME: {values: […]}}"
	case "enable_http2":
		return "write http2: true"
	}
	return ""
}

func unknownKey(key string, known []string) string {
	if mend := instead(key); mend != "" {
		return "unknown key; " + mend
	}
	if near := nearest(key, known); near != "" {
		return "unknown key; write " + near + "?"
	}
	return "unknown key; known here: " + strings.Join(known, ", ")
}

// list reads a sequence, each element by read. A single value in place of a
// list is a problem, and so is an empty list unless emptyOK.
func (n node) list(emptyOK bool, read func(node)) {
	if !n.is(yaml.SequenceNode, "a list: [ … ]") {
		return
	}
	if len(n.y.Content) == 0 && !emptyOK {
		n.bad("[]", "is empty; name at least one, or remove the key if it is optional")
	}
	for i, item := range n.y.Content {
		read(node{n.w, item, fmt.Sprintf("%s[%d]", n.path, i)})
	}
}

// entries reads a mapping of free keys in the order of the file. The caller
// judges the keys, which are shown.
func (n node) entries(read func(key string, value node)) {
	if !n.is(yaml.MappingNode, "a mapping: {name: value}") {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.y.Content); i += 2 {
		key := n.y.Content[i]
		at := node{n.w, n.y.Content[i+1], join(n.path, key.Value)}
		if seen[key.Value] {
			at.bad("", "stands here twice; keep one")
			continue
		}
		seen[key.Value] = true
		n.w.shown[key] = key.Value
		read(key.Value, at)
	}
}
