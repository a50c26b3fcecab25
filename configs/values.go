package configs

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads Go's duration syntax plus d (24 h) and w (7 d): 1.5s,
// 1h30m, 30d, 1w2d. Negative durations are refused.
func ParseDuration(s string) (time.Duration, error) {
	const mend = "write a duration such as 500ms, 30s, 5m, 12h, 30d or 2w"
	if s == "0" {
		return 0, nil
	}
	if strings.HasPrefix(s, "-") {
		return 0, errors.New("is negative; " + mend)
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, errors.New("has no unit; " + mend)
	}
	total, rest := 0.0, s
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits <= 0 {
			return 0, errors.New("is no duration; " + mend)
		}
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, errors.New("is no duration; " + mend)
		}
		rest = rest[digits:]
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		if end < 0 {
			end = len(rest)
		}
		unit, ok := unitOf(rest[:end])
		if !ok {
			return 0, errors.New("has an unknown unit; " + mend)
		}
		total += n * float64(unit)
		rest = rest[end:]
	}
	if s == "" {
		return 0, errors.New("is empty; " + mend)
	}
	if total > math.MaxInt64/2 {
		return 0, errors.New("is too long; " + mend)
	}
	return time.Duration(math.Round(total)), nil
}

func unitOf(s string) (time.Duration, bool) {
	switch s {
	case "ns":
		return time.Nanosecond, true
	case "us", "µs", "μs":
		return time.Microsecond, true
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return 24 * time.Hour, true
	case "w":
		return 7 * 24 * time.Hour, true
	}
	return 0, false
}

// ParseRatio reads "99.5%" or 0.995, both strictly between nothing and all: a
// promise of 100 % has no budget to burn, one of 0 % promises nothing. A bare
// 99.5 is refused, since nobody can tell which of the two was meant.
func ParseRatio(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	number = strings.TrimSpace(number)
	if percent && !strings.ContainsAny(number, "eExX") {
		number += "e-2" // 99.9e-2 is 0.999; 99.9/100 is 0.9990000000000001
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("is no ratio; write 99.5% or 0.995")
	}
	if !percent && v > 1 {
		return 0, errors.New("is over 1; write " + strconv.FormatFloat(min(v, 99.9), 'f', -1, 64) + "% or a ratio such as 0.995")
	}
	switch {
	case v <= 0:
		return 0, errors.New("promises nothing; write 99.5% or 0.995")
	case v >= 1:
		return 0, errors.New("leaves no error budget, every failure would page; write 99.9% or less")
	}
	return v, nil
}

// FormatDuration writes d as ParseDuration reads it, in the fewest units: 30d,
// 1h30m, 1.5s.
func FormatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
