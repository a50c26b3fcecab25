package exporter

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"tokprobe/probe"
	"tokprobe/probe/roster"
	"tokprobe/probe/slo"
)

// maxTokens is the most tokens one probe can be billed for. A count beyond it,
// or a negative one, is a lie of the endpoint and is not added to a counter
// that money is computed from.
const maxTokens = 1_000_000_000

// due records that a tick was started or skipped.
func (s *state) recordDue(t probe.Tick) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Skip == probe.NotSkipped {
		s.due++
		s.started++
		return
	}
	i := slices.Index(probe.SkipReasons(), t.Skip)
	if i < 0 {
		return // no reason of the closed list: counting it as due would break due = started + skipped
	}
	s.due++
	s.skips[i]++
	if t.Skip == probe.SkipOverlap && s.watch.AllowOverlap {
		s.waiting++
	}
}

// recordDone records a finished probe.
func (s *state) recordDone(t probe.Tick, now time.Time) {
	r := t.Result
	i := slices.Index(probe.Outcomes(), r.Outcome)
	if i < 0 {
		i = slices.Index(probe.Outcomes(), probe.Internal)
		r.Outcome = probe.Internal
		t.Result = r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[i]++
	s.recordEvents(r)
	s.recordTokens(r)
	s.recordVerdicts(t)
	s.recordLast(t, now)
	s.recent[s.finished%recentSize] = r.Kind() == probe.KindService && !t.Maintenance
	s.finished++
	if r.Outcome == probe.OK && !r.LagSuspect && !t.Bystander && !t.Maintenance {
		s.recordLatencies(r, now)
	}
}

func (s *state) recordEvents(r probe.Result) {
	if r.LagSuspect {
		s.lagSuspect++
	}
	if r.Coalesced {
		s.coalesced++
	}
	if r.CacheSuspect {
		s.cacheSuspect++
	}
	if r.StaleConnections > 0 {
		s.stale += uint64(r.StaleConnections)
	}
	cache := s.watch.Spec.Prompt.Cache
	if n, ok := tokenCount(r.PromptTokens); ok && (cache == "" || cache == probe.CacheBust) {
		if before, known := s.promptTokens.Get(); known && before != n {
			s.promptChanged++
		}
		s.promptTokens = probe.Some(n)
	}
}

func tokenCount(o probe.Opt[int64]) (int64, bool) {
	n, ok := o.Get()
	return n, ok && n >= 0 && n <= maxTokens
}

// recordTokens adds what was billed, failures included.
func (s *state) recordTokens(r probe.Result) {
	var n [4]int64
	for i, o := range []probe.Opt[int64]{r.PromptTokens, r.OutputTokens, r.ReasoningTokens, r.CachedTokens} {
		if v, ok := tokenCount(o); ok {
			n[i] = v
			s.tokens[i] += uint64(v)
		}
	}
	if s.price != nil {
		s.cost += cost(*s.price, n[0], n[1], n[3])
	}
}

// cost returns money for tokens. Cached tokens are part of the input and have
// a price of their own if one is configured: at 3 and 0.3 a million, 10,000
// input tokens of which 8,000 were cached cost 2,000·3/1e6 + 8,000·0.3/1e6 =
// 0.0084.
func cost(p roster.Price, input, output, cached int64) float64 {
	cached = min(cached, input)
	cachedPrice := p.Input
	if p.Cached != nil {
		cachedPrice = *p.Cached
	}
	return (float64(input-cached)*p.Input + float64(cached)*cachedPrice + float64(output)*p.Output) / 1e6
}

// recordVerdicts counts the probe once, and once more for each overlap skip
// that waited for it.
func (s *state) recordVerdicts(t probe.Tick) {
	n := 1 + s.waiting
	s.waiting = 0
	for i := range s.slos {
		o := &s.slos[i]
		o.counts[slices.Index(slo.Verdicts(), o.slo.VerdictOfTick(o.objective, t))] += n
	}
}

func (s *state) recordLast(t probe.Tick, now time.Time) {
	r := t.Result
	s.lastRun = r.Start
	if s.lastRun.IsZero() {
		s.lastRun = t.Started
	}
	if s.lastRun.IsZero() {
		s.lastRun = now
	}
	if r.Outcome == probe.OK {
		s.lastSuccess = s.lastRun
	}
	r.Text, r.ReasoningText, r.Gaps = "", "", nil
	r.ID = s.watch.ID
	s.last = &r
	s.history.add(&r, s.keep)
}

func (s *state) recordLatencies(r probe.Result, now time.Time) {
	exemplar := func(v time.Duration) *dto.Exemplar { return exemplarOf(r.RequestID, v, now) }
	if v, ok := r.TTFT.Get(); ok {
		s.ttft.observe(v.Seconds(), now, exemplar(v))
	}
	if v, ok := r.FirstContent.Get(); ok {
		s.firstContent.observe(v.Seconds(), now, nil)
	}
	if v, ok := r.E2E.Get(); ok {
		s.e2e.observe(v.Seconds(), now, exemplar(v))
	}
	if v, ok := slo.Latency(slo.TPOT, r).Get(); ok {
		s.tpot.observe(v.Seconds(), now, nil)
	}
	for _, v := range r.Gaps {
		s.gap.observe(v.Seconds(), now, nil)
	}
	s.window.add(r, now)
}

// maxExemplar is how many characters of a request id an exemplar carries: the
// format allows 128 for names and values together.
const maxExemplar = 100

// exemplarOf returns nil without a request id. The id comes from an endpoint:
// it is cut, and a byte that is no text would make the whole page invalid.
func exemplarOf(id string, v time.Duration, now time.Time) *dto.Exemplar {
	if id == "" {
		return nil
	}
	id = strings.ToValidUTF8(id, "")
	if utf8.RuneCountInString(id) > maxExemplar {
		id = string([]rune(id)[:maxExemplar])
	}
	return &dto.Exemplar{
		Label:     []*dto.LabelPair{{Name: new("request_id"), Value: &id}},
		Value:     new(v.Seconds()),
		Timestamp: timestamppb.New(now),
	}
}
