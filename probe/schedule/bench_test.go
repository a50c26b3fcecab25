package schedule

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"tokprobe/probe"
)

// BenchmarkStartDelay runs 100 probes at 200 ms in real time, some 500 starts
// a second, for two seconds, and reports how late they start.
func BenchmarkStartDelay(b *testing.B) {
	for b.Loop() {
		rec := &tape{}
		s, err := New(Config{Prober: takes(0), Recorder: rec})
		if err != nil {
			b.Fatal(err)
		}
		r := plain()
		for i := range 100 {
			r.Watches = append(r.Watches, watch(probe.ID{Target: "t", Model: "m", Probe: fmt.Sprint(i)}, 200*time.Millisecond))
		}
		if err := s.Apply(r); err != nil {
			b.Fatal(err)
		}
		if err := s.Start(); err != nil {
			b.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := s.Shutdown(context.Background()); err != nil {
			b.Fatal(err)
		}
		var late []time.Duration
		for _, t := range rec.all() {
			if t.Stage == probe.TickDue && t.Skip == probe.NotSkipped {
				late = append(late, t.Started.Sub(t.Due))
			}
		}
		slices.Sort(late)
		c := rec.count(probe.ID{})
		if c.due != c.started+c.skips[probe.SkipOverlap] || len(late) < 500 {
			b.Fatalf("%+v", c)
		}
		b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(late[len(late)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(late[len(late)-1].Microseconds())/1000, "max-ms")
		b.ReportMetric(float64(len(late)), "starts")
	}
}

// BenchmarkStart1000 is the cold start of a large roster.
func BenchmarkStart1000(b *testing.B) {
	r := plain()
	for i := range 1000 {
		r.Watches = append(r.Watches, watch(probe.ID{Target: "t", Model: "m", Probe: fmt.Sprint(i)}, time.Hour))
	}
	for b.Loop() {
		s, err := New(Config{Prober: takes(0), Recorder: &tape{}})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Apply(r); err != nil {
			b.Fatal(err)
		}
		if err := s.Start(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Shutdown(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
