package configs

import (
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// OneTarget is a target given on the command line.
type OneTarget struct {
	Name      string // empty: "target"
	Provider  string // empty: openai
	BaseURL   string
	Models    []string
	Protocol  string // empty: the provider's
	APIKeyEnv string // empty sends no key, whatever the host is
}

// Adhoc builds a configuration of one target and the built-in probe from
// values of a command line. No key is sent that is not named: not even
// OPENAI_API_KEY to api.openai.com. Its error is Problems whose paths are the
// flags.
func Adhoc(t OneTarget, opts Options) (*Config, error) {
	opts.noPresetKey = true
	cfg, err := one(t, opts)
	return cfg, renamed(err, map[string]string{
		"targets[0].base_url": "--base-url", "targets[0].models": "--model", "targets[0].protocol": "--protocol", "targets[0].api_key_env": "--api-key-env",
	})
}

// renamed gives the problems of a file that nobody wrote the names of where
// their values came from.
func renamed(err error, names map[string]string) error {
	problems, ok := err.(Problems)
	if !ok {
		return err
	}
	for i := range problems {
		p := &problems[i]
		p.Line = 0
		for path, name := range names {
			if strings.HasPrefix(p.Path, path) {
				p.Path = name
			}
		}
	}
	return problems
}

func one(t OneTarget, opts Options) (*Config, error) {
	type target struct {
		Name      string   `yaml:"name"`
		Provider  string   `yaml:"provider"`
		Protocol  string   `yaml:"protocol,omitempty"`
		BaseURL   string   `yaml:"base_url,omitempty"`
		Models    []string `yaml:"models"`
		APIKeyEnv string   `yaml:"api_key_env,omitempty"`
	}
	data, err := yaml.Marshal(map[string][]target{"targets": {{
		first(t.Name, "target"), first(t.Provider, "openai"), t.Protocol, t.BaseURL, t.Models, t.APIKeyEnv,
	}}})
	if err != nil {
		return nil, Problems{{Message: err.Error()}}
	}
	return Parse(data, opts)
}

// FromEnv builds a configuration of one target, taotoken, from the variables
// TAOTOKEN_API_KEY, TAOTOKEN_MODEL (one id, or several with commas) and
// TAOTOKEN_BASE_URL (empty: https://taotoken.net/api). It is what `serve` does
// without a file. Its error is Problems and says how to start.
func FromEnv(lookup func(string) (string, bool)) (*Config, error) {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	get := func(name string) string {
		v, _ := lookup(name)
		return strings.TrimSpace(v)
	}
	base, models := get("TAOTOKEN_BASE_URL"), get("TAOTOKEN_MODEL")
	if base == "" && models == "" && get("TAOTOKEN_API_KEY") == "" {
		return nil, Problems{{Message: "nothing to watch; name a file with --config.file, try serve --demo, or set TAOTOKEN_API_KEY and TAOTOKEN_MODEL (and TAOTOKEN_BASE_URL for another address than https://taotoken.net/api)"}}
	}
	if models == "" {
		return nil, Problems{{Path: "TAOTOKEN_MODEL", Message: "is not set; name the models to watch: TAOTOKEN_MODEL=claude-sonnet-4-5,gpt-4o"}}
	}
	var ids []string
	for _, m := range strings.Split(models, ",") {
		if m = strings.TrimSpace(m); m != "" {
			ids = append(ids, m)
		}
	}
	t := OneTarget{Name: "taotoken", Provider: "taotoken", BaseURL: base, Models: ids, APIKeyEnv: "TAOTOKEN_API_KEY"}
	cfg, err := one(t, Options{LookupEnv: lookup})
	return cfg, renamed(err, map[string]string{"targets[0].models": "TAOTOKEN_MODEL", "targets[0].base_url": "TAOTOKEN_BASE_URL"})
}
