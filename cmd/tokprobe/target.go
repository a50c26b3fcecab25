package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"tokprobe/configs"
	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/wire"
)

// targetFlags choose one endpoint and model by hand: from a config file, from
// flags, or from the TAOTOKEN_* variables.
type targetFlags struct {
	configFile, target            string
	baseURL, model, protocol, key string
	prompt                        string
	maxTokens                     *int
}

func bindTarget(f flagger) *targetFlags {
	t := &targetFlags{}
	f.Flag("config.file", "Take the target and its credentials from this configuration file.").PlaceHolder("F").StringVar(&t.configFile)
	f.Flag("target", "Name of a target in the configuration file.").PlaceHolder("NAME").StringVar(&t.target)
	f.Flag("base-url", "Base URL of an endpoint, with or without /v1. No key is sent unless --api-key-env is given.").PlaceHolder("URL").StringVar(&t.baseURL)
	f.Flag("model", "Model id as the endpoint spells it.").PlaceHolder("M").StringVar(&t.model)
	f.Flag("protocol", "One of "+strings.Join(wire.Names(), ", ")+".").PlaceHolder("P").StringVar(&t.protocol)
	f.Flag("api-key-env", "Environment variable that holds the API key.").PlaceHolder("VAR").StringVar(&t.key)
	f.Flag("prompt", "Name of a prompt in the configuration file, else the text itself.").PlaceHolder("S").StringVar(&t.prompt)
	t.maxTokens = countFlag(f, "max-tokens", "Most tokens an answer may have (default 64).", 0, 1)
	return t
}

// choice is one endpoint, model and prompt, ready to be asked.
type choice struct {
	config   *configs.Config
	target   roster.Target
	endpoint probe.EndpointConfig
	spec     probe.Spec
	note     string // what was chosen where the user left it open
}

// choose resolves the flags. Every error says what to write instead.
func (t *targetFlags) choose(c console) (choice, error) {
	ch, err := t.chooseTarget(c)
	if err != nil {
		return choice{}, err
	}
	return ch, t.pickPrompt(&ch, ch.config.Roster())
}

// chooseTarget resolves all flags but those of the prompt.
func (t *targetFlags) chooseTarget(c console) (choice, error) {
	cfg, err := t.config(c)
	if err != nil {
		return choice{}, err
	}
	ch := choice{config: cfg}
	r := cfg.Roster()
	if err := t.pickTarget(&ch, r); err != nil {
		return choice{}, err
	}
	endpoints, err := cfg.Endpoints()
	if err != nil {
		return choice{}, err
	}
	ch.endpoint = endpoints[ch.target.Name]
	model, err := t.pickModel(&ch)
	if err != nil {
		return choice{}, err
	}
	ch.spec = probe.Spec{
		ID:       probe.ID{Target: ch.target.Name, Model: model, Probe: "by-hand"},
		Protocol: ch.target.Protocol,
		Limits:   probe.HandLimits(),
	}
	if err := t.knownProtocol(); err != nil {
		return choice{}, err
	}
	if t.protocol != "" {
		ch.spec.Protocol = t.protocol
	}
	return ch, nil
}

func (t *targetFlags) config(c console) (*configs.Config, error) {
	opts := configs.Options{LookupEnv: c.env}
	switch {
	case t.configFile != "" && t.baseURL != "":
		return nil, usagef("--config.file and --base-url exclude one another: name a target of the file with --target, or an endpoint with --base-url")
	case t.configFile != "":
		return configs.Load(t.configFile, opts)
	case t.target != "":
		return nil, usagef("--target names a target of a configuration file: add --config.file F")
	case t.baseURL != "":
		return t.adHoc(opts)
	}
	cfg, err := configs.FromEnv(c.env)
	if err != nil {
		return nil, usagef("no endpoint is named: give --base-url URL --model M, or --config.file F --target NAME, or set the TAOTOKEN_* variables (%v)", err)
	}
	return cfg, nil
}

