package deploy_test

import (
	"os"
	"path/filepath"
	"testing"

	"tokprobe/deploy"
)

// TestQuorum: with a quorum of two, what one place sees is a ticket, and what
// two see is one page without a place.
func TestQuorum(t *testing.T) {
	f, err := deploy.Rules(load(t, "prometheus/tests/config.yaml"), deploy.Options{Quorum: 2})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := f.YAML()
	if err != nil {
		t.Fatal(err)
	}
	eu, us := gwChat+`,location="eu"`, gwChat+`,location="us"`
	ticket, page := eu+team+`,severity="ticket"`, gwChat+team+`,severity="page"`
	cases := testFile{name: "quorum", every: "1m", groups: []string{"down"}, cases: []ruleCase{
		{"TokprobeHardDown", fires, "one place of two, then both", "1m",
			[]string{failures(eu, from(6).flat(20)), failures(us, from(0).flat(10).to(5).flat(10))},
			[]check{at("5m", ticket), at("12m", page, ticket, us+team+`,severity="ticket"`)}},
		{"TokprobeTargetDown", noise, "two models, but seen from one place", "1m",
			[]string{failures(eu, from(6).flat(20)), failures(`target="gw",model="b",probe="chat",location="eu"`, from(6).flat(20)), failures(us, from(0).flat(20))},
			[]check{at("5m"), at("12m")}},
	}}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"quorum.rules.yaml": rules, "quorum.test.yaml": cases.yaml(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range promtools(t) {
		promtool(t, tool, "check", "rules", "--lint-fatal", filepath.Join(dir, "quorum.rules.yaml"))
		promtool(t, tool, "test", "rules", filepath.Join(dir, "quorum.test.yaml"))
	}
}
