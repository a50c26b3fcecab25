// Package sweep drives load ladders: it applies each load to an endpoint in a
// closed loop (so many streams in flight) or an open one (so many requests a
// second, whether or not earlier ones were answered), keeps every request as a
// capacity.Sample, and has package capacity judge what came of it.
//
//	result, err := sweep.Run(ctx, sweep.Plan{
//		Model: "m", Mode: capacity.Concurrency, Ladder: []float64{1, 2, 4, 8},
//		Prompts: []probe.Prompt{prompt},
//	}, sweep.Env{Endpoint: endpoint})
//
// One level goes like this. Warm-up: one request a stream, at most 8, not
// counted. Connections: as many as will be needed, opened at the same time.
// The clock starts; a closed loop spreads the starts of its streams over about
// one request, an open loop sends at times that were computed beforehand. The
// last answers are waited for, at most until the level's deadline. Then a
// cool-down: 5 s, or after a refusal (429) at least a minute.
//
// Whatever ends a sweep early (its context, a limit, the fuse) ends it with
// what was learned: Run returns the report of the levels so far and says in
// Report.Aborted why there are no more.
package sweep
