// Package schedule runs the watches of a roster. gocron fires a tick at each
// due moment; the tick's task only counts, asks admit, and hands the tick to
// the watch's own worker, so it never blocks. A worker is busy while its probe
// runs, owns its context and recovers its panics. There is no limit over
// watches: a slow target delays nobody else.
//
// # Due moments
//
// A watch with an interval is due at every t with unix(t) mod every =
// hash(target, model, probe) mod every: the same after a restart, spread over
// the interval for many watches. Due is that grid point, never the moment the
// timer got to run, so lateness does not add up. A watch with a cron is due
// when its cron says so, in its zone.
//
// Every due moment is recorded exactly once as started or skipped: due =
// started + skipped. If this process could not run for a while (stopped,
// starved) and a tick comes late by some grid points, the earliest runs with
// its true lateness (Started − Due) and the others are skips with reason
// overlap: they came due while it was still waiting. 95 s late at 30 s is one
// start and three skips.
//
// Timers follow the monotonic clock. A step of the wall clock (or a machine
// that slept, during which the monotonic clock stands still) neither drops nor
// doubles a tick: the heartbeat sees it within a second and puts every watch
// back onto the grid of the new wall time. Moments the wall clock jumped over
// were never due.
package schedule
