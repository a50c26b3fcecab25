package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"tokprobe/configs"
)

// The flag values of this file name their flag in every error: kingpin itself
// reports a bad number as "strconv.ParseFloat: …" and leaves the reader to
// guess which of a dozen flags was meant.

// flagger is what both the application and a command can do.
type flagger interface {
	Flag(name, help string) *kingpin.FlagClause
}

type flagValue struct {
	name string
	set  func(string) error
	text func() string
	want string // "a duration such as 500ms, 30s or 2m"; empty: errors of set say it
	many bool
}

// Set implements kingpin.Value.
func (v *flagValue) Set(s string) error {
	switch err := v.set(s); {
	case err != nil && v.want == "": // set says it all
		return fmt.Errorf("--%s: %w", v.name, err)
	case err != nil:
		return fmt.Errorf("--%s: %q is not %s", v.name, s, v.want)
	}
	return nil
}

// String implements kingpin.Value.
func (v *flagValue) String() string { return v.text() }

// IsCumulative lets a flag be given several times.
func (v *flagValue) IsCumulative() bool { return v.many }

// durationFlag takes Go's syntax plus d and w, more than zero.
func durationFlag(f flagger, name, help string, def time.Duration) *time.Duration {
	return durationFrom(1, "a duration above zero such as 500ms, 30s or 2m", f, name, help, def)
}

// pauseFlag is durationFlag with 0s for none.
func pauseFlag(f flagger, name, help string, def time.Duration) *time.Duration {
	return durationFrom(0, "a duration such as 0s, 500ms or 30s", f, name, help, def)
}

func durationFrom(least time.Duration, want string, f flagger, name, help string, def time.Duration) *time.Duration {
	d := def
	f.Flag(name, help).PlaceHolder("D").SetValue(&flagValue{
		name: name, want: want,
		set: func(s string) error {
			v, err := configs.ParseDuration(s)
			if err == nil && v < least {
				err = strconv.ErrRange
			}
			d = v
			return err
		},
		text: func() string {
			if d < least {
				return ""
			}
			return d.String()
		},
	})
	return &d
}

// countFlag takes a whole number of at least min.
func countFlag(f flagger, name, help string, def, min int) *int {
	n := def
	f.Flag(name, help).PlaceHolder("N").SetValue(&flagValue{
		name: name, want: fmt.Sprintf("a whole number of at least %d", min),
		set: func(s string) error {
			v, err := strconv.Atoi(s)
			if err == nil && v < min {
				err = strconv.ErrRange
			}
			n = v
			return err
		},
		text: func() string {
			if n == 0 {
				return ""
			}
			return strconv.Itoa(n)
		},
	})
	return &n
}

// seedFlag takes any whole number from 0; 1 if it is left out.
func seedFlag(f flagger, target *uint64, name, help string) {
	f.Flag(name, help).Default("1").SetValue(&flagValue{
		name: name, want: "a whole number from 0",
		set:  func(s string) (err error) { *target, err = strconv.ParseUint(s, 10, 64); return err },
		text: func() string { return strconv.FormatUint(*target, 10) },
	})
}

// shareFlag takes 15% or 0.15. A bare number over 1 is refused, since nobody can
// tell which of the two was meant; with a percent sign there may be any.
func shareFlag(f flagger, name, help string, def float64) *float64 {
	v := def
	f.Flag(name, help).PlaceHolder("R").SetValue(&flagValue{
		name: name, want: "a share such as 15% or 0.15",
		set: func(s string) (err error) {
			number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
			if v, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil {
				return err
			}
			if percent {
				v /= 100
			}
			if !(v >= 0) || v > 100 || v > 1 && !percent {
				return strconv.ErrRange
			}
			return nil
		},
		text: func() string {
			if v == 0 {
				return ""
			}
			return strconv.FormatFloat(100*v, 'g', 4, 64) + "%"
		},
	})
	return &v
}

// enumFlag takes one of a few words.
func enumFlag(f flagger, target *string, name, help, def string, options ...string) {
	f.Flag(name, help).Default(def).SetValue(&flagValue{
		name: name, want: "one of " + strings.Join(options, ", "),
		set: func(s string) error {
			if !slices.Contains(options, s) {
				return strconv.ErrSyntax
			}
			*target = s
			return nil
		},
		text: func() string { return *target },
	})
}

// numberFlag takes one number above zero; zero is that of a flag left out.
func numberFlag(f flagger, name, help string) *float64 {
	var v float64
	f.Flag(name, help).PlaceHolder("N").SetValue(&flagValue{
		name: name, want: "one number above zero such as 0.5 or 8",
		set:  func(s string) (err error) { v, err = parseAbove0(s); return err },
		text: func() string { return "" },
	})
	return &v
}

// parseAbove0 bounds numbers above, too: NaN, Inf and a slipped exponent are
// not what anybody means.
func parseAbove0(s string) (float64, error) {
	if strings.ContainsAny(s, "_xXpP") { // Go's own notations, where 1_0 is a slip for 1,0
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err == nil && (!(v > 0) || v > 1e9) {
		err = strconv.ErrRange
	}
	return v, err
}

// numbersFlag takes a list such as 1,4,8, each above zero.
func numbersFlag(f flagger, name, help string) *[]float64 {
	var list []float64
	f.Flag(name, help).PlaceHolder("N,N,…").SetValue(&flagValue{
		name: name, want: "a list of numbers above zero such as 1,4,8",
		set: func(s string) error {
			list = nil
			for part := range strings.SplitSeq(s, ",") {
				v, err := parseAbove0(part)
				if err != nil {
					return err
				}
				list = append(list, v)
			}
			return nil
		},
		text: func() string { return "" },
	})
	return &list
}
