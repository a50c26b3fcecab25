package capacity

import (
	"fmt"
	"slices"
	"time"
)

// audit asks whether our own lateness could explain the TTFT that was seen. Of
// every sample, lateness is the largest sentinel delay up to the first token
// and, in an open loop, how late the request was sent. A level is untrusted if
// the P50 (or P95) of that is over a tenth of the P50 (or P95) of TTFT: 25 ms
// beside a TTFT of 200 ms. Lateness under Thresholds.LagFloor counts as none.
func (l *Level) audit(samples []Sample, th Thresholds) {
	var lag, late []float64
	for _, s := range samples {
		if s.Cut {
			continue
		}
		own := s.ClientLag
		lag = append(lag, millis(own))
		if l.Mode == Rate {
			own += max(0, s.Sent-s.Intended)
		}
		late = append(late, millis(own))
	}
	slices.Sort(lag)
	l.ClientLagP99MS = Quantile(lag, 0.99)
	ttft, own := l.Stats[TTFT], Summarize(late)
	if ttft.N == 0 {
		return
	}
	for _, q := range []struct {
		name       string
		late, ttft float64
	}{{"P50", own.P50, ttft.P50}, {"P95", own.P95, ttft.P95}} {
		if q.late > millis(th.LagFloor) && q.late > th.LagShare*q.ttft {
			l.Trusted = false
			l.Warnings = append(l.Warnings, fmt.Sprintf("our own lateness (%s %s) could explain over %g %% of TTFT (%s %s): not to be trusted",
				q.name, showMS(q.late), 100*th.LagShare, q.name, showMS(q.ttft)))
			return
		}
	}
}

// showMS prints milliseconds as people write them: 820 ms, 3.4 s.
func showMS(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2g ms", ms)
}
