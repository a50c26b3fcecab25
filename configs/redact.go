package configs

import "gopkg.in/yaml.v3"

const yamlScalar = yaml.ScalarNode

// redact writes the document again with only what the walk called harmless.
// Everything else is masked: secrets, header values, user info, and whatever a
// later key forgets to think about. Comments are not copied.
func redact(root *yaml.Node, shown map[*yaml.Node]string) []byte {
	out, err := yaml.Marshal(redactNode(root, shown))
	if err != nil {
		return []byte("# the configuration cannot be shown\n")
	}
	return out
}

func redactNode(n *yaml.Node, shown map[*yaml.Node]string) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style}
	if n.Kind == yaml.ScalarNode {
		text, ok := shown[n]
		switch {
		case !ok:
			c.Value, c.Tag, c.Style = masked, "!!str", 0
		case text != n.Value:
			c.Value, c.Tag, c.Style = text, "!!str", 0
		}
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, redactNode(child, shown))
	}
	return c
}
