// Package configs reads the configuration: strictly, all problems at once, each
// with its path, value and mend. What comes out is a roster of what is watched,
// the endpoints to reach it, and a redacted copy for people.
package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// Options say where a configuration meets the world. The zero value reads
// relative files from the working directory and variables from the environment.
type Options struct {
	// Dir is where relative paths begin; Load takes the file's own folder if
	// it is empty.
	Dir string
	// LookupEnv finds an environment variable; nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// visit is for the test of reference.yaml.
	visit func(path string, known, present []string)
	// noPresetKey sends no key that is not named explicitly.
	noPresetKey bool
}

// Config is one valid configuration.
type Config struct {
	Canary  Canary
	History History
	// StateFile keeps spend and results of sweeps over restarts; empty keeps
	// them in memory only.
	StateFile string
	// KillSwitchFile stops all sweeps while it exists; empty: none.
	KillSwitchFile string
	// Warnings are doubts that do not keep the daemon from running.
	Warnings Problems

	targets  []*target
	prompts  map[string]probe.Prompt
	roster   roster.Roster
	redacted []byte
	hash     string
	opts     Options
}

// Canary checks our own network: while URL does not answer, target alerts are
// inhibited. An empty URL is no canary.
type Canary struct{ URL string }

// History bounds the results that are kept of each probe. 0 is the exporter's
// own default.
type History struct{ Results, Failures int }

// Load reads a configuration file. Its error is Problems.
func Load(path string, opts Options) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, Problems{{Message: "cannot be read: " + reason(err) + ": " + path + "; name an existing file with --config.file"}}
	}
	if opts.Dir == "" {
		opts.Dir = filepath.Dir(path)
	}
	return Parse(data, opts)
}

// reason is what went wrong with a file, without Go's prefix.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// maxProblems is how many messages somebody may still want to read.
const maxProblems = 500

// Parse reads a configuration from YAML or JSON. Its error is Problems: all of
// them, in the order of the file. An error of the syntax comes alone.
func Parse(data []byte, opts Options) (*Config, error) {
	if opts.LookupEnv == nil {
		opts.LookupEnv = os.LookupEnv
	}
	root, problem := readDocument(data)
	if problem != nil {
		return nil, Problems{*problem}
	}
	w := &walk{shown: map[*yaml.Node]string{}, visit: opts.visit}
	var f file
	f.read(node{w, root, ""})
	b := builder{file: &f, opts: opts, w: w, root: node{w, root, ""}}
	cfg := b.build()
	if len(w.problems) > 0 {
		slices.SortStableFunc(w.problems, func(a, b Problem) int { return a.Line - b.Line })
		if more := len(w.problems) - maxProblems; more > 0 {
			w.problems = append(w.problems[:maxProblems], Problem{Message: fmt.Sprintf("and %d more problems", more)})
		}
		return nil, w.problems
	}
	cfg.Warnings = w.warnings
	cfg.redacted = redact(root, w.shown)
	sum := sha256.New()
	sum.Write(data)
	for _, c := range b.contents {
		sum.Write([]byte{0})
		sum.Write(c)
	}
	cfg.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	return cfg, nil
}

// Format implements fmt.Formatter: whoever prints a Config, in a log or a
// panic, gets its hash and none of its content.
func (c *Config) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "configuration %s", c.hash) }

// Roster returns what is watched. The caller may not change what it points to.
func (c *Config) Roster() roster.Roster { return c.roster }

// Redacted returns the configuration for people: YAML without comments in which
// everything that is or may be a secret is <secret>.
func (c *Config) Redacted() []byte { return slices.Clone(c.redacted) }

// Hash changes with the content of the file and of every prompt file. Files
// with secrets are not in it: they are read at each use.
func (c *Config) Hash() string { return c.hash }

// Prompt returns a prompt of the configuration by its name, for --prompt.
func (c *Config) Prompt(name string) (probe.Prompt, bool) {
	p, ok := c.prompts[name]
	return p, ok
}

// WithParams returns p with the request parameters of a target, below those of
// p itself: as the target's probes ask it. A thinking model whose probes send
// enable_thinking: false would else answer by hand like another model.
func (c *Config) WithParams(name string, p probe.Prompt) probe.Prompt {
	for _, t := range c.targets {
		if t.name.text == name {
			return t.ask(&prompt{Prompt: p})
		}
	}
	return p
}

// TargetNames lists the targets in the order of the file.
func (c *Config) TargetNames() []string {
	var names []string
	for _, t := range c.targets {
		names = append(names, t.name.text)
	}
	return names
}

func listed(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
