package deploy

import (
	"bytes"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// RuleFile is one Prometheus rule file.
type RuleFile struct {
	// Comments stand at the head of the file: where it comes from, and which
	// burn-rate pairs cannot work and are left out.
	Comments []string
	// Warnings are what the one who made the file must know: promises that
	// nothing watches.
	Warnings []string
	Groups   []Group
}

// Group is a list of rules that are evaluated together, in order.
type Group struct {
	Name     string `yaml:"name"`
	Interval string `yaml:"interval,omitempty"`
	Rules    []Rule `yaml:"rules"`
}

// Rule is a recording rule or an alert.
type Rule struct {
	Record        string            `yaml:"record,omitempty"`
	Alert         string            `yaml:"alert,omitempty"`
	Expr          string            `yaml:"expr"`
	For           string            `yaml:"for,omitempty"`
	KeepFiringFor string            `yaml:"keep_firing_for,omitempty"`
	Labels        map[string]string `yaml:"labels,omitempty"`
	Annotations   map[string]string `yaml:"annotations,omitempty"`
}

// Alerts returns every alert of the file, in order.
func (f RuleFile) Alerts() []Rule {
	var list []Rule
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				list = append(list, r)
			}
		}
	}
	return list
}

// ruleDocument is the file as Prometheus reads it.
type ruleDocument struct {
	Groups []Group `yaml:"groups"`
}

// YAML returns the file as Prometheus reads it. What it returns has been read
// back and checked; with an error there are no bytes.
func (f RuleFile) YAML() ([]byte, error) {
	return f.render(ruleDocument{f.Groups}, func(data []byte) ([]Group, error) {
		var doc ruleDocument
		err := strictYAML(data, &doc)
		return doc.Groups, err
	})
}

// operatorDocument is a PrometheusRule of the Prometheus operator.
type operatorDocument struct {
	APIVersion string       `yaml:"apiVersion"`
	Kind       string       `yaml:"kind"`
	Metadata   metadata     `yaml:"metadata"`
	Spec       ruleDocument `yaml:"spec"`
}

type metadata struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

// Operator returns the file as a PrometheusRule. kube-prometheus-stack picks it
// up only with the label release: NAME of its own release beside ours.
func (f RuleFile) Operator() ([]byte, error) {
	doc := operatorDocument{
		APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule",
		Metadata: metadata{"tokprobe", map[string]string{"app.kubernetes.io/name": "tokprobe", "role": "alert-rules", "prometheus": "k8s"}},
		Spec:     ruleDocument{f.Groups},
	}
	return f.render(doc, func(data []byte) ([]Group, error) {
		var doc operatorDocument
		err := strictYAML(data, &doc)
		return doc.Spec.Groups, err
	})
}

func (f RuleFile) render(doc any, back func([]byte) ([]Group, error)) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range f.Comments {
		for line := range strings.SplitSeq(c, "\n") {
			b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
		}
	}
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("rules: encode: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("rules: encode: %w", err)
	}
	groups, err := back(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("rules: what was written cannot be read back: %w", err)
	}
	if err := checkGroups(f.Groups, groups); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func strictYAML(data []byte, v any) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	return dec.Decode(v)
}
