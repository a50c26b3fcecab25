package capacity

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tokprobe/probe"
)

// What refusals are known to say.
var (
	saysTokens      = regexp.MustCompile(`(?i)\btokens?[ _-]?(per|/|a)[ _-]?(min|day)|\b[io]?TPM\b|\btokens?\b.{0,20}\b(quota|limit)|每分钟.{0,8}token|token.{0,8}每分钟`)
	saysRequests    = regexp.MustCompile(`(?i)\brequests?[ _-]?(per|/|a)[ _-]?(min|sec|day)|\b[RQ]PM\b|\b[RQ]PS\b|\brequests?\b.{0,20}\bquota|每分钟.{0,8}请求|请求.{0,4}(频率|次数)`)
	saysConcurrency = regexp.MustCompile(`(?i)concurren|\bparallel|simultaneous|in[- ]flight|并发`)
)

// refusalWall reads the levels with too many 429s. In this order: a message
// that speaks of concurrency, of tokens or of requests; headers that tell which
// budget was used up or which stated limit was met; a constant number of
// accepted requests in flight at every refusal.
// A quota is a number per minute: it is named only from levels of at least
// QuotaTime. What cannot be told apart is wall errors and says so.
func refusalWall(levels []Level, _ Knee, th Thresholds) (Wall, bool) {
	var hit []Level
	for _, l := range levels {
		if l.Throttle != nil && th.failing(l.Outcomes[probe.RateLimited], l.Completed+l.Failed) {
			hit = append(hit, l)
		}
	}
	if len(hit) == 0 {
		return Wall{}, false
	}
	w := Wall{FromLoad: probe.Some(hit[0].Load)}
	start := fmt.Sprintf("429 from level %g on", hit[0].Load)
	if text, ok := messageOf(hit, saysConcurrency); ok {
		w.Limit, w.Evidence = ConcurrencyLimit, fmt.Sprintf("%s%s: %q", start, flyingText(hit), text)
		return w, true
	}
	quota, why := quotaOf(hit, th)
	if quota == "" {
		if flyingText(hit) != "" {
			w.Limit, w.Evidence = ConcurrencyLimit, start+flyingText(hit)
			return w, true
		}
		w.Limit, w.Evidence = Errors, start+acceptedText(hit, "")+"; neither its text nor its headers tell which limit"
		return w, true
	}
	long := longLevels(hit, th)
	if len(long) == 0 {
		w.Limit = Errors
		w.Evidence = fmt.Sprintf("%s; %s, but no such level lasted %s, which a quota per minute takes to be known", start, why, th.QuotaTime)
		return w, true
	}
	w.Limit, w.Evidence = quota, start+acceptedText(long, quota)+"; "+why
	return w, true
}

// quotaOf tells a token quota from a request quota, with the reason; empty if
// nothing tells.
func quotaOf(hit []Level, th Thresholds) (WallName, string) {
	tokenText, tokens := messageOf(hit, saysTokens)
	requestText, requests := messageOf(hit, saysRequests)
	switch {
	case tokens && !requests:
		return TPMQuota, fmt.Sprintf("it said %q", tokenText)
	case requests && !tokens:
		return RPMQuota, fmt.Sprintf("it said %q", requestText)
	}
	for _, l := range hit { // a budget that was used up
		t := l.Throttle
		tokens, requests := left(t.RemainingTokens, t.LimitTokens), left(t.RemainingRequests, t.LimitRequests)
		const usedUp = 0.1
		switch {
		case tokens <= usedUp && tokens < requests:
			return TPMQuota, fmt.Sprintf("x-ratelimit-remaining-tokens was %d", t.RemainingTokens.V)
		case requests <= usedUp && requests < tokens:
			return RPMQuota, fmt.Sprintf("x-ratelimit-remaining-requests was %d", t.RemainingRequests.V)
		}
	}
	for _, l := range longLevels(hit, th) { // a stated limit that was just met
		tokens := nearLimit(l.TokensPerMinute, l.Throttle.LimitTokens, th)
		requests := nearLimit(perMinute(l), l.Throttle.LimitRequests, th)
		switch {
		case tokens && !requests:
			return TPMQuota, fmt.Sprintf("x-ratelimit-limit-tokens is %d", l.Throttle.LimitTokens.V)
		case requests && !tokens:
			return RPMQuota, fmt.Sprintf("x-ratelimit-limit-requests is %d", l.Throttle.LimitRequests.V)
		}
	}
	return "", ""
}

// left is the share of a budget that remained; 2 (more than all) if unknown.
func left(remaining, limit probe.Opt[int64]) float64 {
	switch {
	case !remaining.OK:
		return 2
	case remaining.V <= 0:
		return 0
	case !limit.OK || limit.V <= 0:
		return 1
	}
	return float64(remaining.V) / float64(limit.V)
}

func nearLimit(got probe.Opt[float64], limit probe.Opt[int64], th Thresholds) bool {
	return got.OK && limit.OK && limit.V > 0 && math.Abs(got.V/float64(limit.V)-1) <= th.Plateau
}

func perMinute(l Level) probe.Opt[float64] {
	return probe.Opt[float64]{V: 60 * l.RequestThroughput.V, OK: l.RequestThroughput.OK}
}

func longLevels(hit []Level, th Thresholds) []Level {
	var long []Level
	for _, l := range hit {
		if secondsOf(l) >= th.QuotaTime {
			long = append(long, l)
		}
	}
	return long
}

func messageOf(hit []Level, says *regexp.Regexp) (string, bool) {
	for _, l := range hit {
		for _, m := range l.Throttle.Messages {
			if says.MatchString(m) {
				return m, true
			}
		}
	}
	return "", false
}

// flyingText says at how many accepted requests in flight refusals came, if
// that was the same number, give or take one, at every refusal of every level.
func flyingText(hit []Level) string {
	low, most := math.Inf(1), 0.0
	for _, l := range hit {
		if !l.Throttle.InFlightLow.OK || !l.Throttle.InFlightMax.OK {
			return ""
		}
		low, most = min(low, l.Throttle.InFlightLow.V), max(most, l.Throttle.InFlightMax.V)
	}
	if most < 1 || low < most-1 || low < 1 {
		return ""
	}
	return fmt.Sprintf(", each time with %g requests in flight", most)
}

// acceptedText says what was let through: "at a constant 30,000 tokens a
// minute" where at least two levels agree, else the number of the first.
func acceptedText(hit []Level, quota WallName) string {
	unit, of := "tokens", func(l Level) probe.Opt[float64] { return l.TokensPerMinute }
	if quota == RPMQuota || !hit[0].TokensPerMinute.OK {
		unit, of = "requests", perMinute
	}
	low, high := math.Inf(1), 0.0
	for _, l := range hit {
		v, ok := of(l).Get()
		if !ok {
			return ""
		}
		low, high = min(low, v), max(high, v)
	}
	switch {
	case len(hit) > 1 && high > 0 && low >= 0.85*high:
		return fmt.Sprintf(" at a constant %s %s a minute", thousands((low+high)/2), unit)
	case len(hit) > 1:
		return fmt.Sprintf(" at %s to %s %s a minute", thousands(low), thousands(high), unit)
	}
	return fmt.Sprintf(" at %s %s a minute", thousands(high), unit)
}

// thousands prints 30000 as 30,000; numbers under 100 keep a digit.
func thousands(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	}
	s := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	var parts []string
	for len(s) > 3 {
		parts = append([]string{s[len(s)-3:]}, parts...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}
