package schedule

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"tokprobe/probe"
	"tokprobe/probe/roster"
)

// Every tick lies on the grid of its watch and starts at that very moment.
func TestDueOnTheGrid(t *testing.T) {
	for _, every := range []time.Duration{250 * time.Millisecond, 7 * time.Second, 30 * time.Second, 5 * time.Minute} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := &tape{}
				id := ids("chat")[0]
				began := time.Now()
				s := run(t, Config{Prober: takes(0), Recorder: rec}, plain(watch(id, every)))
				first := s.Next(id)
				time.Sleep(100 * every)
				stop(t, s)

				starts := rec.starts(id)
				if len(starts) != 100 {
					t.Fatalf("%d starts in 100 intervals", len(starts))
				}
				for i, tick := range starts {
					if want := first.Add(time.Duration(i) * every); !tick.Due.Equal(want) || !tick.Started.Equal(want) {
						t.Fatalf("tick %d: due %s started %s, want both %s", i, tick.Due, tick.Started, want)
					}
				}
				if got, want := time.Duration(first.UnixNano())%every, roster.Phase(id, every); got != want {
					t.Errorf("first due at %s of the interval, want %s", got, want)
				}
				if wait := first.Sub(began); wait <= 0 || wait > every {
					t.Errorf("first due after %s, want within one interval", wait)
				}
			})
		})
	}
}

// A restart at another moment keeps the phase.
func TestPhaseSurvivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := ids("chat")[0]
		var firsts []time.Time
		for range 3 {
			s := run(t, Config{Prober: takes(0), Recorder: &tape{}}, plain(watch(id, time.Minute)))
			firsts = append(firsts, s.Next(id))
			stop(t, s)
			time.Sleep(17*time.Minute + 1234*time.Millisecond)
		}
		for _, f := range firsts {
			if d := f.Sub(firsts[0]); d%time.Minute != 0 {
				t.Errorf("first ticks are %s apart", d)
			}
		}
	})
}

// The start of 1,000 probes is spread over the interval: at 30 s about 3.3 of
// them fall into each 100 ms; a herd would put all into one.
func TestStartIsSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		var watches []roster.Watch
		for i := range 1000 {
			id := probe.ID{Target: "t", Model: fmt.Sprintf("m%d", i/10), Probe: fmt.Sprintf("p%d", i%10)}
			watches = append(watches, watch(id, 30*time.Second))
		}
		began := time.Now()
		s := run(t, Config{Prober: takes(2 * time.Second), Recorder: rec}, plain(watches...))
		time.Sleep(30 * time.Second)
		stop(t, s)
		per := map[time.Duration]int{}
		for _, tick := range rec.all() {
			if tick.Stage == probe.TickDue {
				per[tick.Started.Sub(began)/(100*time.Millisecond)]++
			}
		}
		most, total := 0, 0
		for _, n := range per {
			most, total = max(most, n), total+n
		}
		t.Logf("1,000 probes, 30 s: at most %d starts in 100 ms, %d of 300 slots used", most, len(per))
		// Of 300 Poisson(3.3) slots the largest is 9 to 11; above 15 has a
		// probability of 1 in 20,000.
		if total != 1000 || most > 15 {
			t.Errorf("%d starts, at most %d in 100 ms, want 1000 and at most 15", total, most)
		}
	})
}

// Times in a zone with summer time: 02:30 does not exist on 2000-03-26 in
// Berlin, and 02:30 comes twice on 2000-10-29.
func TestCronOverSummerTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &tape{}
		daily, hourly, utc := ids("daily")[0], ids("hourly")[0], ids("utc")[0]
		s := run(t, Config{Prober: takes(0), Recorder: rec}, plain(
			roster.Watch{ID: daily, Cron: "30 2 * * *", Zone: "Europe/Berlin"},
			roster.Watch{ID: hourly, Cron: "30 * * * *", Zone: "Europe/Berlin"},
			roster.Watch{ID: utc, Cron: "30 2 * * *"},
		))
		time.Sleep(366 * 24 * time.Hour)
		stop(t, s)

		on := map[string][]string{}
		for _, tick := range rec.starts(daily) {
			if !tick.Due.Equal(tick.Started) {
				t.Fatalf("due %s but started %s", tick.Due, tick.Started)
			}
			on[tick.Due.UTC().Format("01-02")] = append(on[tick.Due.UTC().Format("01-02")], tick.Due.UTC().Format("15:04"))
		}
		for day, want := range map[string]string{
			"01-15": "[01:30]", "03-25": "[01:30]", "03-26": "[]", "03-27": "[00:30]",
			"10-28": "[00:30]", "10-29": "[00:30]", "10-30": "[01:30]",
		} {
			if got := fmt.Sprint(on[day]); got != want {
				t.Errorf("daily on %s UTC at %s, want %s", day, got, want)
			}
		}
		if n := len(rec.starts(daily)); n != 365 {
			t.Errorf("daily: %d runs in 366 days, want 365 (one does not exist)", n)
		}
		if n := len(rec.starts(hourly)); n != 366*24 {
			t.Errorf("hourly: %d runs, want %d: every hour that passes", n, 366*24)
		}
		for _, tick := range rec.starts(utc) {
			if got := tick.Due.UTC().Format("15:04"); got != "02:30" {
				t.Fatalf("utc cron at %s", got)
			}
		}
	})
}
