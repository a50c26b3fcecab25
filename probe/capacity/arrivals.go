package capacity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Arrival says how the requests of an open loop are spread.
type Arrival string

// The closed list of arrivals.
const (
	Poisson  Arrival = "poisson"  // independent users
	Constant Arrival = "constant" // evenly
	Gamma    Arrival = "gamma"    // burstier (Burstiness < 1) or more even (> 1) than Poisson
)

// Arrivals describes the send times of one open-loop level.
type Arrivals struct {
	Kind       Arrival // empty means Poisson
	Rate       float64 // requests per second
	Requests   int
	Burstiness float64 // shape of the gamma distribution; 0 means 1, which is Poisson
	Seed       uint64
}

// Times computes when each request is due, as durations since the level's clock
// started, ascending. They are scaled so that the last is due at exactly
// Requests/Rate: the offered rate is the one asked for, whatever the luck of
// the seed, and lateness cannot add up because nothing depends on when earlier
// requests were really sent. The same description gives the same times.
//
// Constant, 4 requests at 2 a second: 0.5 s, 1 s, 1.5 s, 2 s.
func (a Arrivals) Times() ([]time.Duration, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(a.Seed, 0x746f6b70726f6265))
	at := make([]float64, a.Requests)
	sum := 0.0
	for i := range at {
		sum += a.gap(rng)
		at[i] = sum
	}
	span := float64(a.Requests) / a.Rate
	times := make([]time.Duration, len(at))
	for i := range at {
		times[i] = time.Duration(math.Round(at[i] / sum * span * float64(time.Second)))
	}
	return times, nil
}

func (a Arrivals) check() error {
	switch {
	case !finite(a.Rate) || a.Rate <= 0:
		return fmt.Errorf("rate %g: want requests per second above 0", a.Rate)
	case a.Requests <= 0:
		return fmt.Errorf("%d requests: want at least 1", a.Requests)
	case !finite(a.Burstiness) || a.Burstiness < 0:
		return fmt.Errorf("burstiness %g: want a number above 0 (1 is Poisson, less is burstier)", a.Burstiness)
	case float64(a.Requests)/a.Rate > math.MaxInt64/2/float64(time.Second):
		return fmt.Errorf("%d requests at %g a second take longer than a clock can count", a.Requests, a.Rate)
	}
	switch a.Kind {
	case "", Poisson, Constant, Gamma:
		return nil
	}
	return fmt.Errorf("arrival %q: want %s, %s or %s", a.Kind, Poisson, Constant, Gamma)
}

// gap draws the time to the next arrival, in units that Times scales away.
func (a Arrivals) gap(rng *rand.Rand) float64 {
	switch {
	case a.Kind == Constant:
		return 1
	case a.Kind == Gamma && a.Burstiness > 0:
		return gammaDraw(rng, a.Burstiness)
	}
	return rng.ExpFloat64()
}

// gammaDraw draws from a gamma distribution of the given shape and scale 1, by
// the method of Marsaglia and Tsang (2000): a cubed normal, accepted where it
// lies under the density. A shape under 1 is drawn one higher and corrected by
// a power of a uniform number.
func gammaDraw(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gammaDraw(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
