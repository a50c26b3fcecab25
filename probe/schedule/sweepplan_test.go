package schedule

import (
	"testing"
	"time"

	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
	"tokprobe/probe/sim"
)

// TestSweepPlan: arrivals, cool-down and language of the roster reach the plan,
// and the conditions of its report.
func TestSweepPlan(t *testing.T) {
	sw := ladder("s")
	sw.Mode, sw.Arrival, sw.Burstiness, sw.CoolDown = "rate", "gamma", 0.5, -1
	sw.Scenario, sw.Language = "T2", "zh"
	stage(t, sim.Config{}, sweepRoster(sw), func(t *testing.T, s *stand) {
		p, err := s.sweeps.plan(sw, roster.Target{Name: "t"})
		if err != nil || p.Arrival != capacity.Gamma || p.Burstiness != 0.5 || p.CoolDown != -1 {
			t.Errorf("%v: %s arrivals of burstiness %g, cool-down %s; want gamma, 0.5, -1ns", err, p.Arrival, p.Burstiness, p.CoolDown)
		}
		time.Sleep(15 * time.Minute)
		c := s.log.last().Result.Report.Conditions
		if c.Scenario != "T2" || c.Language != "zh" || c.Arrival != "gamma" || c.Burstiness != 0.5 || !c.CoolDownS.OK || c.CoolDownS.V != 0 {
			t.Errorf("conditions %+v", c)
		}
	})
}
