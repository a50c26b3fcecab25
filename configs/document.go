package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a configuration file. A thousand targets with every key are about
// 1 MB and 60,000 nodes; aliases that multiply stop here.
const (
	maxBytes = 8 << 20
	maxNodes = 150_000
	maxDepth = 40
)

// readDocument gives the root of the only document as a tree without aliases
// and merge keys: each use of an anchor is a copy of its own, so that a value
// can be a secret in one place and none in another.
func readDocument(data []byte) (*yaml.Node, *Problem) {
	if len(data) > maxBytes {
		return nil, &Problem{Message: fmt.Sprintf("is larger than %d MiB; split the targets over several daemons (--shard)", maxBytes>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, &Problem{Message: emptyFile}
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data) {
		return readJSON(data)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Problem{Message: emptyFile}
	case err != nil:
		return nil, syntaxProblem(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Problem{Line: more.Line, Message: "holds a second document after ---; put everything into one"}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return nil, &Problem{Message: emptyFile}
	}
	x := expander{left: maxNodes}
	return x.expand(doc.Content[0], 0)
}

const emptyFile = "is empty; start with targets: [{name: taotoken, provider: taotoken, models: [gpt-4o]}]"

// syntaxProblem turns "yaml: line 3: did not find …" into a problem.
func syntaxProblem(err error) *Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	p := &Problem{}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			p.Line, text = n, message
		}
	}
	p.Message = "is no YAML: " + text + "; look at the indentation, colons and quotes here and in the line before"
	return p
}

// expander copies a tree and resolves its aliases and merge keys. left bounds
// the nodes of the copy.
type expander struct{ left int }

func (x *expander) expand(n *yaml.Node, depth int) (*yaml.Node, *Problem) {
	if x.left--; x.left < 0 {
		return nil, &Problem{Line: n.Line, Message: "grows beyond all bounds by its aliases; write the values out"}
	}
	if depth > maxDepth {
		return nil, &Problem{Line: n.Line, Message: fmt.Sprintf("is nested deeper than %d levels, or an alias contains itself", maxDepth)}
	}
	if n.Kind == yaml.AliasNode {
		return x.expand(n.Alias, depth+1)
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value, Line: n.Line, Style: n.Style &^ yaml.TaggedStyle}
	for _, child := range n.Content {
		copied, p := x.expand(child, depth+1)
		if p != nil {
			return nil, p
		}
		c.Content = append(c.Content, copied)
	}
	if c.Kind == yaml.MappingNode {
		mergeKeys(c)
	}
	return c, nil
}

// mergeKeys replaces "<<: {…}" by the keys of it that are not given beside it.
func mergeKeys(n *yaml.Node) {
	var own, merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag != "!!merge" && key.Value != "<<" {
			own = append(own, key, value)
			continue
		}
		sources := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			sources = value.Content
		}
		for _, s := range sources {
			if s.Kind == yaml.MappingNode {
				merged = append(merged, s.Content...)
			}
		}
	}
	have := map[string]bool{}
	for i := 0; i < len(own); i += 2 {
		have[own[i].Value] = true
	}
	for i := 0; i+1 < len(merged); i += 2 {
		if !have[merged[i].Value] {
			have[merged[i].Value] = true
			own = append(own, merged[i], merged[i+1])
		}
	}
	n.Content = own
}

// readJSON builds the same tree from JSON. YAML's own reading of JSON fails on
// tabs and on pairs of \u escapes.
func readJSON(data []byte) (*yaml.Node, *Problem) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{dec: dec, data: data, left: maxNodes}
	n, err := r.value(0)
	if err != nil {
		return nil, &Problem{Message: "is no JSON: " + err.Error()}
	}
	return n, nil
}

type jsonReader struct {
	dec  *json.Decoder
	data []byte
	seen int64 // bytes whose lines are counted
	line int
	left int
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	if r.left--; r.left < 0 || depth > maxDepth {
		return nil, errors.New("too many values or too deeply nested")
	}
	at := r.dec.InputOffset()
	r.line += bytes.Count(r.data[r.seen:at], []byte("\n"))
	r.seen = at
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line + 1}
	switch v := tok.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if v == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for r.dec.More() { // of an object: key, value, key, value
			child, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = r.dec.Token()
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!int", v.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, err
}
