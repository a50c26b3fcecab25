package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"tokprobe/probe/admit"
)

var someState = savedState{Ledger: []admit.Entry{{Target: "a", Purse: admit.ProbePurse, Day: "2026-03-01", Tokens: 4711}}, SweepsStopped: true}

// keeper returns a keeper of one state whose logs and counts can be read.
func keeper(path string, state *savedState) (*stateKeeper, *observer.ObservedLogs, *[]bool) {
	core, logs := observer.New(zapcore.DebugLevel)
	var counts []bool
	k := &stateKeeper{path: path, log: zap.New(core),
		collect: func() savedState { return *state },
		saved:   func(ok bool) { counts = append(counts, ok) },
	}
	return k, logs, &counts
}

func restored(k *stateKeeper) (s savedState, taken bool) {
	k.restore(func(got savedState) { s, taken = got, true })
	return s, taken
}

func TestStateSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "state.json")
	state := someState
	k, _, counts := keeper(path, &state)
	if _, taken := restored(k); taken {
		t.Error("a state came out of no file")
	}
	k.save()
	k.save() // nothing changed: no write
	if got := *counts; !reflect.DeepEqual(got, []bool{true}) {
		t.Errorf("writes %v, want one good", got)
	}
	k2, _, _ := keeper(path, &state)
	if got, _ := restored(k2); !reflect.DeepEqual(got, someState) {
		t.Errorf("restored %+v, want %+v", got, someState)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + ".*"); left != nil {
		t.Errorf("files left behind: %v", left)
	}
}

// TestStateDamaged: nothing in the file can stop the daemon, and what was in
// it is kept for a human.
func TestStateDamaged(t *testing.T) {
	good, err := json.Marshal(someState)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := json.Marshal(envelope{stateFormat, checksum(good), good})
	if err != nil {
		t.Fatal(err)
	}
	odd, err := json.Marshal(envelope{stateFormat, checksum([]byte(`[1]`)), []byte(`[1]`)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		give []byte
		want string
	}{
		"empty":     {nil, "is empty"},
		"text":      {[]byte("hello"), "is not JSON"},
		"torn":      {whole[:len(whole)/2], "is not JSON"},
		"edited":    {bytes.Replace(whole, []byte("4711"), []byte("1007"), 1), "does not match its checksum"},
		"newer":     {bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":2`), 1), "has format 2"},
		"odd state": {odd, "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, c.give, 0o600); err != nil {
				t.Fatal(err)
			}
			state := someState
			k, logs, _ := keeper(path, &state)
			if _, taken := restored(k); taken {
				t.Error("the state was taken")
			}
			warned := logs.FilterMessageSnippet("damaged").All()
			if len(warned) != 1 || !strings.Contains(warned[0].ContextMap()["error"].(string), c.want) {
				t.Errorf("logged %v, want one warning with %q", logs.All(), c.want)
			}
			aside, _ := filepath.Glob(path + ".damaged-*Z")
			if len(aside) != 1 {
				t.Fatalf("set aside: %v, want one file", aside)
			}
			if kept, _ := os.ReadFile(aside[0]); !bytes.Equal(kept, c.give) {
				t.Errorf("set aside %q, want %q", kept, c.give)
			}
			k.save()
			if got, _ := restored(k); !reflect.DeepEqual(got, someState) {
				t.Errorf("after a save: %+v", got)
			}
		})
	}
}

// TestStateDiskFull: the old file stays whole, each failure is counted, logged
// once, and the next save that can writes.
func TestStateDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	path := filepath.Join(t.TempDir(), "state.json")
	state := someState
	k, logs, counts := keeper(path, &state)
	k.save()
	state.Ledger = []admit.Entry{{Target: "a", Purse: admit.ProbePurse, Day: "2026-03-01", Tokens: 9000}}
	for range 2 {
		if err := os.Symlink("/dev/full", path+".tmp"); err != nil {
			t.Fatal(err)
		}
		k.save()
		k2, _, _ := keeper(path, &state)
		if got, _ := restored(k2); !reflect.DeepEqual(got, someState) {
			t.Errorf("the old state is %+v", got)
		}
	}
	k.save()
	if want := []bool{true, false, false, true}; !reflect.DeepEqual(*counts, want) {
		t.Errorf("writes %v, want %v", *counts, want)
	}
	if n := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 1 {
		t.Errorf("%d errors logged, want 1: %v", n, logs.All())
	}
	if n := logs.FilterMessageSnippet("written again").Len(); n != 1 {
		t.Errorf("recovery logged %d times, want once", n)
	}
	k2, _, _ := keeper(path, &state)
	if got, _ := restored(k2); !reflect.DeepEqual(got, state) {
		t.Errorf("restored %+v, want %+v", got, state)
	}
}

func TestSetAsideName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := setAside(path, time.Date(2026, 3, 1, 12, 30, 0, 0, time.FixedZone("", 3600)))
	if want := path + ".damaged-20260301T113000Z"; got != want || err != nil {
		t.Errorf("set aside as %s (%v), want %s", got, err, want)
	}
}
