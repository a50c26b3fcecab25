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

// exampleRoster is what configs/example.yaml watches.
func exampleRoster(t *testing.T) roster.Roster {
	t.Helper()
	cfg, err := configs.Load("../configs/example.yaml", configs.Options{LookupEnv: func(string) (string, bool) { return "", false }})
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
// configs/example.yaml.
func TestCommittedRules(t *testing.T) {
	f, err := deploy.Rules(exampleRoster(t), deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.YAML()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rules.yaml", data)
}
