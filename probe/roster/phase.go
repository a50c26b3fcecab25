package roster

import (
	"hash/fnv"
	"time"

	"tokprobe/probe"
)

// hash64 spreads strings over 64 bits, the same on every machine and in every
// version. FNV-1a alone leaves near equal names near each other in the high
// bits, which rendezvous hashing compares; the finaliser mixes them.
func hash64(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0}) // "a","bc" is not "ab","c"
	}
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}

// Phase is where in its interval a probe is due: in [0, every), fixed by its
// name. It survives restarts and reloads, and spreads 1,000 probes of 30 s to
// one every 30 ms on average.
func Phase(id probe.ID, every time.Duration) time.Duration {
	if every <= 0 {
		return 0
	}
	return time.Duration(hash64(id.Target, id.Model, id.Probe) % uint64(every))
}

// Next is the first moment after now at which a probe is due: the next t with
// unix(t) mod every = Phase. At a due moment itself it gives the one after, so
// that a tick which asks again never gets its own time back.
func Next(id probe.ID, every time.Duration, now time.Time) time.Time {
	if every <= 0 {
		return time.Time{}
	}
	ns := now.UnixNano()
	since := (ns - int64(Phase(id, every))) % int64(every)
	if since < 0 {
		since += int64(every)
	}
	return time.Unix(0, ns-since+int64(every)).In(now.Location())
}
