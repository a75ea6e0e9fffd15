package profile

import (
	"errors"
	"fmt"
	"sort"
)

// checkThreads also holds the promise that the sections rely on: ids grow, so
// that a known thread is found by bisection.
func (p *Profile) checkThreads() error {
	for i := range p.Threads {
		t := &p.Threads[i]
		switch {
		case t.ID < 0:
			return fmt.Errorf("thread %d: negative id", t.ID)
		case i > 0 && p.Threads[i-1].ID >= t.ID:
			return fmt.Errorf("thread %d: listed after thread %d", t.ID, p.Threads[i-1].ID)
		case t.BeginNS < 0 || t.CPUNS < 0:
			return fmt.Errorf("thread %d: negative time", t.ID)
		case t.EndNS < t.BeginNS && t.EndNS != 0:
			return fmt.Errorf("thread %d: ends at %d ns, before it begins at %d ns", t.ID, t.EndNS, t.BeginNS)
		}
		if err := p.checkTies(t); err != nil {
			return fmt.Errorf("thread %d: %w", t.ID, err)
		}
		if err := p.checkCounts(t.Totals); err != nil {
			return fmt.Errorf("thread %d: totals: %w", t.ID, err)
		}
	}
	return nil
}

// checkTies: who created and who joined a thread. Its creator was born before it.
func (p *Profile) checkTies(t *Thread) error {
	known := func(id ThreadID) bool {
		i := sort.Search(len(p.Threads), func(i int) bool { return p.Threads[i].ID >= id-1 })
		return i < len(p.Threads) && p.Threads[i].ID == id-1
	}
	switch {
	case t.Creator != 0 && (t.Creator > t.ID || !known(t.Creator)):
		return fmt.Errorf("created by thread %d, which is not one before it", t.Creator-1)
	case t.Joiner != 0 && (t.Joiner-1 == t.ID || !known(t.Joiner)):
		return fmt.Errorf("joined by thread %d, which is not another one", t.Joiner-1)
	case (t.Joiner != 0) != (t.JoinedNS != 0) || t.JoinedNS < 0 || t.Joiner != 0 && t.JoinedNS < t.BeginNS:
		return fmt.Errorf("joined at %d ns by thread %d, counted from 1", t.JoinedNS, t.Joiner)
	case t.CreatedNS < 0 || t.CreatedCPUNS < 0 || t.JoinNS < 0 || t.JoinCPUNS < 0:
		return errors.New("created or joined at a negative time")
	case t.CreatedNS > t.BeginNS || t.Creator == 0 && t.CreatedNS+t.CreatedCPUNS > 0:
		return fmt.Errorf("begins at %d ns, and is created at %d ns", t.BeginNS, t.CreatedNS)
	case t.With != 0 && !known(t.With):
		return fmt.Errorf("counted with thread %d, which is none", t.With-1)
	case t.JoinNS > t.JoinedNS || t.Joiner == 0 && t.JoinCPUNS > 0:
		return fmt.Errorf("is waited for from %d ns until %d ns", t.JoinNS, t.JoinedNS)
	}
	return nil
}

func (p *Profile) checkCounts(c Counts) error {
	if len(c.Event) != len(c.N) {
		return fmt.Errorf("%d events with %d counts", len(c.Event), len(c.N))
	}
	for i, e := range c.Event {
		switch {
		case e < 0 || int(e) >= len(p.Events):
			return fmt.Errorf("event %d is not among the %d", e, len(p.Events))
		case i > 0 && c.Event[i-1] >= e:
			return fmt.Errorf("event %d is not after the one before, %d", e, c.Event[i-1])
		case c.N[i] == 0:
			return fmt.Errorf("event %d is listed with count 0", e)
		}
	}
	return nil
}

func (p *Profile) checkSections() error {
	known := make(map[ThreadID]bool, len(p.Threads))
	for i := range p.Threads {
		known[p.Threads[i].ID] = true
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		if err := p.checkSection(s, known); err != nil {
			return fmt.Errorf("section %d (%q at %#x): %w", i, s.Kind, s.Site, err)
		}
	}
	return nil
}

