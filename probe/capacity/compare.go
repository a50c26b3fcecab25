package capacity

import (
	"fmt"
	"slices"

	"tokprobe/probe"
)

// Noise says what a change is worth.
type Noise string

const (
	BeyondNoise  Noise = "beyond"  // the 95 % interval of the change leaves out 0
	WithinNoise  Noise = "within"  // it does not
	UnknownNoise Noise = "unknown" // no samples to judge from
)

// Row is one number in two reports.
type Row struct {
	Load   probe.Opt[float64] `json:"load,omitzero"` // absent for the knee
	Metric string             `json:"metric"`
	Base   probe.Opt[float64] `json:"base,omitzero"`
	New    probe.Opt[float64] `json:"new,omitzero"`
	// Change is new/base − 1, absent where there is nothing to divide by.
	Change probe.Opt[float64] `json:"change,omitzero"`
	// Interval holds the change with 95 % confidence: new/base − 1, but for
	// the shares error_ratio and attainment the difference new − base.
	Interval *Interval `json:"interval,omitempty"`
	Noise    Noise     `json:"noise"`
	// FailedBy are the gates that this row breaks.
	FailedBy []string `json:"failed_by,omitempty"`
}

// Comparison is a new report held against a baseline.
type Comparison struct {
	Rows []Row `json:"rows"`
	// Failures say in a sentence each why the gate stays shut.
	Failures []string `json:"failures,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Failed says whether any gate was broken.
func (c Comparison) Failed() bool { return len(c.Failures) > 0 }

// Moved are the rows that changed beyond noise or broke a gate.
func (c Comparison) Moved() []Row {
	var rows []Row
	for _, r := range c.Rows {
		if r.Noise == BeyondNoise || len(r.FailedBy) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// Compare holds next against base. It refuses ladders of different shape (see
// Comparable). Levels that are not judged in one of them are left out. A gate
// fails, too, where the new report lacks what the baseline has, and where no
// row could answer it: a gate that cannot fail is none.
func Compare(base, next Report, gates []Gate) (Comparison, error) {
	if err := Comparable(base, next); err != nil {
		return Comparison{}, err
	}
	c := Comparison{Rows: []Row{kneeRow(base, next)}, Warnings: differences(base, next)}
	names, nexts := comparedNames(gates), next.byLoad()
	for i, b := range base.byLoad() {
		n := nexts[i]
		if b.State == NotJudged || n.State == NotJudged {
			c.Warnings = append(c.Warnings, fmt.Sprintf("level %g was not judged in both reports: left out", b.Load))
			continue
		}
		for _, name := range names {
			if row, ok := compareLevel(name, b, n); ok {
				c.Rows = append(c.Rows, row)
			}
		}
	}
	for _, g := range gates {
		c.apply(g)
	}
	return c, nil
}

// apply marks the rows that break a gate and writes the sentence.
func (c *Comparison) apply(g Gate) {
	answered := false
	for i := range c.Rows {
		r := &c.Rows[i]
		if !g.judges(*r) {
			continue
		}
		answered = answered || r.New.OK && (!g.Relative || r.Base.OK)
		if g.trips(*r) || r.Base.OK && !r.New.OK {
			r.FailedBy = append(r.FailedBy, g.Text)
			c.Failures = append(c.Failures, fmt.Sprintf("%s: %s", g.Text, r.sentence()))
		}
	}
	if !answered {
		c.Failures = append(c.Failures, fmt.Sprintf("%s: not measured in both reports", g.Text))
	}
}

// sentence prints "ttft_p90 at 8 went from 120 to 150 (+25.0 %)".
func (r Row) sentence() string {
	at := ""
	if r.Load.OK {
		at = fmt.Sprintf(" at %g", r.Load.V)
	}
	s := fmt.Sprintf("%s%s went from %s to %s", r.Metric, at, number(r.Base), number(r.New))
	if r.Change.OK {
		s += fmt.Sprintf(" (%+.1f %%)", 100*r.Change.V)
	}
	return s
}

func number(v probe.Opt[float64]) string {
	if !v.OK {
		return "nothing"
	}
	return fmt.Sprintf("%.4g", v.V)
}

// comparedNames are the metrics of the table, then those only gates ask for.
func comparedNames(gates []Gate) []string {
	names := []string{"ttft_p50", "ttft_p90", "ttft_p99", "tpot_p50", "e2e_p50", "e2e_p90",
		"output_tps", "request_tps", "error_ratio", "attainment"}
	for _, g := range gates {
		if g.Metric != "knee" && !slices.Contains(names, g.Metric) {
			names = append(names, g.Metric)
		}
	}
	return names
}

func kneeRow(base, next Report) Row {
	r := Row{Metric: "knee", Base: base.Knee.Load, New: next.Knee.Load, Noise: UnknownNoise}
	if !next.Knee.Reached && next.Knee.AtLeast.OK && base.Knee.Reached && next.Knee.AtLeast.V >= base.Knee.Load.V {
		r.New = next.Knee.AtLeast // not reached, and at least as high: no fall
	}
	if !base.Knee.Reached {
		r.Base = base.Knee.AtLeast
	}
	r.Change = changeOf(r.Base, r.New)
	return r
}

func changeOf(base, next probe.Opt[float64]) probe.Opt[float64] {
	if !base.OK || !next.OK || base.V == 0 {
		return probe.Opt[float64]{}
	}
	return known(next.V/base.V - 1)
}
