package configs

import (
	"slices"
	"strconv"
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
	places  sweepPlaces
}

// sweepPlaces are where keys stand that others are checked against; nil where
// the key is not given.
type sweepPlaces struct {
	ladder, requests, duration, longest *node
	scenario, lang, arrival, burstiness *node
}

func (f *file) readSweep(n node) {
	s := &sweep{at: n, cronAt: n}
	s.Limits = probe.SweepLimits()
	s.Abort = roster.Abort{ErrorRatio: 0.2, TTFT: 10 * time.Second, BystanderTTFT: 5}
	s.MaxDuration, s.Arrival, s.Seed, s.Repeats = 30*time.Minute, "poisson", 1, 1
	at := &s.places
	ok := n.object(keys{
		"name":     func(n node) { s.name = n.name() },
		"targets":  func(n node) { s.targets = n.words() },
		"models":   func(n node) { s.models = n.words() },
		"cron":     func(n node) { s.Cron, s.cronAt = n.line(), n },
		"timezone": func(n node) { s.Zone = n.zone() },
		"scenario": func(n node) { s.Scenario, at.scenario = n.oneOf("T1", "T2", "T3", "T4"), &n },
		"lang":     func(n node) { s.Language, at.lang = n.oneOf(roster.Languages()...), &n },
		"prompt":   func(n node) { s.prompt = &item{n.line(), n} },
		"protocol": func(n node) { s.Protocol = n.oneOf(protocols()...) },
		"ladder":   func(n node) { s.readLadder(n); at.ladder = &n },
		"requests": func(n node) { s.Requests, at.requests = int(n.integer(1, 1_000_000)), &n },
		"repeats":  func(n node) { s.Repeats = int(n.integer(1, 16)) },
		"duration": func(n node) { s.Duration, at.duration = n.duration(time.Second, day), &n },
		"arrival":  func(n node) { s.Arrival, at.arrival = n.oneOf("poisson", "constant", "gamma"), &n },
		"burstiness": func(n node) {
			s.Burstiness, at.burstiness = n.number(0.01, "a number over 0, at least 0.01, such as 0.5"), &n
		},
		"seed":         func(n node) { s.Seed = uint64(n.integer(0, 1<<53)) },
		"cool_down":    s.readCoolDown,
		"max_duration": func(n node) { s.MaxDuration, at.longest = n.duration(time.Second, 7*day), &n },
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
	s.checkPrompt()
	s.checkArrival()
	s.checkRequests()
	checkCron(s.cronAt, s.Cron, s.Zone)
	s.Name = s.name.text
	f.sweeps = append(f.sweeps, s)
}

// readCoolDown: 0s is asked for and means none, which 0 would not say.
func (s *sweep) readCoolDown(n node) {
	before := len(n.w.problems)
	s.CoolDown = n.duration(0, day)
	if s.CoolDown == 0 && len(n.w.problems) == before {
		s.CoolDown = -1
	}
}

// checkPrompt completes what is asked: T2 in English if nothing is said.
func (s *sweep) checkPrompt() {
	at := s.places
	switch {
	case s.prompt != nil && at.scenario != nil:
		at.scenario.bad(quote(s.Scenario), "prompt is given too; keep one of the two")
	case s.prompt != nil && at.lang != nil:
		at.lang.bad(quote(s.Language), "prompt is given, which is in whatever language it is written; remove lang, or write scenario instead of prompt")
	}
	if s.prompt != nil {
		return
	}
	if at.scenario == nil {
		s.Scenario = "T2"
	}
	if at.lang == nil {
		s.Language = roster.Languages()[0]
	}
}

// checkArrival: gamma without a shape would be Poisson, and the other arrivals
// have none.
func (s *sweep) checkArrival() {
	at := s.places
	switch {
	case s.Mode == "concurrency" && at.arrival != nil:
		at.arrival.warn(quote(s.Arrival), "shapes the requests of a rate; streams send their next request when their last one ended; remove it, or write ladder: {rate: […]}")
	case s.Arrival == "gamma" && at.burstiness == nil:
		at.arrival.bad(quote(s.Arrival), "arrival gamma needs burstiness: below 1 is burstier than Poisson, 1 is Poisson; write burstiness: 0.5")
	case at.burstiness != nil && s.Arrival != "gamma" && s.Arrival != "":
		at.burstiness.bad("", "shapes gamma arrivals, and these are %s; write arrival: gamma or remove it", s.Arrival)
	}
}

// checkRequests: a level ends by one of requests and duration, and each stream
// gets at least one request, as the sweep itself demands. Under two a stream
// the report flags the level.
func (s *sweep) checkRequests() {
	at := s.places.requests
	if at == nil || s.Requests == 0 {
		return
	}
	if s.Duration > 0 {
		at.bad("", "duration is given too; a level ends by one of the two, keep one")
		return
	}
	if s.Mode != "concurrency" || len(s.Ladder) == 0 {
		return
	}
	n, most := strconv.Itoa(s.Requests), slices.Max(s.Ladder)
	switch {
	case float64(s.Requests) < most:
		at.bad(n, "is fewer than the %.0f streams of the ladder, some of which would have none, so every run would fail; write at least %.0f, better %.0f, or end the ladder at %s", most, 2*most, 4*most, n)
	case float64(s.Requests) < 2*most:
		at.warn(n, "is under 2 a stream at %.0f streams, where ramp and drain weigh heavily (few_requests); write at least %.0f", most, 2*most)
	}
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
