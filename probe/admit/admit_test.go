package admit

import (
	"testing"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func windows(t *testing.T, list ...roster.Window) []Window {
	t.Helper()
	w, err := Windows(list)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestDecide(t *testing.T) {
	stops := windows(t, roster.Window{Cron: "0 12 * * *", Duration: time.Hour})
	tags := windows(t, roster.Window{Cron: "0 12 * * *", Duration: time.Hour, TagOnly: true})
	spent := Budget{Limit: 100, Spent: 100}
	for _, c := range []struct {
		name   string
		give   State
		want   probe.SkipReason
		tagged bool
	}{
		{name: "nothing", want: probe.NotSkipped},
		{name: "kill switch", give: State{Disabled: true}, want: probe.SkipDisabled},
		{name: "maintenance", give: State{Windows: stops}, want: probe.SkipMaintenance, tagged: true},
		{name: "tag only", give: State{Windows: tags}, want: probe.NotSkipped, tagged: true},
		{name: "tag only does not undo a stop", give: State{Windows: append(tags, stops...)}, want: probe.SkipMaintenance, tagged: true},
		{name: "canary", give: State{CanaryDown: true}, want: probe.SkipCanary},
		{name: "sweep", give: State{Held: true}, want: probe.SkipSweep},
		{name: "retry after", give: State{Retry: Retry{noon.Add(-time.Minute), 2 * time.Minute}}, want: probe.SkipRetryAfter},
		{name: "retry after is over", give: State{Retry: Retry{noon.Add(-time.Minute), time.Minute}}, want: probe.NotSkipped},
		{name: "under budget", give: State{Budget: Budget{Limit: 100, Spent: 99}, Turn: 1}, want: probe.NotSkipped},
		{name: "over budget", give: State{Budget: spent, Turn: 1}, want: probe.SkipBudget},
		{name: "over budget, its turn", give: State{Budget: spent, Turn: 20}, want: probe.NotSkipped},
		{name: "over a hard budget", give: State{Budget: Budget{Limit: 100, Spent: 100, Hard: true}, Turn: 20}, want: probe.SkipBudget},
		{name: "no limit", give: State{Budget: Budget{Spent: 1e12, Hard: true}, Turn: 1}, want: probe.NotSkipped},
		{name: "a human comes first", give: State{Disabled: true, Windows: stops, CanaryDown: true, Held: true, Budget: spent, Turn: 1}, want: probe.SkipDisabled, tagged: true},
		{name: "a sweep before money", give: State{Held: true, Budget: spent, Turn: 1}, want: probe.SkipSweep},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, tagged := Decide(noon, c.give)
			if got != c.want || tagged != c.tagged {
				t.Errorf("%q tagged %v, want %q tagged %v", got, tagged, c.want, c.tagged)
			}
		})
	}
}

// Over a soft budget exactly one of ten ticks runs, wherever the count begins.
func TestSlowdownIsATenth(t *testing.T) {
	for _, begin := range []uint64{0, 3, 9} {
		ran := 0
		for turn := begin; turn < begin+200; turn++ {
			if skip, _ := Decide(noon, State{Budget: Budget{Limit: 1, Spent: 5}, Turn: turn}); skip == probe.NotSkipped {
				ran++
			}
		}
		if ran != 20 {
			t.Errorf("from %d: %d of 200 ran, want 20", begin, ran)
		}
	}
}

func TestRetryIsCapped(t *testing.T) {
	for _, c := range []struct{ ask, every, want time.Duration }{
		{20 * time.Second, 30 * time.Second, 20 * time.Second},
		{time.Hour, 30 * time.Second, 5 * time.Minute},
		{time.Hour, 100 * time.Second, 5 * time.Minute},
		{time.Hour, 10 * time.Minute, 30 * time.Minute},
		{24 * 365 * time.Hour, time.Minute, 5 * time.Minute},
	} {
		if got := (Retry{noon, c.ask}).Until(c.every).Sub(noon); got != c.want {
			t.Errorf("asked %s at an interval of %s: waits %s, want %s", c.ask, c.every, got, c.want)
		}
	}
	for _, none := range []time.Duration{0, -time.Second} {
		if got := (Retry{noon, none}).Until(time.Minute); !got.IsZero() {
			t.Errorf("asked %s: until %s, want never", none, got)
		}
	}
}

