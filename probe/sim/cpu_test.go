package sim

import (
	"slices"
	"syscall"
	"time"
)

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func percentile(list []time.Duration, q float64) time.Duration {
	slices.Sort(list)
	return list[int(q*float64(len(list)-1))]
}
