package roster

import (
	"fmt"
	"testing"
	"time"

	"tokprobe/probe"
)

func TestNext(t *testing.T) {
	id := probe.ID{Target: "vllm-a", Model: "Qwen/Qwen2.5", Probe: "chat"}
	every := 30 * time.Second
	phase := Phase(id, every)
	base := time.Unix(1_800_000_000, 0) // a multiple of 30
	tests := []struct {
		name      string
		now, want time.Time
	}{
		{"before the phase", base, base.Add(phase)},
		{"just before it", base.Add(phase - 1), base.Add(phase)},
		{"at it: the one after", base.Add(phase), base.Add(phase + every)},
		{"just after it", base.Add(phase + 1), base.Add(phase + every)},
		{"before 1970", time.Unix(-30, 0), time.Unix(-30, 0).Add(phase)},
	}
	for _, tt := range tests {
		if got := Next(id, every, tt.now); !got.Equal(tt.want) {
			t.Errorf("%s: Next = %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := Next(id, 0, base); !got.IsZero() {
		t.Errorf("without an interval: %v, want none", got)
	}
}

// TestPhaseIsStable pins phases: a release that moved them would move every
// probe of every user.
func TestPhaseIsStable(t *testing.T) {
	tests := []struct {
		id   probe.ID
		want time.Duration
	}{
		{probe.ID{Target: "a", Model: "b", Probe: "c"}, 4_041_313_874},
		{probe.ID{Target: "ab", Model: "", Probe: "c"}, 29_594_105_817},
	}
	for _, tt := range tests {
		if got := Phase(tt.id, time.Minute); got != tt.want {
			t.Errorf("Phase(%q) = %d, want %d", tt.id, got, tt.want)
		}
	}
}

// TestPhasesSpread puts 1,000 probes of near equal names into 30 slots of a
// second. 33 each would be even; by chance 99.99 % of slots hold 14 to 57.
func TestPhasesSpread(t *testing.T) {
	var slots [30]int
	for i := range 1000 {
		id := probe.ID{Target: fmt.Sprintf("vllm-%d", i/4), Model: "m", Probe: fmt.Sprintf("p%d", i%4)}
		slots[Phase(id, 30*time.Second)/time.Second]++
	}
	for i, n := range slots {
		if n < 14 || n > 57 {
			t.Errorf("second %d holds %d of 1,000 probes: %v", i, n, slots)
		}
	}
}

func TestCron(t *testing.T) {
	from := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		expr, zone string
		want       time.Time
	}{
		{"30 3 * * *", "", from.Add(3*time.Hour + 30*time.Minute)},
		{"30 3 * * *", "Asia/Shanghai", from.Add(19*time.Hour + 30*time.Minute)},
		// 2:30 on 29 March does not exist in Berlin; from is 1:00 there.
		{"30 2 * * *", "Europe/Berlin", from.Add(time.Hour + 30*time.Minute)},
		{"@daily", "", from.Add(24 * time.Hour)},
	}
	for _, tt := range tests {
		s, err := ParseCron(tt.expr, tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Next(from); !got.Equal(tt.want) {
			t.Errorf("%s %s: %v, want %v", tt.expr, tt.zone, got.UTC(), tt.want)
		}
	}
}

func TestCronRefused(t *testing.T) {
	tests := []struct{ expr, zone, want string }{
		{"CRON_TZ=UTC 0 0 * * *", "", "a zone inside the expression; write timezone: beside it"},
		{"@every 5m", "", "@every has no fixed phase; write every: in place of cron"},
		{"0 0 30 2 *", "", "never fires (no such day)"},
		{"0 0 * * *", "Local", `"Local" differs from machine to machine; write a name such as Europe/Berlin`},
		{"0 0 * * *", "Mars/Base", "unknown time zone; write a name such as UTC or Europe/Berlin"},
		{"* * *", "", "expected exactly 5 fields, found 3: [* * *]; write five fields: minute hour day month weekday"},
	}
	for _, tt := range tests {
		_, err := ParseCron(tt.expr, tt.zone)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q %q: %v, want %q", tt.expr, tt.zone, err, tt.want)
		}
	}
}

func TestMinGap(t *testing.T) {
	tests := []struct {
		expr string
		want time.Duration
	}{
		{"*/5 * * * *", 5 * time.Minute},
		{"0,7 * * * *", 7 * time.Minute},
		{"30 3 * * *", 24 * time.Hour},
		{"0 0 1 * *", 29 * 24 * time.Hour}, // February 2024
	}
	for _, tt := range tests {
		s, err := ParseCron(tt.expr, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := MinGap(s); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.expr, got, tt.want)
		}
	}
}