func TestWindowEdges(t *testing.T) {
	nightly := roster.Window{Cron: "30 22 * * *", Duration: 3 * time.Hour, Zone: "Asia/Shanghai"} // 14:30 to 17:30 UTC
	weekend := roster.Window{Cron: "0 0 * * 6", Duration: 48 * time.Hour}
	for _, c := range []struct {
		window roster.Window
		at     string
		want   bool
	}{
		{nightly, "2026-03-02T14:29:59.999999999Z", false},
		{nightly, "2026-03-02T14:30:00Z", true},
		{nightly, "2026-03-02T14:30:00.000000001Z", true},
		{nightly, "2026-03-02T17:29:59.999999999Z", true},
		{nightly, "2026-03-02T17:30:00Z", false},
		{weekend, "2026-03-06T23:59:59Z", false},
		{weekend, "2026-03-07T00:00:00Z", true},
		{weekend, "2026-03-08T23:59:59Z", true},
		{weekend, "2026-03-09T00:00:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := windows(t, c.window)[0].Active(at); got != c.want {
			t.Errorf("%s %s at %s: %v, want %v", c.window.Cron, c.window.Duration, c.at, got, c.want)
		}
	}
}

func TestCronNext(t *testing.T) {
	for _, c := range []struct {
		expr, zone, from string
		want             string
	}{
		{"30 3 * * *", "", "2026-03-02T03:30:00Z", "2026-03-03T03:30:00Z"},
		{"@daily", "Asia/Shanghai", "2026-03-02T12:00:00Z", "2026-03-02T16:00:00Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"},   // not on the 29th
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},   // first pass
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},   // no second one
		{"*/20 2 * * *", "Europe/Berlin", "2026-10-25T00:40:00Z", "2026-10-26T01:00:00Z"}, // nor of a series
		{"30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},   // every hour is every hour
		{"0 0 29 2 *", "", "2026-03-02T00:00:00Z", "2028-02-29T00:00:00Z"},
	} {
		sched, err := ParseCron(c.expr, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := time.Parse(time.RFC3339, c.from)
		if got := sched.Next(from).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s %s from %s: %s, want %s", c.expr, c.zone, c.from, got, c.want)
		}
	}
}

func TestParseCronErrors(t *testing.T) {
	for _, c := range []struct{ expr, zone, want string }{
		{"* * * *", "", `cron "* * * *" in zone "": expected exactly 5 fields, found 4: [* * * *]; write five fields: minute hour day month weekday`},
		{"TZ=x", "", `cron "TZ=x" in zone "": a zone inside the expression; write timezone: beside it`},
		{"@every 5m", "", `cron "@every 5m" in zone "": @every has no fixed phase; write every: in place of cron`},
		{"0 3 * * *", "Mars/Olympus", `cron "0 3 * * *" in zone "Mars/Olympus": unknown time zone; write a name such as UTC or Europe/Berlin`},
	} {
		_, err := ParseCron(c.expr, c.zone)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %q: %v, want %s", c.expr, c.zone, err, c.want)
		}
	}
	_, err := Windows([]roster.Window{{Cron: "x", Duration: 1}, {Cron: "0 3 * * *", Duration: time.Hour}, {Cron: "0 3 * * *"}})
	want := "maintenance[0]: cron \"x\" in zone \"\": expected exactly 5 fields, found 1: [x]; write five fields: minute hour day month weekday\n" +
		"maintenance[2]: duration 0s: must be above 0, such as 1h"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A timer set to the next moment must not follow the wall clock.
func TestCronKeepsMonotonicReading(t *testing.T) {
	c, err := ParseCron("*/5 * * * *", "")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	next := c.Next(now)
	if next == next.Round(0) {
		t.Error("the monotonic reading is gone")
	}
	if next.Round(0).Sub(now.Round(0)) != next.Sub(now) {
		t.Error("wall and monotonic distance differ")
	}
}
