package roster

import (
	"time"

	"tokprobe/probe"
)

// Forecast is what a roster costs on one UTC day, before anything is sent.
// Input tokens are estimated, output tokens the most that is allowed, minutes
// the most that the limits allow: real days cost less, never more by much.
type Forecast struct {
	Day     time.Time
	Targets []TargetForecast
	Probes  []ProbeForecast
	Sweeps  []SweepForecast
}

// Load is an amount of work a day.
type Load struct {
	Requests                  float64
	InputTokens, OutputTokens float64
	Minutes                   float64 // of requests in flight; of a sweep: its longest duration
	Money                     float64 // 0 without a price
}

// Tokens is input and output together, as budgets count them.
func (l Load) Tokens() float64 { return l.InputTokens + l.OutputTokens }

func (l *Load) add(m Load) {
	l.Requests += m.Requests
	l.InputTokens += m.InputTokens
	l.OutputTokens += m.OutputTokens
	l.Minutes += m.Minutes
	l.Money += m.Money
}

// ProbeForecast is the cost of one probe.
type ProbeForecast struct {
	ID probe.ID
	Load
}

// SweepForecast is the cost of one sweep. On a day without a run Load is 0.
type SweepForecast struct {
	Key        SweepKey
	Runs       int
	TokensEach float64 // of one run
	Load
}

// TargetForecast is the sum over a target against its budget.
type TargetForecast struct {
	Target         string
	Currency       string // empty without a price
	Probes, Sweeps Load
	Budget         Budget
}

// ProbesOver and SweepsOver say that the forecast exceeds the budget.
func (t TargetForecast) ProbesOver() bool {
	return t.Budget.ProbeTokensPerDay > 0 && t.Probes.Tokens() > float64(t.Budget.ProbeTokensPerDay)
}

// SweepsOver is the same for sweeps.
func (t TargetForecast) SweepsOver() bool {
	return t.Budget.SweepTokensPerDay > 0 && t.Sweeps.Tokens() > float64(t.Budget.SweepTokensPerDay)
}

// forecastDay stands for any day where only proportions count.
var forecastDay = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// ForecastDay forecasts the UTC day that holds t. A probe of an unreadable
// cron counts as never due; a validated roster has none.
func ForecastDay(r Roster, t time.Time) Forecast {
	from := t.UTC().Truncate(24 * time.Hour)
	f := Forecast{Day: from}
	targets := byName(r)
	sums := map[string]*TargetForecast{}
	for _, t := range r.Targets {
		sum := &TargetForecast{Target: t.Name, Budget: t.Budget}
		if t.Price != nil {
			sum.Currency = t.Price.Currency
		}
		sums[t.Name] = sum
	}
	for _, w := range r.Watches {
		p := ProbeForecast{w.ID, watchLoad(w, targets[w.ID.Target].Price, from)}
		f.Probes = append(f.Probes, p)
		if sum := sums[w.ID.Target]; sum != nil {
			sum.Probes.add(p.Load)
		}
	}
	for _, s := range r.Sweeps {
		p := sweepForecast(s, targets[s.Target].Price, from)
		f.Sweeps = append(f.Sweeps, p)
		if sum := sums[s.Target]; sum != nil {
			sum.Sweeps.add(p.Load)
		}
	}
	for _, t := range r.Targets {
		f.Targets = append(f.Targets, *sums[t.Name])
	}
	return f
}

func watchLoad(w Watch, price *Price, from time.Time) Load {
	n := float64(0)
	switch {
	case w.Cron != "":
		if s, err := ParseCron(w.Cron, w.Zone); err == nil {
			n = float64(FiringsIn(s, from, from.Add(24*time.Hour)))
		}
	case w.Every > 0:
		n = float64(24*time.Hour) / float64(w.Every)
	}
	l := Load{
		Requests:     n,
		InputTokens:  n * float64(EstimateInput(w.Spec.Prompt)),
		OutputTokens: n * float64(EstimateOutput(w.Spec.Prompt)),
		Minutes:      n * (w.Spec.Limits.Connect + w.Spec.Limits.Total).Minutes(),
	}
	l.price(price)
	return l
}

func (l *Load) price(p *Price) {
	if p != nil {
		l.Money = (l.InputTokens*p.Input + l.OutputTokens*p.Output) / 1e6
	}
}

func sweepForecast(s Sweep, price *Price, from time.Time) SweepForecast {
	f := SweepForecast{Key: s.Key()}
	if sched, err := ParseCron(s.Cron, s.Zone); err == nil {
		f.Runs = FiringsIn(sched, from, from.Add(24*time.Hour))
	}
	one := s.OneRun()
	f.TokensEach = one.Tokens()
	n := float64(f.Runs)
	f.Load = Load{Requests: n * one.Requests, InputTokens: n * one.InputTokens, OutputTokens: n * one.OutputTokens, Minutes: n * one.Minutes}
	f.Load.price(price)
	return f
}

// scenarioSize gives the input and output tokens of T1 to T4: the input of the
// longer language as EstimateInput counts it, rounded up.
func scenarioSize(name string) (in, out int) {
	switch name {
	case "T1":
		return 40, 16
	case "T3":
		return 200, 512
	case "T4":
		return 200, 2048
	}
	return 50, 64
}

// RateLevel is how long the arrivals of an open-loop level last if nothing else
// is said: its steady window must last 30 s and begins with the first answer.
const RateLevel = 45 * time.Second

// size is how many tokens the prompt and its answer have. A bound among the
// params of the target holds for scenarios, too.
func (s Sweep) size() (in, out int) {
	if s.Prompt != nil {
		return EstimateInput(*s.Prompt), EstimateOutput(*s.Prompt)
	}
	in, out = scenarioSize(s.Scenario)
	return in, EstimateOutput(probe.Prompt{Params: s.Params, MaxTokens: out})
}

// Answer is how long a forecast takes one answer to last: 20 ms a token and
// 0.2 s to the first, so 1.48 s for the 64 tokens of T2.
func (s Sweep) Answer() time.Duration {
	_, out := s.size()
	return 200*time.Millisecond + time.Duration(min(max(out, 0), 1e9))*20*time.Millisecond
}

// OneRun forecasts one run: for each level its requests (by rule max(20, 2·N)
// if the sweep does not say) plus a warm-up of one a stream, at most 8. With a
// duration a level asks rate × duration, or of N streams as many as answers of
// 20 ms a token and 0.2 s to the first fit in. Without either, a level of a
// rate lasts RateLevel, which is what its judgement needs.
func (s Sweep) OneRun() Load {
	in, out := s.size()
	l := Load{Minutes: s.MaxDuration.Minutes()}
	for _, load := range s.Ladder {
		streams := load
		if s.Mode == "rate" {
			streams = 1
		}
		n := max(20, 2*streams)
		if s.Mode == "rate" {
			n = max(20, load*RateLevel.Seconds())
		}
		if s.Requests > 0 {
			n = float64(s.Requests)
		}
		if s.Duration > 0 {
			n = load * s.Duration.Seconds()
			if s.Mode != "rate" {
				n /= s.Answer().Seconds()
			}
		}
		l.Requests += n + min(streams, 8)
	}
	l.InputTokens, l.OutputTokens = l.Requests*float64(in), l.Requests*float64(out)
	return l
}
