package deploy_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

const alertmanagerFile = "alertmanager/alertmanager.yml"

func amtool(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("amtool")
	if err != nil {
		t.Skip("SKIPPED, NOTHING CHECKED: no amtool; install Debian's prometheus-alertmanager")
	}
	var out, problems bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Errorf("amtool %s: %v\n%s%s", strings.Join(args, " "), err, &out, &problems)
	}
	return out.String()
}

func TestAlertmanagerConfig(t *testing.T) {
	if out := amtool(t, "check-config", alertmanagerFile); !strings.Contains(out, "SUCCESS") {
		t.Errorf("check-config:\n%s", out)
	}
}

func TestRoutes(t *testing.T) {
	for _, tt := range []struct{ labels, want string }{
		{"alertname=TokprobeWatchdog severity=none", "deadman"},
		{"alertname=TokprobeHardDown severity=page target=gw", "pager"},
		{"alertname=TokprobeHardDown severity=ticket target=gw", "tickets"},
		{"alertname=TokprobeKeyRefused severity=ticket target=gw", "tickets"},
		{"alertname=SomebodyElses severity=warning", "tickets"},
	} {
		args := append([]string{"config", "routes", "test", "--config.file", alertmanagerFile}, strings.Fields(tt.labels)...)
		if got := strings.TrimSpace(amtool(t, args...)); got != tt.want {
			t.Errorf("%s goes to %q, want %q", tt.labels, got, tt.want)
		}
	}
}

// TestPrometheusConfigs: the classic example with any promtool, the native one
// with Prometheus 3's.
func TestPrometheusConfigs(t *testing.T) {
	for _, tool := range promtools(t) {
		promtool(t, tool, "check", "config", "--syntax-only", "prometheus/prometheus.yml")
	}
	tool := promtool3()
	if tool == "" {
		t.Skip("SKIPPED: prometheus-native.yml needs the promtool of Prometheus 3; set PROMTOOL3")
	}
	promtool(t, tool, "check", "config", "--syntax-only", "prometheus/prometheus-native.yml")
}
