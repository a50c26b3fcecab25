package deploy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"tokprobe/deploy"
)

// TestRunbook: every alert has a section, every section an alert, each with all
// of its parts, and every link leads to a heading.
func TestRunbook(t *testing.T) {
	page := runbook(t)
	var sections []string
	anchors := map[string]bool{}
	for _, part := range strings.Split(page, "\n## ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		anchors[anchor(title)] = true
		if !strings.HasPrefix(title, "Tokprobe") {
			continue
		}
		sections = append(sections, title)
		for _, want := range []string{"**Means.**", "**Users feel.**", "**Confirm.**", "```promql\n", "By hand: ", "tokprobe ", "**Likely causes.**", "**Do.**"} {
			if !strings.Contains(body, want) {
				t.Errorf("section %s lacks %q", title, want)
			}
		}
	}
	names := alertNames(t)
	for _, name := range names {
		if !slices.Contains(sections, name) {
			t.Errorf("alert %s has no section in RUNBOOK.md", name)
		}
	}
	for _, s := range sections {
		if !slices.Contains(names, s) {
			t.Errorf("section %s of RUNBOOK.md is about no alert", s)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(page, -1) {
		if !anchors[link[1]] {
			t.Errorf("link to #%s leads nowhere", link[1])
		}
	}
}

func runbook(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// anchor is the one GitHub gives a heading.
func anchor(title string) string {
	return regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(strings.ReplaceAll(strings.ToLower(title), " ", "-"), "")
}

// TestAlertTexts: every alert has all its texts and labels, and its runbook
// link ends in an anchor that exists.
func TestAlertTexts(t *testing.T) {
	page := runbook(t)
	for _, path := range []string{"../configs/example.yaml", "prometheus/tests/config.yaml"} {
		f, err := deploy.Rules(load(t, path), deploy.Options{RunbookURL: "https://run.example.com/book", GrafanaURL: "https://graf.example.com/"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Alerts() {
			for _, key := range []string{"summary", "description", "dashboard_url", "runbook_url"} {
				if r.Annotations[key] == "" {
					t.Errorf("%s has no %s", r.Alert, key)
				}
			}
			if !slices.Contains([]string{"page", "ticket", "none"}, r.Labels["severity"]) {
				t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
			}
			if (r.Labels["severity"] == "page") != (r.KeepFiringFor != "") {
				t.Errorf("%s: a page keeps firing for a while and nothing else does; have %q", r.Alert, r.KeepFiringFor)
			}
			link, name, _ := strings.Cut(r.Annotations["runbook_url"], "#")
			if link != "https://run.example.com/book" || name != strings.ToLower(r.Alert) || !strings.Contains(page, "\n## "+r.Alert+"\n") {
				t.Errorf("%s: runbook_url %s", r.Alert, r.Annotations["runbook_url"])
			}
			if !strings.HasPrefix(r.Annotations["dashboard_url"], "https://graf.example.com/d/tokprobe-") {
				t.Errorf("%s: dashboard_url %s", r.Alert, r.Annotations["dashboard_url"])
			}
		}
	}
}

// TestRunbookQueries: every query of the runbook is PromQL over metrics that
// exist. They are made rules, which Rules' own check and promtool then read.
func TestRunbookQueries(t *testing.T) {
	f, err := deploy.Rules(load(t, "prometheus/tests/config.yaml"), deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	group := deploy.Group{Name: "runbook"}
	for _, q := range regexp.MustCompile("(?s)```promql\n(.*?)\n```").FindAllStringSubmatch(runbook(t), -1) {
		group.Rules = append(group.Rules, deploy.Rule{Record: "runbook:query", Expr: q[1], Labels: map[string]string{"n": string(rune('a'+len(group.Rules)%26)) + string(rune('a'+len(group.Rules)/26))}})
	}
	if len(group.Rules) < 50 {
		t.Fatalf("only %d queries found", len(group.Rules))
	}
	f.Groups = append(f.Groups, group)
	if _, err := f.YAML(); err != nil {
		t.Error(err)
	}
	data, err := yaml.Marshal(map[string]any{"groups": []deploy.Group{group}})
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/runbook.yaml"
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range promtools(t) {
		promtool(t, tool, "check", "rules", path)
	}
}
