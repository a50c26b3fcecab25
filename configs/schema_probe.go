package configs

import (
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// schedule is one element of probes.
type schedule struct {
	name     item
	prompt   *item
	every    time.Duration
	everyAt  *node
	cron     string
	cronAt   *node
	zone     string
	zoneAt   *node
	targets  []item
	models   []item
	protocol string
	limits   probe.Limits
	limitsAt node
	overlap  bool
	reuse    *bool
	slos     []item
	at       node
}

func (f *file) readProbe(n node) {
	s := &schedule{at: n, limitsAt: n}
	slos := func(n node) {
		if s.slos != nil {
			n.bad("", "slo and slos are the same; keep one")
		}
		s.slos = append(s.slos, n.words()...)
	}
	ok := n.object(keys{
		"name":          func(n node) { s.name = n.name() },
		"prompt":        func(n node) { s.prompt = &item{n.line(), n} },
		"every":         func(n node) { s.every, s.everyAt = n.duration(minEvery, 31*day), &n },
		"cron":          func(n node) { s.cron, s.cronAt = n.line(), &n },
		"timezone":      func(n node) { s.zone, s.zoneAt = n.zone(), &n },
		"targets":       func(n node) { s.targets = n.words() },
		"models":        func(n node) { s.models = n.words() },
		"protocol":      func(n node) { s.protocol = n.oneOf(protocols()...) },
		"timeouts":      func(n node) { s.limitsAt = n; n.limits(&s.limits) },
		"allow_overlap": func(n node) { s.overlap = n.boolean() },
		"connection": func(n node) {
			reuse := n.oneOf("fresh", "reuse") == "reuse"
			s.reuse = &reuse
		},
		"slo":  slos,
		"slos": slos,
	}, "name")
	if !ok {
		return
	}
	s.checkClock()
	f.probes = append(f.probes, s)
}

// checkClock sees to it that exactly one of every and cron is given.
func (s *schedule) checkClock() {
	switch {
	case s.everyAt == nil && s.cronAt == nil:
		s.at.bad("", "says not when to run; write every: 30s or cron: \"*/5 * * * *\"")
	case s.everyAt != nil && s.cronAt != nil:
		s.cronAt.bad(quote(s.cron), "every is given too; keep one of the two")
	case s.everyAt != nil && s.zoneAt != nil:
		s.zoneAt.bad(quote(s.zone), "only a cron has a time zone; remove it")
	case s.cronAt != nil && !checkCron(*s.cronAt, s.cron, s.zone):
		s.cron = ""
	}
}

func (n node) limits(l *probe.Limits) {
	n.object(keys{
		"connect":     func(n node) { l.Connect = n.duration(time.Millisecond, maxLimit) },
		"first_token": func(n node) { l.FirstToken = n.duration(time.Millisecond, maxLimit) },
		"stall":       func(n node) { l.Stall = n.duration(time.Millisecond, maxLimit) },
		"total":       func(n node) { l.Total = n.duration(time.Millisecond, maxLimit) },
	})
}

// gap is the shortest time between two runs; 0 if it is not known.
func (s *schedule) gap() time.Duration {
	if s.cron == "" {
		return s.every
	}
	sched, err := roster.ParseCron(s.cron, s.zone)
	if err != nil {
		return 0
	}
	return roster.MinGap(sched)
}
