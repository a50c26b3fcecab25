package roster

import (
	"time"
)

// Expected is how many probes a watch makes within a window: what an SLO over
// it has to judge by.
func Expected(w Watch, window time.Duration) float64 {
	if gap := w.Gap(); gap > 0 {
		return float64(window) / float64(gap)
	}
	return 0
}

// Gap is the time between two probes of a watch; of a cron the average over
// four weeks. 0 is unknown.
func (w Watch) Gap() time.Duration {
	if w.Cron == "" {
		return w.Every
	}
	s, err := ParseCron(w.Cron, w.Zone)
	if err != nil {
		return 0
	}
	const weeks = 28 * 24 * time.Hour
	n := FiringsIn(s, forecastDay, forecastDay.Add(weeks))
	if n == 0 {
		return weeks
	}
	return weeks / time.Duration(n)
}
