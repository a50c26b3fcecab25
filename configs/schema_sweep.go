package configs

import (
	"time"

	"gopkg.in/yaml.v3"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
	"tokprobe/probe/roster"
)

// sweep is one element of sweeps.
type sweep struct {
	roster.Sweep
	name    item
	targets []item
	models  []item
	prompt  *item
	slo     *item
	cronAt  node
	at      node
}

func (f *file) readSweep(n node) {
	s := &sweep{at: n, cronAt: n}
	s.Limits = probe.SweepLimits()
	s.Abort = roster.Abort{ErrorRatio: 0.2, TTFT: 10 * time.Second, BystanderTTFT: 5}
	s.MaxDuration, s.Arrival, s.Seed, s.Repeats = 30*time.Minute, "poisson", 1, 1
	var requestsAt, scenarioAt *node
	ok := n.object(keys{
		"name":         func(n node) { s.name = n.name() },
		"targets":      func(n node) { s.targets = n.words() },
		"models":       func(n node) { s.models = n.words() },
		"cron":         func(n node) { s.Cron, s.cronAt = n.line(), n },
		"timezone":     func(n node) { s.Zone = n.zone() },
		"scenario":     func(n node) { s.Scenario, scenarioAt = n.oneOf("T1", "T2", "T3", "T4"), &n },
		"prompt":       func(n node) { s.prompt = &item{n.line(), n} },
		"protocol":     func(n node) { s.Protocol = n.oneOf(protocols()...) },
		"ladder":       s.readLadder,
		"requests":     func(n node) { s.Requests, requestsAt = int(n.integer(1, 1_000_000)), &n },
		"repeats":      func(n node) { s.Repeats = int(n.integer(1, 16)) },
		"duration":     func(n node) { s.Duration = n.duration(time.Second, day) },
		"arrival":      func(n node) { s.Arrival = n.oneOf("poisson", "constant", "gamma") },
		"seed":         func(n node) { s.Seed = uint64(n.integer(0, 1<<53)) },
		"max_duration": func(n node) { s.MaxDuration = n.duration(time.Second, 7*day) },
		"slo":          func(n node) { s.slo = &item{n.line(), n} },
		"api_key_env":  func(n node) { s.KeyEnv = n.envName() },
		"locations":    func(n node) { n.list(false, func(n node) { s.Locations = append(s.Locations, n.name().text) }) },
		"timeouts":     func(n node) { n.limits(&s.Limits) },
		"abort":        s.readAbort,
		"thresholds":   s.readThresholds,
	}, "name", "targets", "cron", "ladder")
	if !ok {
		return
	}
	if s.Duration > 0 && requestsAt != nil {
		requestsAt.bad("", "duration is given too; a level ends by one of the two, keep one")
	}
	if s.prompt != nil && scenarioAt != nil {
		scenarioAt.bad(quote(s.Scenario), "prompt is given too; keep one of the two")
	}
	if s.prompt == nil && s.Scenario == "" && scenarioAt == nil {
		s.Scenario = "T2"
	}
	checkCron(s.cronAt, s.Cron, s.Zone)
	s.Name = s.name.text
	f.sweeps = append(f.sweeps, s)
}

func (s *sweep) readAbort(n node) {
	if n.y.Kind == yamlScalar && n.y.Value == "off" {
		n.show("off")
		s.Abort = roster.Abort{}
		return
	}
	n.object(keys{
		"error_ratio": func(n node) { s.Abort.ErrorRatio = n.ratio() },
		"ttft":        func(n node) { s.Abort.TTFT = n.duration(time.Millisecond, day) },
		"bystander_ttft": func(n node) {
			s.Abort.BystanderTTFT = n.number(1, "how many times its median the bystander's TTFT may be, 1 or more")
		},
	})
}

// readThresholds knows the names that package capacity knows.
func (s *sweep) readThresholds(n node) {
	known := keys{}
	for _, name := range capacity.ThresholdNames() {
		known[name] = func(n node) {
			if !n.is(yaml.ScalarNode, "a value such as 5%") {
				return
			}
			n.show(n.y.Value)
			if err := s.Thresholds.Set(name, n.y.Value); err != nil {
				n.bad("", "%v", err)
			}
		}
	}
	n.object(known)
}

func (s *sweep) readLadder(n node) {
	given := 0
	loads := func(mode string, low float64, want string) func(node) {
		return func(n node) {
			given++
			s.Mode, s.Ladder = mode, nil
			n.list(false, func(n node) {
				v := n.number(low, want)
				if v > 0 && mode == "concurrency" && v != float64(int(v)) {
					n.bad(quote(n.y.Value), "write %s", want)
				}
				s.Ladder = append(s.Ladder, v)
			})
			checkLadder(n, s.Ladder)
		}
	}
	ok := n.object(keys{
		"concurrency": loads("concurrency", 1, "a whole number of streams, 1 or more"),
		"rate":        loads("rate", 0.001, "requests per second, over 0"),
	})
	if ok && given != 1 {
		n.bad("", "write one of concurrency: [1, 4, 8] and rate: [0.5, 1, 2]")
	}
}

// checkLadder: at least two ascending levels, since a knee is a comparison.
func checkLadder(n node, loads []float64) {
	if len(loads) == 1 {
		n.bad("", "has one level, and a knee needs at least two; write [1, 4, 8]")
	}
	if len(loads) > 64 {
		n.bad("", "has %d levels; write at most 64", len(loads))
	}
	for i := 1; i < len(loads); i++ {
		if loads[i] > 0 && loads[i-1] > 0 && loads[i] <= loads[i-1] {
			n.bad("", "is out of order: %v comes after %v; write the loads ascending, each once", loads[i], loads[i-1])
			return
		}
	}
}
