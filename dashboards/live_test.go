package dashboards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// demo is a running daemon that watches its own simulator.
type demo struct {
	metrics, simulator string // host:port
}

// startDemo builds and starts `tokprobe serve --demo` and ends it with the test.
func startDemo(t *testing.T, dir string) demo {
	t.Helper()
	bin := filepath.Join(dir, "tokprobe")
	if out, err := exec.Command("go", "build", "-o", bin, "tokprobe/cmd/tokprobe").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	d := demo{metrics: freeAddress(t)}
	cmd := exec.Command(bin, "serve", "--demo", "--web.listen-address", d.metrics)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	run(t, cmd)
	// What it prints names the simulator's address; the rest is drained so
	// that the daemon never waits for us.
	found := make(chan string, 1)
	go func() {
		simulator := regexp.MustCompile(`simulator\s+http://(\S+)`)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if m := simulator.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case d.simulator = <-found:
	case <-time.After(15 * time.Second):
		t.Fatal("the demo did not name its simulator")
	}
	return d
}

// startPrometheus starts Prometheus over the demo and its simulator, every
// second, and returns the address of its API.
func startPrometheus(t *testing.T, dir string, d demo, flags ...string) string {
	t.Helper()
	config := fmt.Sprintf(`global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: tokprobe, static_configs: [{targets: [%q]}]}
  - {job_name: vllm, static_configs: [{targets: [%q]}]}
`, d.metrics, d.simulator)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	cmd := exec.Command("prometheus", append([]string{"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + address, "--log.level=error"}, flags...)...)
	run(t, cmd)
	return "http://" + address
}

// run starts a process and kills it, and only it, when the test ends.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		cmd.Wait()         //nolint:errcheck // killed
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// api asks Prometheus and decodes the data of its answer into v.
func api(base, path string, v any) error {
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(base + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: v}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s", answer.Error)
	}
	return nil
}

// ask evaluates an expression now and returns the labels of its series.
func ask(base, expr string) ([]map[string]string, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  []any
		}
	}
	err := api(base, "/api/v1/query?query="+url.QueryEscape(expr), &data)
	var series []map[string]string
	for _, r := range data.Result {
		series = append(series, r.Metric)
	}
	return series, err
}

// fill puts values in place of the variables of an expression.
func fill(expr string, values map[string]string) string {
	for name, value := range values {
		expr = strings.ReplaceAll(expr, "${"+name+"}", value)
		expr = regexp.MustCompile(`\$`+name+`\b`).ReplaceAllLiteralString(expr, value)
	}
	return expr
}

// values are what Grafana would put in place of the board's variables right
// after it was opened: All, the first of a single choice, or the default.
// The window is a minute, since the demo is young.
func (b board) values(base string) (map[string]string, error) {
	values := map[string]string{}
	for _, v := range b.Templating.List {
		switch {
		case v.Type == "datasource":
		case v.Name == "window":
			values[v.Name] = "1m"
		case v.Multi:
			values[v.Name] = v.AllValue
		case v.Type == "query":
			first, err := firstValue(base, fill(v.variableQuery(), values))
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", v.Name, err)
			}
			values[v.Name] = first
		default:
			values[v.Name] = fmt.Sprint(v.Current.Value)
		}
	}
	return values, nil
}

// firstValue answers label_values(selector, label) as Grafana does.
func firstValue(base, query string) (string, error) {
	m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(query)
	if m == nil {
		return "", fmt.Errorf("not understood: %s", query)
	}
	var list []string
	if err := api(base, "/api/v1/label/"+m[2]+"/values?match[]="+url.QueryEscape(m[1]), &list); err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fmt.Errorf("no values for %s", query)
	}
	return list[0], nil
}
