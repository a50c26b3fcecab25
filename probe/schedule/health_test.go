package schedule

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

func TestHealthPoller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		sets := map[string][]string{}
		asked := map[string][]time.Time{}
		h := &HealthPoller{
			Health: func(ctx context.Context, target roster.Target) (bool, bool) {
				mu.Lock()
				asked[target.Name] = append(asked[target.Name], time.Now())
				mu.Unlock()
				if target.Name == "hangs" {
					<-ctx.Done()
					return false, true
				}
				return true, true
			},
			Set: func(target string, up, known bool) {
				mu.Lock()
				defer mu.Unlock()
				sets[target] = append(sets[target], fmt.Sprint(up, known))
			},
		}
		r := roster.Roster{}
		for _, name := range []string{"up", "hangs", "none", "unwatched"} {
			target := roster.Target{Name: name, HealthURL: "http://x/health"}
			if name == "none" {
				target.HealthURL = ""
			}
			r.Targets = append(r.Targets, target)
			if name != "unwatched" {
				r.Watches = append(r.Watches, watch(probe.ID{Target: name, Probe: "a"}, time.Minute), watch(probe.ID{Target: name, Probe: "b"}, 10*time.Second))
			}
		}
		h.Apply(r)
		h.Apply(r) // changes nothing
		time.Sleep(100 * time.Second)
		r.Targets = r.Targets[1:]
		h.Apply(r)
		time.Sleep(100 * time.Second)
		h.Shutdown()
		h.Apply(r) // too late

		if got := sets["up"]; len(got) != 11 || got[0] != "true true" || got[10] != "false false" {
			t.Errorf("up: %v, want 10 answers and then unknown", got)
		}
		if got := sets["hangs"]; len(got) < 19 || got[0] != "false true" {
			t.Errorf("hangs: %v, want 20 answers or 19 and one under way", got)
		}
		for i, at := range asked["hangs"] {
			if d := at.Sub(asked["hangs"][0]); d != time.Duration(i)*10*time.Second {
				t.Fatalf("hangs: question %d after %s", i, d)
			}
		}
		if len(sets["none"])+len(sets["unwatched"]) != 0 {
			t.Errorf("targets without health or probe were asked: %v", sets)
		}
	})
}
