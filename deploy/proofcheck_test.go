package deploy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// checkAlert looks at the text and labels that a receiver got.
func (s *stack) checkAlert(t *testing.T, target string, w want) {
	t.Helper()
	n, ok := s.hook.first(w.alert, target, "firing", s.began)
	if !ok {
		t.Fatalf("no %s of %s", w.alert, target)
	}
	labels := map[string]string{"severity": w.severity, "target": target, "model": "m", "probe": "chat", "team": "assistants"}
	for k, v := range w.labels {
		labels[k] = v
	}
	for k, v := range labels {
		if n.Labels[k] != v {
			t.Errorf("%s: label %s is %q, want %q", w.alert, k, n.Labels[k], v)
		}
	}
	if receiver := map[string]string{"page": "pager", "ticket": "tickets"}[w.severity]; n.receiver != receiver {
		t.Errorf("%s: severity %s went to receiver %q, want %q", w.alert, w.severity, n.receiver, receiver)
	}
	if !strings.Contains(n.Annotations["description"], w.says) {
		t.Errorf("%s: description %q does not say %q", w.alert, n.Annotations["description"], w.says)
	}
	if link := n.Annotations["dashboard_url"]; !strings.HasSuffix(link, "var-target="+target+"&var-model=m&var-probe=chat") {
		t.Errorf("%s: dashboard link %q does not open the probe", w.alert, link)
	}
	if link, want := n.Annotations["runbook_url"], "https://runbook.example/tokprobe#"+strings.ToLower(w.alert); link != want {
		t.Errorf("%s: runbook link %q, want %q", w.alert, link, want)
	}
}

// onlyThese demands that every alert that came is the watchdog or one that may
// come for its target, and that no text has a hole in it.
func (s *stack) onlyThese(t *testing.T, may map[string][]string) {
	t.Helper()
	told := map[string]bool{}
	for _, n := range s.hook.all() {
		name, target := n.Labels["alertname"], n.Labels["target"]
		for key, text := range n.Annotations {
			if text == "" || strings.Contains(text, "<no value>") || strings.Contains(text, "<error") || strings.Contains(text, "unknown") {
				t.Errorf("%s: annotation %s is %q", name, key, text)
			}
		}
		if name == "TokprobeWatchdog" || slices.Contains(may[target], name) || told[name+target] {
			continue
		}
		told[name+target] = true
		if late, ok := s.machine.busy(); ok && slices.Contains(aboutMachine(), name) {
			t.Logf("this machine is busy (at worst %.0f %% of short sleeps ended 20 ms late), and an alert says so: %s", 100*late, n)
			continue
		}
		t.Errorf("unexpected: %s", n)
	}
}

// aboutMachine are the alerts that rightly come where this test does not get
// its share of the processor.
func aboutMachine() []string {
	return []string{"TokprobeClientLag", "TokprobeSchedulerLag", "TokprobeStreamsCoalesced", "TokprobeCanaryFailed"}
}

// allSuppressed waits for the absence to reach Alertmanager and demands that it
// then has alerts of the target, and holds back all of them.
func (s *stack) allSuppressed(t *testing.T, target string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.states(t, "")["TokprobeAbsent"] == "" && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	states := s.states(t, target)
	if len(states) == 0 {
		t.Errorf("no alert of %s is left to be held back: this shows nothing", target)
	}
	for name, state := range states {
		if state != "suppressed" {
			t.Errorf("%s of %s is %s while nobody watches", name, target, state)
		}
	}
}

// sentinel measures how late this process wakes from short sleeps.
type sentinel struct {
	mu          sync.Mutex
	sleeps, bad int     // of the running piece of a few seconds
	worst       float64 // share of late sleeps of the worst piece so far
}

func startSentinel(t *testing.T) *sentinel {
	s, stop := &sentinel{}, make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			began := time.Now()
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			s.slept(time.Since(began) > 30*time.Millisecond)
		}
	}()
	return s
}

func (s *sentinel) slept(late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sleeps++
	if late {
		s.bad++
	}
	if s.sleeps == 300 {
		s.worst = max(s.worst, float64(s.bad)/300)
		s.sleeps, s.bad = 0, 0
	}
}

// busy returns the share of late sleeps in the worst three seconds, and whether
// that is more than a quiet machine has.
func (s *sentinel) busy() (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.worst, s.worst > 0.03
}
