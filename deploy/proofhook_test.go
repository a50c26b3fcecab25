package deploy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// notice is one alert as Alertmanager told a receiver about it.
type notice struct {
	at          time.Time
	receiver    string
	Status      string
	Labels      map[string]string
	Annotations map[string]string
}

func (n notice) String() string {
	return fmt.Sprintf("%s %s at %s %v: %s", n.receiver, n.Status, n.at.Format("15:04:05.000"), n.Labels, n.Annotations["description"])
}

// hook receives webhooks. Alertmanager repeats what a group still holds, so
// the first notice of a status is the one that counts.
type hook struct {
	*httptest.Server
	mu   sync.Mutex
	list []notice
}

func startHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct {
		Receiver string
		Alerts   []notice
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range message.Alerts {
		n.at, n.receiver = time.Now(), message.Receiver
		h.list = append(h.list, n)
	}
}

// all returns what has come so far.
func (h *hook) all() []notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]notice{}, h.list...)
}

// first returns the first notice after a moment; empty target: any.
func (h *hook) first(alert, target, status string, after time.Time) (notice, bool) {
	for _, n := range h.all() {
		if n.Labels["alertname"] == alert && n.Status == status && n.at.After(after) && (target == "" || n.Labels["target"] == target) {
			return n, true
		}
	}
	return notice{}, false
}

func (h *hook) await(t *testing.T, alert, target string, after time.Time, limit time.Duration) time.Time {
	t.Helper()
	return h.awaitStatus(t, [3]string{alert, target, "firing"}, after, limit)
}

func (h *hook) awaitResolved(t *testing.T, alert, target string, after time.Time, limit time.Duration) time.Time {
	t.Helper()
	return h.awaitStatus(t, [3]string{alert, target, "resolved"}, after, limit)
}

func (h *hook) awaitStatus(t *testing.T, what [3]string, after time.Time, limit time.Duration) time.Time {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if n, ok := h.first(what[0], what[1], what[2], after); ok {
			return n.at
		}
	}
	t.Fatalf("%s %s: not %s within %s. What came:\n%s", what[0], what[1], what[2], limit, h)
	return time.Time{}
}

func (h *hook) String() string {
	var lines []string
	for _, n := range h.all() {
		lines = append(lines, n.String())
	}
	return strings.Join(lines, "\n")
}

// since waits until a moment and returns what else than the watchdog and the
// absence has begun to ring in the ten seconds before it.
func (h *hook) since(until time.Time) []notice {
	time.Sleep(time.Until(until))
	var list []notice
	for _, n := range h.all() {
		name := n.Labels["alertname"]
		if n.at.After(until.Add(-10*time.Second)) && n.Status == "firing" && name != "TokprobeWatchdog" && name != "TokprobeAbsent" {
			list = append(list, n)
		}
	}
	return list
}
