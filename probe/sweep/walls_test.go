package sweep

import (
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/sim"
)

// TestQuotas: every quota is named, and the sweep leaves the endpoint alone
// for a minute after each level that was refused.
func TestQuotas(t *testing.T) {
	engine := sim.Engine{Slots: 64, PrefillRate: 1e12, Decode: 10 * ms, DecodeSlope: 1}
	for want, quota := range map[capacity.WallName]sim.Quota{
		capacity.TPMQuota:         {TPM: 30_000},
		capacity.RPMQuota:         {RPM: 400},
		capacity.ConcurrencyLimit: {Concurrency: 4},
	} {
		t.Run(string(want), func(t *testing.T) {
			simulate(t, sim.Config{Engine: engine, Quota: quota}, func(t *testing.T, w world) {
				p := plan(capacity.Concurrency, 1, 2, 8)
				p.Duration = 90 * time.Second
				began := time.Now()
				result, err := Run(t.Context(), p, Env{Endpoint: w.endpoint})
				if err != nil {
					t.Fatal(err)
				}
				r := result.Report
				from := walls(r)[want]
				if from == 0 || len(r.Limits) != 1 {
					t.Fatalf("limits %+v, want %s", r.Limits, want)
				}
				t.Logf("%s", r.Limits[0].Evidence)
				if result.HoldOff < time.Minute {
					t.Errorf("hold off %v after a refusal, want a minute at least", result.HoldOff)
				}
				// Three levels of 90 s and a cool-down after each refused one but the last.
				least := 3*90*time.Second + 2*5*time.Second
				for _, l := range r.Levels[:2] {
					if l.Outcomes[probe.RateLimited] > 0 {
						least += 55 * time.Second
					}
				}
				if took := time.Since(began); took < least || took > least+2*time.Minute {
					t.Errorf("the sweep took %v, want %v or little more", took, least)
				}
			})
		})
	}
}

// TestRefusedStreamsWait: 8 streams that are refused at once ask at most once
// a second each, not as fast as they can.
func TestRefusedStreamsWait(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted(), Faults: []sim.Faults{{ErrorRate: 1, ErrorClass: "http_429"}}}, func(t *testing.T, w world) {
		p := plan(capacity.Concurrency, 8)
		p.Duration = 10 * time.Second
		result, err := Run(t.Context(), p, Env{Endpoint: w.endpoint})
		if err != nil {
			t.Fatal(err)
		}
		if l := result.Report.Levels[0]; l.Outcomes[probe.RateLimited] != 80 || l.State != capacity.Failing {
			t.Errorf("%v in 10 s, %s: want 80 refusals", l.Outcomes, l.State)
		}
	})
}

// TestErrorsWall.
func TestErrorsWall(t *testing.T) {
	cfg := sim.Config{Engine: slotted(), Seed: 3, Faults: []sim.Faults{{ErrorRate: 0.2, ErrorClass: "http_500"}}}
	r := sweepOf(t, cfg, plan(capacity.Concurrency, 1, 2)).Report
	if walls(r)[capacity.Errors] != 1 || r.Knee.Reached {
		t.Errorf("limits %+v, knee %+v, want errors from 1 on", r.Limits, r.Knee)
	}
}

// TestServerMetrics: the simulator's page is read during the level. At 4
// streams one may be waiting for the next step of the engine.
func TestServerMetrics(t *testing.T) {
	simulate(t, sim.Config{Engine: slotted()}, func(t *testing.T, w world) {
		env := Env{Endpoint: w.endpoint, ServerMetrics: pageOf(w)}
		result, err := Run(t.Context(), plan(capacity.Concurrency, 4, 16), env)
		if err != nil {
			t.Fatal(err)
		}
		for i, least := range []float64{0, 11} {
			got := result.Report.Levels[i].Server
			if got == nil || got.RunningMax != probe.Some(4.0) || got.WaitingMax.V < least || got.WaitingMax.V > least+1 || !got.KVUseMax.OK || got.Preemptions != probe.Some(0.0) {
				t.Errorf("level %d: %+v, want 4 running and %g or one more waiting", i, got, least)
			}
		}
	})
}
