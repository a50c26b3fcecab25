package schedule

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"tokprobe/probe"
	"tokprobe/probe/admit"
	"tokprobe/probe/roster"
)

// Apply makes the scheduler run exactly the watches of r; the first call and
// every reload are the same. An unchanged watch is not touched. A changed one
// keeps its worker: a running probe ends as it began and is recorded, the next
// tick takes the new form, and the phase moves only if interval or cron did. A
// removed one gets no more ticks and stops after its running probe. If any
// watch or window cannot be understood, nothing changes and the error names
// all of them.
func (s *Scheduler) Apply(r roster.Roster) error {
	plans, targets, err := compile(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("schedule: Apply after Shutdown")
	}
	s.retarget(targets)
	if err := s.sweeps.apply(r); err != nil {
		return err // compile has seen to it that there is none
	}
	wanted := make(map[probe.ID]bool, len(r.Watches))
	pairs := make(map[pair]bool, len(r.Watches))
	for _, w := range r.Watches {
		wanted[w.ID], pairs[pairOf(w.ID)] = true, true
	}
	for _, sw := range r.Sweeps {
		pairs[pair{sw.Target, sw.Model}] = true
	}
	for id, w := range s.watches {
		if !wanted[id] {
			s.remove(w)
		}
	}
	for i, w := range r.Watches {
		err = errors.Join(err, s.put(w, plans[i]))
	}
	s.gate.keep(pairs)
	maps.DeleteFunc(s.lessons, func(p pair, _ lesson) bool { return !pairs[p] })
	return err
}

// Check returns the error with which Apply would refuse r, so that a reload can
// ask before it changes other parts.
func Check(r roster.Roster) error {
	_, _, err := compile(r)
	return err
}

func compile(r roster.Roster) ([]plan, map[string]target, error) {
	var errs []error
	targets := make(map[string]target, len(r.Targets))
	for _, t := range r.Targets {
		windows, err := admit.Windows(t.Maintenance)
		if err != nil {
			errs = append(errs, fmt.Errorf("target %s: %w", t.Name, err))
		}
		targets[t.Name] = target{windows: windows, budget: t.Budget, hash: t.Hash}
	}
	plans := make([]plan, len(r.Watches))
	seen := make(map[probe.ID]bool, len(r.Watches))
	for i, w := range r.Watches {
		p, err := newPlan(w)
		if err == nil && seen[w.ID] {
			err = fmt.Errorf("probe %s is listed twice", w.ID)
		}
		if err != nil {
			errs = append(errs, err)
		}
		plans[i], seen[w.ID] = p, true
	}
	if _, err := crons(r.Sweeps); err != nil {
		errs = append(errs, err)
	}
	return plans, targets, errors.Join(errs...)
}

// retarget swaps what admission knows of the targets, and forgets what was
// learned about those whose connection changed.
func (s *Scheduler) retarget(targets map[string]target) {
	old := *s.targets.Load()
	s.targets.Store(&targets)
	for id, w := range s.watches {
		if targets[id.Target].hash != old[id.Target].hash {
			w.mu.Lock()
			w.forget()
			w.mu.Unlock()
		}
	}
}

// put adds a watch, or brings an existing one up to date.
func (s *Scheduler) put(watch roster.Watch, p plan) error {
	w := s.watches[watch.ID]
	if w == nil {
		w = &worker{s: s, id: watch.ID, turn: uint64(roster.Phase(watch.ID, admit.Slowdown))}
		s.watches[watch.ID] = w
	}
	if w.take(watch, p, s.lessonOf(watch.ID)) && s.started {
		return s.register(w)
	}
	return nil
}

// take gives a worker its watch and tells whether its due moments changed.
func (w *worker) take(watch roster.Watch, p plan, l lesson) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.next.IsZero() || w.gone
	moved := w.watch.Every != watch.Every || w.watch.Cron != watch.Cron || w.watch.Zone != watch.Zone
	if !fresh && unchanged(w.watch, watch) {
		return false
	}
	if fresh || !reflect.DeepEqual(w.watch.Spec, watch.Spec) {
		w.forget()
	}
	w.lesson = l
	w.watch, w.plan, w.gone = watch, p, false
	return fresh || moved
}

// unchanged compares by hash; watches made without one are compared whole.
func unchanged(a, b roster.Watch) bool {
	if a.Hash != "" || b.Hash != "" {
		return a.Hash == b.Hash
	}
	return reflect.DeepEqual(a, b)
}

// remove ends the ticks of a watch. A worker that is busy stays known until
// it is not, so that a watch that comes back meanwhile gets the same worker
// and never runs twice.
func (s *Scheduler) remove(w *worker) {
	job, busy := w.retire()
	_ = s.cron.RemoveJob(job) // an unknown job is as good as removed
	if !busy {
		delete(s.watches, w.id)
	}
}

// register gives a worker's due moments to gocron. A job gets a new identity
// each time: gocron lets a run that is just being rescheduled under the same
// identity replace the first timer of the new job, which loses a tick. If the
// first moment passed meanwhile (gocron then drops it), it tries again.
func (s *Scheduler) register(w *worker) error {
	for range registerTries {
		old, job, p := w.rename()
		_ = s.cron.RemoveJob(old)
		first := p.next(time.Now())
		if first.IsZero() {
			return fmt.Errorf("probe %s: its cron never comes due again", w.id)
		}
		w.expect(first)
		_, err := s.cron.NewJob(p.job(), gocron.NewTask(w.fire),
			gocron.WithStartAt(gocron.WithStartDateTimePast(first)),
			gocron.WithCronImplementation(cronOf{p}),
			gocron.WithIdentifier(job), gocron.WithName(w.id.String()))
		if err != nil {
			return fmt.Errorf("probe %s: %w", w.id, err)
		}
		if time.Now().Before(first) || w.moved(first) {
			w.foresee(first)
			return nil
		}
	}
	return nil // the last job stands; its first tick is late by an interval
}

// registerTries bounds register at intervals as short as registering takes.
const registerTries = 5

// jobID is the identity of the generation-th job of a watch: a UUID of
// version 5.
func jobID(id probe.ID, generation int) uuid.UUID {
	name := fmt.Sprintf("%s\x00%s\x00%s\x00%d", id.Target, id.Model, id.Probe, generation)
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name))
}
