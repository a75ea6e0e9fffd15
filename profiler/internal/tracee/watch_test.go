package tracee

import (
	"slices"
	"testing"
	"time"
)

// TestAlarm ends a wait in which nothing happens, again and again until it is
// taken back.
func TestAlarm(t *testing.T) {
	p := start(t, "sleepers")
	check(t, p.Go())
	e, _ := until(t, p, Trap)
	check(t, p.Resume(e))
	if !p.Alarm(time.Millisecond) || !p.Alarm(time.Hour) {
		t.Fatal("no alarm")
	}
	for range 3 {
		e, _ := until(t, p, Rang)
		check(t, p.Resume(e))
	}
	p.NoAlarm()
	p.NoAlarm()
	p.Kill()
}

// TestAdopt takes a thread that goes on meanwhile, as one that was left alone.
func TestAdopt(t *testing.T) {
	p := start(t, "sleepers")
	check(t, p.Go())
	e, _ := until(t, p, Trap)
	tids, err := p.Tasks()
	check(t, err)
	slices.Sort(tids)
	if len(tids) != 5 || tids[0] != p.Pid || p.Traced(1) || p.Handles() || p.Filtered() {
		t.Errorf("threads %v of %d", tids, p.Pid)
	}
	check(t, p.Adopt(e.Tid))
	if !p.Traced(p.Pid) || p.Watch(p.Pid) == nil {
		t.Error("it is not traced, or twice")
	}
	p.Kill()
	if p.Watch(tids[4]) == nil {
		t.Error("a dead thread is watched")
	}
}
