package configs

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const mend = "; write a duration such as 500ms, 30s, 5m, 12h, 30d or 2w"
	tests := []struct {
		give string
		want time.Duration
		err  string
	}{
		{"30s", 30 * time.Second, ""},
		{"1.5s", 1500 * time.Millisecond, ""},
		{"1h30m", 90 * time.Minute, ""},
		{"30d", 720 * time.Hour, ""},
		{"1w2d3h", (9*24 + 3) * time.Hour, ""},
		{"0.5d", 12 * time.Hour, ""},
		{"250µs", 250 * time.Microsecond, ""},
		{"0", 0, ""},
		{"", 0, "is empty" + mend},
		{"30", 0, "has no unit" + mend},
		{"1y", 0, "has an unknown unit" + mend},
		{"s", 0, "is no duration" + mend},
		{"1..5s", 0, "is no duration" + mend},
		{"-5s", 0, "is negative" + mend},
		{"1s ", 0, "has an unknown unit" + mend},
		{"99999999w", 0, "is too long" + mend},
	}
	for _, tt := range tests {
		got, err := ParseDuration(tt.give)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%q: %v %q, want %v %q", tt.give, got, text, tt.want, tt.err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for _, s := range []string{"30d", "1d", "12h", "1h30m", "5m", "1m30s", "1.5s", "500ms"} {
		d, err := ParseDuration(s)
		if err != nil || FormatDuration(d) != s {
			t.Errorf("%s comes back as %s, %v", s, FormatDuration(d), err)
		}
	}
}

func TestParseRatio(t *testing.T) {
	tests := []struct {
		give string
		want float64
		err  string
	}{
		{"99.5%", 0.995, ""},
		{"0.995", 0.995, ""},
		{"99.9 %", 0.999, ""},
		{"95%", 0.95, ""},
		{"99.5", 0, "is over 1; write 99.5% or a ratio such as 0.995"},
		{"1", 0, "leaves no error budget, every failure would page; write 99.9% or less"},
		{"100%", 0, "leaves no error budget, every failure would page; write 99.9% or less"},
		{"0", 0, "promises nothing; write 99.5% or 0.995"},
		{"-5%", 0, "promises nothing; write 99.5% or 0.995"},
		{"most", 0, "is no ratio; write 99.5% or 0.995"},
		{"NaN", 0, "is no ratio; write 99.5% or 0.995"},
	}
	for _, tt := range tests {
		got, err := ParseRatio(tt.give)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%q: %v %q, want %v %q", tt.give, got, text, tt.want, tt.err)
		}
	}
}

func TestNormalizeBaseURL(t *testing.T) {
	tests := []struct{ give, want, err string }{
		{"https://taotoken.net/api", "https://taotoken.net/api", ""},
		{"https://taotoken.net/api/", "https://taotoken.net/api", ""},
		{"https://taotoken.net/api/v1", "https://taotoken.net/api", ""},
		{"https://TaoToken.net/api/v1//", "https://taotoken.net/api", ""},
		{"http://10.0.0.5:8000", "http://10.0.0.5:8000", ""},
		{"http://10.0.0.5:8000/v1", "http://10.0.0.5:8000", ""},
		{"http://[::1]:8000/v1/", "http://[::1]:8000", ""},
		{"https://h/a%20b/v1", "https://h/a%20b", ""},
		{"https://h/v1beta", "https://h/v1beta", ""},
		{"https://h/api/v1?utm_source=x", "", "has a query (?…), which no API call may carry; write https://h/api"},
		{"https://h/api?", "", "has a query (?…), which no API call may carry; write https://h/api"},
		{"https://h/v1/messages", "", "names one API method; write the base only: https://h"},
		{"https://h/x/v1/completions/", "", "names one API method; write the base only: https://h/x"},
		{"https://h/v1/v1", "", "has /v1 twice; write https://h"},
		{"https://h/#", "", "has a fragment (#…); write https://h"},
		{"//h/api", "", "has no http:// or https:// in front; write https://host/prefix"},
		{"https:///api", "", "names no host; write https://host/prefix"},
		{"https://h h/", "", "is no URL; write scheme, host and perhaps a path: https://host/prefix"},
		{"https://h/\n", "", "is no URL; write scheme, host and perhaps a path: https://host/prefix"},
	}
	for _, tt := range tests {
		got, err := NormalizeBaseURL(tt.give)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%q: %q %q, want %q %q", tt.give, got, text, tt.want, tt.err)
		}
	}
}

func TestURLForPeople(t *testing.T) {
	tests := []struct{ give, want string }{
		{"https://h/api", "https://h/api"},
		{"https://u:p@h/api?k=v#f", "https://<secret>@h/api?<secret>#<secret>"},
		{"https://u:p%zz@h/", "<secret>"},
		{"u:p@h/api", "<secret>"},
		{"token@h/api", "<secret>"},
		{"https:u:p@h", "<secret>"},
		{"h/api", "h/api"},
	}
	for _, tt := range tests {
		if got := urlForPeople(tt.give); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.give, got, tt.want)
		}
	}
}

func TestGlob(t *testing.T) {
	tests := []struct {
		pattern, s string
		want       bool
	}{
		{"*", "Qwen/Qwen2.5", true},
		{"Qwen/*", "Qwen/Qwen2.5-14B", true},
		{"*14B*", "Qwen/Qwen2.5-14B-Instruct", true},
		{"gpt-?o", "gpt-4o", true},
		{"gpt-?o", "gpt-o", false},
		{"a*b*c", "aXXbYYcZ", false},
		{"a*b*c", "aXbbYc", true},
		{"", "a", false},
		{"a", "a", true},
		{"**", "", true},
	}
	for _, tt := range tests {
		if got := glob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("%q on %q: %v", tt.pattern, tt.s, got)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"targets", "prompts", "probes", "sweeps", "slos"}
	tests := []struct{ give, want string }{
		{"target", "targets"}, {"prbes", "probes"}, {"porbes", "probes"}, {"slo", "slos"}, {"xyz", ""}, {"s", ""}, {"TARGETS", "targets"},
	}
	for _, tt := range tests {
		if got := nearest(tt.give, known); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.give, got, tt.want)
		}
	}
}
