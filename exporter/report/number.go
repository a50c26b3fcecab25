package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/capacity"
)

// absent stands where nothing was measured.
const absent = "-"

// number prints three to four significant digits: 0.293, 2.1, 41.2, 820.4,
// 3400. A small number is never rounded to 0.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return absent
	case a == 0:
		return "0"
	case a < 0.0995:
		return strconv.FormatFloat(round3(v), 'f', -1, 64)
	case a < 0.9995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 999.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// round3 rounds to three significant digits.
func round3(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}

func optNumber(v probe.Opt[float64]) string {
	if !v.OK {
		return absent
	}
	return number(v.V)
}

// whole prints a rounded number.
func whole(v probe.Opt[float64]) string {
	if !v.OK || math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return absent
	}
	if v.V > 0 && v.V < 100 {
		return number(v.V)
	}
	return strconv.FormatFloat(v.V, 'f', 0, 64)
}

// percent prints a share with one decimal. Only all is 100 % and only nothing
// 0 %: 0.9996 is 99.9 %.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return absent
	}
	p := math.Round(1000*v) / 10
	switch {
	case v > 0 && p < 0.1:
		p = 0.1
	case v < 1 && p >= 100:
		p = 99.9
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + "%"
}

func optPercent(v probe.Opt[float64]) string {
	if !v.OK {
		return absent
	}
	return percent(v.V)
}

// held prints a share that is compared with a promise, rounded down: 99.46 % is
// 99.4 %, since 99.5 % would look like kept.
func held(v float64) string {
	if down := math.Floor(1000*v+1e-9) / 1000; down > 0 {
		return percent(down)
	}
	return percent(v)
}

func optHeld(v probe.Opt[float64]) string {
	if !v.OK {
		return absent
	}
	return held(v.V)
}

// load prints a load as the shortest decimal: 8, 0.5.
func load(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return absent
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func optLoad(v probe.Opt[float64]) string {
	if !v.OK {
		return absent
	}
	return load(v.V)
}

// loadWords names a load with its unit: "8 streams in flight", "0.5 requests/s".
func loadWords(v float64, m capacity.Mode) string {
	switch {
	case m == capacity.Rate:
		return load(v) + " requests/s"
	case v == 1:
		return "1 stream in flight"
	}
	return load(v) + " streams in flight"
}

// took prints how long a sweep ran: 12m 3s.
func took(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh %dm %ds", h, m, s)
	case m > 0:
		return fmt.Sprintf("%dm %ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}
