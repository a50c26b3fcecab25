package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// root is the top of the repository.
const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestDockerfile: what is copied from the source exists and is not ignored,
// and the image runs as a user without rights.
func TestDockerfile(t *testing.T) {
	text := strings.ReplaceAll(read(t, "Dockerfile"), "\\\n", " ")
	var from, user string
	copies := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "FROM":
			from = words[1]
		case "USER":
			user = words[1]
		case "COPY":
			copies++
			if strings.HasPrefix(words[1], "--from=") {
				continue
			}
			for _, source := range words[1 : len(words)-1] {
				if _, err := os.Stat(filepath.Join(root, source)); err != nil {
					t.Errorf("COPY %s: %v", source, err)
				}
			}
		}
	}
	if from != "scratch" {
		t.Errorf("the image is made from %s, want scratch", from)
	}
	if user != "65532:65532" {
		t.Errorf("the image runs as %q, want 65532:65532: by number, so that runAsNonRoot can be checked", user)
	}
	if copies < 5 {
		t.Errorf("%d COPY lines found, want at least 5", copies)
	}
	for _, want := range []string{"/etc/ssl/certs/ca-certificates.crt", "ZONEINFO="} {
		if !strings.Contains(text, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
}

// composeFile is as much of the format as our files use; anything else is a
// mistake. The tests module checks them against the whole schema.
type composeFile struct {
	Name     string                    `yaml:"name"`
	Hardened composeService            `yaml:"x-hardened"`
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]any            `yaml:"volumes"`
}

type composeService struct {
	Restart     string            `yaml:"restart"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	SecurityOpt []string          `yaml:"security_opt"`
	Logging     map[string]any    `yaml:"logging"`
	Build       map[string]string `yaml:"build"`
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	User        string            `yaml:"user"`
	StopGrace   string            `yaml:"stop_grace_period"`
	MemLimit    string            `yaml:"mem_limit"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Tmpfs       []string          `yaml:"tmpfs"`
	DependsOn   map[string]any    `yaml:"depends_on"`
	Healthcheck map[string]any    `yaml:"healthcheck"`
}

// strict decodes one YAML document without unknown keys.
func strict(t *testing.T, path string, into any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, path)))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("%s: more than one document", path)
	}
}

func TestCompose(t *testing.T) {
	var f composeFile
	strict(t, "deploy/compose/compose.yaml", &f)
	if want := []string{"alertmanager", "grafana", "prometheus", "tokprobe"}; !slices.Equal(keys(f.Services), want) {
		t.Errorf("services %v, want %v", keys(f.Services), want)
	}
	pinned := regexp.MustCompile(`^[a-z0-9./-]+:(dev|v?\d+\.\d+\.\d+)(@sha256:[0-9a-f]{64})?$`)
	for name, s := range f.Services {
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q has no full version", name, s.Image)
		}
		if !s.ReadOnly || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s is not hardened: read_only %v, security_opt %v, cap_drop %v", name, s.ReadOnly, s.SecurityOpt, s.CapDrop)
		}
		if s.User == "" || strings.HasPrefix(s.User, "0:") || s.User == "root" {
			t.Errorf("%s runs as %q, want a number other than 0", name, s.User)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to the network", name, p)
			}
		}
		composeMounts(t, f, name, s)
	}
	tokprobe := f.Services["tokprobe"]
	if !slices.Contains(tokprobe.Command, "--demo") {
		t.Errorf("tokprobe does not start on --demo: %v", tokprobe.Command)
	}
	if tokprobe.Healthcheck != nil {
		t.Error("tokprobe has a healthcheck, but its image holds nothing that could run one")
	}
	graceHolds(t, "compose", tokprobe.Command, tokprobe.StopGrace)

	var real composeFile
	strict(t, "deploy/compose/real.yaml", &real)
	for name := range real.Services {
		if _, ok := f.Services[name]; !ok {
			t.Errorf("real.yaml changes service %s, which compose.yaml does not have", name)
		}
	}
}

