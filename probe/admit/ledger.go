package admit

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Purse says out of which allowance tokens are spent: those of probes and
// those of sweeps never borrow from one another.
type Purse string

const (
	ProbePurse Purse = "probe"
	SweepPurse Purse = "sweep"
)

// Ledger counts the tokens spent per target, purse and UTC day. The zero value
// is an empty ledger. It is safe for concurrent use and keeps one day: a later
// one starts at 0.
type Ledger struct {
	mu    sync.Mutex
	spent map[account]Entry
}

type account struct {
	target string
	purse  Purse
}

// Entry is one line of a ledger, as it is saved.
type Entry struct {
	Target string `json:"target"`
	Purse  Purse  `json:"purse"`
	Day    string `json:"day"` // 2006-01-02, UTC
	Tokens int64  `json:"tokens"`
}

// Spend adds tokens (input and output together) to the day of now. Amounts
// below 1 are ignored. If the clock went back, the sum stays with the later
// day: a clock cannot refill a budget.
func (l *Ledger) Spend(now time.Time, target string, purse Purse, tokens int64) {
	if tokens <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(Entry{Target: target, Purse: purse, Day: day(now), Tokens: l.today(now, target, purse) + tokens})
}

// Spent returns what is gone on the day of now.
func (l *Ledger) Spent(now time.Time, target string, purse Purse) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.today(now, target, purse)
}

// Snapshot returns all lines, sorted, for a state file.
func (l *Ledger) Snapshot() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Entry, 0, len(l.spent))
	for _, e := range l.spent {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Purse, b.Purse))
	})
	return list
}

// Restore takes up saved lines; call it before anything is spent. Where both
// have a line, the later day or else the larger sum stays, so that restoring
// twice changes nothing. Lines that make no sense are left out.
func (l *Ledger) Restore(list []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range list {
		_, err := time.Parse(time.DateOnly, e.Day)
		if err != nil || e.Tokens < 0 || e.Target == "" || e.Purse != ProbePurse && e.Purse != SweepPurse {
			continue
		}
		old := l.spent[account{e.Target, e.Purse}]
		if e.Day > old.Day || e.Day == old.Day && e.Tokens > old.Tokens {
			l.add(e)
		}
	}
}

func (l *Ledger) add(e Entry) {
	if l.spent == nil {
		l.spent = map[account]Entry{}
	}
	key := account{e.Target, e.Purse}
	e.Day = max(e.Day, l.spent[key].Day)
	l.spent[key] = e
}

func (l *Ledger) today(now time.Time, target string, purse Purse) int64 {
	e := l.spent[account{target, purse}]
	if e.Day < day(now) {
		return 0
	}
	return e.Tokens
}

// day is the UTC day of t; the form compares as text.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
