package probe

import "time"

// fullInterval is the interval from which on the default limits are not scaled.
const fullInterval = 30 * time.Second

// DefaultLimits are the limits of a probe that runs every so often: 5 s to connect,
// 10 to the first token, 8 of stall and 24 in total from 30 s on, linear below it, so that connect + total is always
// 29/30 of a short interval: at 3 s they are 0.5, 1, 0.8 and 2.4 s. An interval
// of 0 (unknown) gives the full ones.
func DefaultLimits(every time.Duration) Limits {
	full := Limits{Connect: 5 * time.Second, FirstToken: 10 * time.Second, Stall: 8 * time.Second, Total: 24 * time.Second}
	if every <= 0 || every >= fullInterval {
		return full
	}
	scale := func(d time.Duration) time.Duration {
		return time.Duration(int64(d/time.Second) * int64(every) / int64(fullInterval/time.Second))
	}
	return Limits{scale(full.Connect), scale(full.FirstToken), scale(full.Stall), scale(full.Total)}
}

// HandLimits are the limits of a probe that a human waits for.
func HandLimits() Limits {
	return Limits{Connect: 5 * time.Second, FirstToken: 30 * time.Second, Stall: 30 * time.Second, Total: 120 * time.Second}
}

// SweepLimits are the limits inside a sweep. Total is 0: the level's own
// deadline ends its requests.
func SweepLimits() Limits {
	return Limits{Connect: 5 * time.Second, FirstToken: 60 * time.Second, Stall: 30 * time.Second}
}