// composeMounts: a missing file would be made, as a folder, by the engine.
func composeMounts(t *testing.T, f composeFile, name string, s composeService) {
	t.Helper()
	for _, v := range s.Volumes {
		source, _, _ := strings.Cut(v, ":")
		if !strings.HasPrefix(source, ".") {
			if _, ok := f.Volumes[source]; !ok {
				t.Errorf("%s: volume %s is not declared", name, source)
			}
			continue
		}
		if !strings.HasSuffix(v, ":ro") {
			t.Errorf("%s: %s can be written", name, v)
		}
		if _, err := os.Stat(filepath.Join(root, "deploy", "compose", source)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// graceHolds: what stops the program must wait longer than it waits itself.
func graceHolds(t *testing.T, where string, args []string, total string) {
	t.Helper()
	var grace time.Duration
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--shutdown.grace="); ok {
			grace, _ = time.ParseDuration(v)
		}
	}
	whole, err := time.ParseDuration(total)
	if err != nil || grace < 24*time.Second || whole < grace+10*time.Second {
		t.Errorf("%s: probes may finish for %v and the process has %v; want at least 24s (the longest default limit) and 10s more", where, grace, whole)
	}
}

// TestComposeNames: the parts of the stack find one another by service name.
func TestComposeNames(t *testing.T) {
	var f composeFile
	strict(t, "deploy/compose/compose.yaml", &f)
	host := regexp.MustCompile(`[\s"/]((?:[a-z]+)):(9816|9090|9093)\b`)
	for _, path := range []string{"deploy/compose/prometheus.yml", "deploy/compose/grafana/provisioning/datasources/prometheus.yaml"} {
		found := host.FindAllStringSubmatch(read(t, path), -1)
		if len(found) < 2 {
			t.Errorf("%s names %d services, want at least 2", path, len(found))
		}
		for _, m := range found {
			if _, ok := f.Services[m[1]]; !ok && m[1] != "localhost" {
				t.Errorf("%s: host %s is no service", path, m[1])
			}
		}
	}
}

// TestComposePrometheus runs promtool over the stack's Prometheus
// configuration and rules.
func TestComposePrometheus(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIPPED: promtool is not installed")
	}
	// Debian's 2.42 does not know the two lines on native histograms.
	config := read(t, "deploy/compose/prometheus.yml")
	out, err := exec.Command(promtool, "--version").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("version 2.")) {
		config = regexp.MustCompile(`(?m)^ *(scrape_native|always_scrape_classic)_histograms: true\n`).ReplaceAllString(config, "")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yaml": read(t, "deploy/compose/rules.yaml")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(promtool, "check", "config", filepath.Join(dir, "prometheus.yml")).CombinedOutput(); err != nil {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
}

// TestSystemdUnit checks the unit with systemd's own tools.
func TestSystemdUnit(t *testing.T) {
	path := filepath.Join("systemd", "tokprobe.service")
	unit := read(t, "deploy/systemd/tokprobe.service")
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(.*)$`).FindStringSubmatch(unit)
	if stop == nil {
		t.Fatal("the unit has no TimeoutStopSec")
	}
	graceHolds(t, "systemd", strings.Fields(unit), stop[1])

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed")
	}
	out, _ := exec.Command(analyze, "verify", path).CombinedOutput() // fails where the program is not installed
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "tokprobe.service") && !strings.Contains(line, "is not executable") {
			t.Errorf("systemd-analyze verify: %s", line)
		}
		if strings.Contains(line, "tokprobe.service:") && strings.Contains(line, "Unknown") {
			t.Errorf("systemd-analyze verify: %s", line)
		}
	}
	// 0 is no exposure and 10 all; --threshold counts tenths.
	out, err = exec.Command(analyze, "security", "--offline=true", "--threshold=15", path).CombinedOutput()
	if err != nil {
		tail := out[max(0, len(out)-300):]
		t.Errorf("systemd-analyze security: more exposed than 1.5: %v\n%s", err, tail)
	}
}

func keys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
