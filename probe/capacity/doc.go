// Package capacity is the mathematics of load sweeps: statistics of a level,
// its steady throughput, the state of every level and the knee, which wall was
// hit, a fitted Universal Scalability Law, a plan in instances, a comparison
// of two reports, the search for the most load, and the times of arrivals.
//
// Everything here is a pure function: no clock, no network, no files. Whoever
// drives the load (package sweep) builds one Sample from every probe.Result,
// one Level from the Samples of a level, one Report from the Levels, and has
// Assess fill in the judgement:
//
//	level := capacity.NewLevel(capacity.Run{Mode: capacity.Concurrency, Load: 8, Samples: samples})
//	report := capacity.Report{Mode: capacity.Concurrency, Levels: []capacity.Level{level}}
//	report.Assess(capacity.Settings{})
//
// Units: times of a Sample are durations since the level's clock started;
// latencies of a Level are milliseconds (its keys end in _ms), rates are per
// second, a duration of a Level is in seconds. What was not measured is
// absent, never 0.
package capacity