func (p *Profile) checkSection(s *Section, known map[ThreadID]bool) error {
	switch s.Kind {
	case Barrier, Join, OpenMP, Goroutines, MPI:
		if s.Site == 0 {
			return fmt.Errorf("has no site")
		}
	case Threads:
		if s.Site != 0 {
			return fmt.Errorf("stands for whole threads, but has a site")
		}
	default:
		return fmt.Errorf("kind is not known")
	}
	if s.Outside < 0 {
		return fmt.Errorf("stands outside of %d frames", s.Outside)
	}
	folded := false
	for i := range s.Instances {
		in := &s.Instances[i]
		if err := in.check(known); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
		if err := in.Call.check(s.Kind); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
		folded = folded || in.Folded > 1
		if err := p.checkParts(in.Parts, known, in.Folded == 1); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
	}
	if s.TimeNS < 0 || s.TimeNS > 0 && !folded {
		return fmt.Errorf("lasted %d ns, which is said of sections with folded instances only", s.TimeNS)
	}
	if folded != (len(s.Totals) > 0) {
		return fmt.Errorf("has %d totals, which go with folded instances only", len(s.Totals))
	}
	if err := p.checkParts(s.Totals, known, true); err != nil {
		return fmt.Errorf("totals: %w", err)
	}
	if err := s.checkSlots(); err != nil {
		return err
	}
	if err := s.Units.check(); err != nil {
		return err
	}
	return checkWarnings("its warnings", s.Warnings)
}

func (in *Instance) check(known map[ThreadID]bool) error {
	switch {
	case in.Folded < 1:
		return fmt.Errorf("stands for %d executions", in.Folded)
	case in.SpanNS < 0:
		return errors.New("negative span")
	case len(in.Parts) == 0:
		return errors.New("has no parts")
	case in.Waiter != 0 && (in.Folded > 1 || !known[in.Waiter-1]):
		return fmt.Errorf("thread %d, which is not known, or of one of several executions, has waited for it", in.Waiter-1)
	}
	for j := range in.Parts {
		if in.Folded > 1 && in.Parts[j].Thread != ThreadID(j) {
			return fmt.Errorf("folded, but part %d has rank %d", j, in.Parts[j].Thread)
		}
	}
	return nil
}

// checkSlots: every part has a slot, or none; none twice in an instance.
func (s *Section) checkSlots() error {
	known := SlotID(-1)
	check := func(parts []Part) error {
		seen := map[SlotID]bool{}
		for i := range parts {
			q := &parts[i]
			if known < 0 {
				known = min(q.Slot, 1)
			}
			switch {
			case q.Slot < 0 || (q.Slot > 0) != (known > 0):
				return fmt.Errorf("thread %d: slot %d, where others have one or none has", q.Thread, q.Slot)
			case q.Slot > 0 && seen[q.Slot]:
				return fmt.Errorf("thread %d: slot %d is another thread's too", q.Thread, q.Slot)
			}
			seen[q.Slot] = true
		}
		return nil
	}
	for i := range s.Instances {
		in := &s.Instances[i]
		for k := range in.Parts {
			if q := &in.Parts[k]; q.Several || in.Folded > 1 && q.Slot != 0 {
				return fmt.Errorf("instance %d: part %d has the slot %d or that of several threads, which is not for it", i, k, q.Slot)
			}
		}
		if in.Folded > 1 {
			continue
		}
		if err := check(in.Parts); err != nil {
			return fmt.Errorf("instance %d: %w", i, err)
		}
	}
	if err := check(s.Totals); err != nil {
		return fmt.Errorf("totals: %w", err)
	}
	return nil
}

// checkParts checks parts; with ids their threads must be known.
func (p *Profile) checkParts(parts []Part, known map[ThreadID]bool, ids bool) error {
	for i := range parts {
		t := &parts[i]
		switch {
		case i > 0 && parts[i-1].Thread >= t.Thread:
			return fmt.Errorf("the part of thread %d follows that of thread %d", t.Thread, parts[i-1].Thread)
		case ids && !known[t.Thread]:
			return fmt.Errorf("thread %d is not known", t.Thread)
		case t.BusyNS < 0 || t.WaitNS < 0:
			return fmt.Errorf("thread %d: negative time", t.Thread)
		case !t.Timed && (t.BusyNS != 0 || t.WaitNS != 0):
			return fmt.Errorf("thread %d: has times, but is not timed", t.Thread)
		}
		if err := p.checkCounts(t.Counts); err != nil {
			return fmt.Errorf("thread %d: %w", t.Thread, err)
		}
		if err := checkWaits(t.Waits); err != nil {
			return fmt.Errorf("thread %d: %w", t.Thread, err)
		}
		if err := checkWakes(t.Wakes, known); err != nil {
			return fmt.Errorf("thread %d: %w", t.Thread, err)
		}
		if err := checkSyncs(t.Syncs, known); err != nil {
			return fmt.Errorf("thread %d: %w", t.Thread, err)
		}
		if err := checkMessages(t.Messages); err != nil {
			return fmt.Errorf("thread %d: %w", t.Thread, err)
		}
		if err := p.checkCounts(t.Inner); err != nil {
			return fmt.Errorf("thread %d: inner: %w", t.Thread, err)
		}
		if t.InnerBusyNS < 0 || t.InnerBusyNS > 0 && !t.Timed {
			return fmt.Errorf("thread %d: forks inside it took %d ns", t.Thread, t.InnerBusyNS)
		}
	}
	return nil
}
