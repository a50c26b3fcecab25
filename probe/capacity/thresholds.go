package capacity

import "time"

// Thresholds are the numbers behind every judgement. Zero means the default;
// where 0 itself is wanted, a tiny number says it. Set gives them by name.
type Thresholds struct {
	// FailureRatio and FailureCount: a level is failing above this share of
	// service failures and refusals, if there are at least so many. 0.01, 2.
	FailureRatio float64
	FailureCount int
	// Decline: overloaded below this gain over the best lower level. −0.02.
	Decline float64
	// TailGrowth: overloaded if tail TTFT grew by this factor over a level
	// that was saturated already. 2.
	TailGrowth float64
	// SaturatedEfficiency, SaturatedGain, MinStep: saturated below this
	// efficiency, or below this gain over a step of at least that factor.
	// 0.10, 0.05, 1.25.
	SaturatedEfficiency, SaturatedGain, MinStep float64
	// NearEfficiency: near saturation below. 0.8.
	NearEfficiency float64
	// Confirm: a bad level is no knee if a higher valid one delivers more
	// than its throughput by this much. 0.05.
	Confirm float64
	// SafetyFactor: recommended load / knee. 0.75.
	SafetyFactor float64
	// TailQuantile is the TTFT statistic behind TailGrowth. p95.
	TailQuantile string

	// MinWindow and MinWindowE2E: an open-loop window shorter than either
	// (the second in units of E2E P50 of the lowest level) is too short to
	// judge. 30 s, 5.
	MinWindow    time.Duration
	MinWindowE2E float64

	// LagShare and LagFloor: untrusted if our own lateness is over this share
	// of TTFT and over this floor. 0.1, 2 ms.
	LagShare float64
	LagFloor time.Duration
	// EarlyAnswers: flagged above this share of answers shorter than asked. 0.05.
	EarlyAnswers float64

	// QuotaTime: a quota is named only from levels at least this long. 60 s.
	QuotaTime time.Duration
	// Plateau: two rates within this share of one another are the same. 0.15.
	Plateau float64
	// QueueTTFT, DecodeTPOT: wall queue if TTFT P50 grew by the first factor
	// over the knee and TPOT P50 by less than the second, else wall decode if
	// TPOT did. 2, 1.25.
	QueueTTFT, DecodeTPOT float64
}

// Window is MinWindow, or its default.
func (t Thresholds) Window() time.Duration { return t.withDefaults().MinWindow }

// withDefaults fills in what is zero.
func (t Thresholds) withDefaults() Thresholds {
	for _, f := range []struct {
		v    *float64
		with float64
	}{
		{&t.FailureRatio, 0.01}, {&t.Decline, -0.02}, {&t.TailGrowth, 2},
		{&t.SaturatedEfficiency, 0.10}, {&t.SaturatedGain, 0.05}, {&t.MinStep, 1.25},
		{&t.NearEfficiency, 0.8}, {&t.Confirm, 0.05}, {&t.SafetyFactor, 0.75},
		{&t.MinWindowE2E, 5}, {&t.LagShare, 0.1}, {&t.EarlyAnswers, 0.05},
		{&t.Plateau, 0.15}, {&t.QueueTTFT, 2}, {&t.DecodeTPOT, 1.25},
	} {
		if *f.v == 0 {
			*f.v = f.with
		}
	}
	for _, f := range []struct {
		v    *time.Duration
		with time.Duration
	}{{&t.MinWindow, 30 * time.Second}, {&t.LagFloor, 2 * time.Millisecond}, {&t.QuotaTime, time.Minute}} {
		if *f.v == 0 {
			*f.v = f.with
		}
	}
	if t.FailureCount == 0 {
		t.FailureCount = 2
	}
	if t.TailQuantile == "" {
		t.TailQuantile = "p95"
	}
	return t
}
