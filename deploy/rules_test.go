package deploy_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"tokprobe/configs"
	"tokprobe/deploy"
	"tokprobe/probe/roster"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

// load is what a configuration watches.
func load(t *testing.T, path string) roster.Roster {
	t.Helper()
	cfg, err := configs.Load(path, configs.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Roster()
}

// same compares a committed file with what is generated, or writes it.
func same(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what is generated; run go test ./deploy -update", path)
	}
}

// TestCommittedRules: deploy/rules.yaml is what `tokprobe rules` makes of
// configs/example.yaml, and the rule tests have rules of their own.
func TestCommittedRules(t *testing.T) {
	for _, tt := range []struct{ config, rules string }{
		{"../configs/example.yaml", "rules.yaml"},
		{"prometheus/tests/config.yaml", "prometheus/tests/rules.yaml"},
	} {
		f, err := deploy.Rules(load(t, tt.config), deploy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Warnings) > 0 {
			t.Errorf("%s: warnings %q", tt.config, f.Warnings)
		}
		same(t, tt.rules, data)
	}
}