// adHoc loads the flags as a configuration, so that one set of checks serves
// both. The paths in its messages become flags.
func (t *targetFlags) adHoc(opts configs.Options) (*configs.Config, error) {
	if t.model == "" {
		return nil, usagef("--base-url needs --model M: the model id as the endpoint spells it (GET /v1/models lists them)")
	}
	if err := t.knownProtocol(); err != nil {
		return nil, err
	}
	cfg, err := configs.Adhoc(configs.OneTarget{
		Name: hostName(t.baseURL), BaseURL: t.baseURL, Models: []string{t.model}, Protocol: t.protocol, APIKeyEnv: t.key,
	}, opts)
	if err == nil {
		return cfg, nil
	}
	var problems configs.Problems
	if !errors.As(err, &problems) {
		return nil, err
	}
	flags := map[string]string{"targets[0].base_url": "--base-url", "targets[0].models[0]": "--model", "targets[0].models": "--model", "targets[0].api_key_env": "--api-key-env"}
	lines := make([]string, len(problems))
	for i, p := range problems {
		if flag, ok := flags[p.Path]; ok {
			p.Path, p.Line = flag, 0
		}
		lines[i] = p.Error()
	}
	return nil, usagef("%s", strings.Join(lines, "\n"))
}

func (t *targetFlags) knownProtocol() error {
	if _, ok := wire.Lookup(t.protocol); t.protocol != "" && !ok {
		return usagef("--protocol: %q is not one of %s", t.protocol, strings.Join(wire.Names(), ", "))
	}
	return nil
}

func (t *targetFlags) pickTarget(ch *choice, r roster.Roster) error {
	var names []string
	for _, target := range r.Targets {
		names = append(names, target.Name)
		if target.Name == t.target || t.target == "" && len(r.Targets) == 1 {
			ch.target = target
			return nil
		}
	}
	sort.Strings(names)
	if t.target == "" {
		return usagef("the configuration has several targets: choose one with --target (%s)", strings.Join(names, ", "))
	}
	return usagef("--target: %q is not in the configuration, which has %s", t.target, strings.Join(names, ", "))
}

func (t *targetFlags) pickModel(ch *choice) (string, error) {
	if t.model != "" {
		return t.model, nil // any model may be asked by hand; the endpoint will say if it has none of that name
	}
	if len(ch.target.Models) == 0 {
		return "", usagef("--model: target %q lists no model, so name one", ch.target.Name)
	}
	if len(ch.target.Models) > 1 {
		ch.note = fmt.Sprintf("model %s of %d: --model chooses another", ch.target.Models[0], len(ch.target.Models))
	}
	return ch.target.Models[0], nil
}

// pickPrompt takes the named prompt, else the text, else what the daemon would
// ask this target.
func (t *targetFlags) pickPrompt(ch *choice, r roster.Roster) error {
	named, known := ch.config.Prompt(t.prompt)
	switch {
	case known:
		ch.spec.Prompt = named
	case t.prompt != "":
		ch.spec.Prompt = probe.Prompt{Name: "by-hand", Messages: []wire.Message{{Role: "user", Content: t.prompt}}}
	default:
		i := slices.IndexFunc(r.Watches, func(w roster.Watch) bool { return w.ID.Target == ch.target.Name })
		if i < 0 {
			return usagef("--prompt: no probe of the configuration asks target %q, so give a prompt's name or text", ch.target.Name)
		}
		ch.spec.Prompt = r.Watches[i].Spec.Prompt
	}
	ch.spec.Prompt = ch.config.WithParams(ch.target.Name, ch.spec.Prompt)
	if *t.maxTokens > 0 {
		ch.spec.Prompt.MaxTokens = *t.maxTokens
	}
	return nil
}

// hostName makes a target's name of a URL's host, for labels and tables.
func hostName(base string) string {
	name := base
	if _, after, ok := strings.Cut(name, "://"); ok {
		name = after
	}
	name, _, _ = strings.Cut(name, "/")
	if _, after, ok := strings.Cut(name, "@"); ok {
		name = after // never a password, even in an error about it
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, name)
	if name == "" {
		return "endpoint"
	}
	return name[:min(len(name), 63)]
}
