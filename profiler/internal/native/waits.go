package native

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// longWait is how long a system call takes that has blocked. Shorter ones are
// not told from work.
const longWait = 20 * time.Microsecond

// waits are the system calls of the target's libraries that are timed.
type waits struct {
	stubs     *blocking.Stubs // nil: none are
	libraries []timed
	guards    bool // the C library's calls are known before they are made: see births
}

// timed is a library whose system calls are timed.
type timed struct {
	*survey
	bias uint64
}

// name is the function that a run-time address of a timed library lies in.
func (w *waits) name(pc uint64) string {
	for _, l := range w.libraries {
		if a := pc - l.bias; a >= l.low && a < l.high {
			return l.nameAt(a)
		}
	}
	return ""
}

// prepareWaits makes the stubs of all libraries' system calls, but for those
// whose code was moved, and the dynamic linker's. The program runs as well
// without.
func (in *injection) prepareWaits(p *tracee.Process, dir string) error {
	loaded, err := libraries(p)
	if err != nil {
		return err
	}
	var list []blocking.Placed
	sites, lowest, golang := 0, ^uint64(0), in.modules[0].im.Go
	for _, l := range loaded {
		if in.counts(l.path) || l.path == in.modules[0].im.Interp {
			continue
		}
		is, err := surveyOf(l.path, dir)
		if err != nil {
			continue // the dynamic linker is no shared object everywhere; what has no code has no waits
		}
		found := is.timed
		if len(is.guards) > 0 && golang == nil && p.SetsGS() {
			found, in.waits.guards = blocking.Both(found, is.guards), true
		}
		bias := l.lowest - is.low&^0xfff
		in.waits.libraries = append(in.waits.libraries, timed{is, bias})
		if len(found) > 0 && golang == nil {
			list = append(list, blocking.Placed{Sites: found, Bias: bias})
			sites, lowest = sites+len(found), min(lowest, l.lowest)
		}
	}
	if golang != nil { // whose threads wait for nobody but the runtime
		return nil
	}
	if sites == 0 { // but for timer.S, which moved code calls from wherever it is
		lowest = in.modules[0].cache + 2<<30
	}
	return in.mapStubs(p, list, blocking.Size(sites), lowest)
}

// counts reports whether a file's code was moved.
func (in *injection) counts(path string) bool {
	for _, m := range in.modules {
		if m.im.Path == path {
			return true
		}
	}
	return false
}

// mapStubs maps the stubs' memory within reach of all libraries.
func (in *injection) mapStubs(p *tracee.Process, list []blocking.Placed, size, lowest uint64) error {
	at, err := mapNear(p, size, lowest)
	if err != nil {
		return err
	}
	in.waits.stubs, err = blocking.Assemble(at, list...)
	if err == nil {
		err = p.Write(in.waits.stubs.Bytes, in.waits.stubs.Base)
	}
	return err
}

// mapNear maps memory for code that libraries' jumps reach, from the lowest of them on.
func mapNear(p *tracee.Process, size, lowest uint64) (at uint64, err error) {
	const gap, step, reach = 512 << 20, 16 << 20, 1 << 30 // below: what is loaded later comes next to the others
	for at = (lowest - gap - size) &^ 0xfff; ; at -= step {
		if lowest-at > reach {
			return 0, fmt.Errorf("no room near the libraries: %w", err)
		}
		if err = p.MapCode(at, size); err == nil {
			return at, nil
		}
	}
}

// timer is what moved code calls when a system call took long: where there is
// nothing to record that, a ret.
func (in *injection) timer() uint64 {
	if s := in.waits.stubs; s != nil {
		return s.Base
	}
	return in.modules[0].cache + threadarea.RecordEnd
}

// timeWaits leads the libraries' system calls to the stubs.
func (in *injection) timeWaits(p *tracee.Process) error {
	stubs := in.waits.stubs
	if stubs == nil {
		return nil
	}
	var texts []text
	for _, j := range stubs.Jumps {
		old := make([]byte, len(j.Old))
		if err := p.Read(old, j.At); err != nil {
			return err
		}
		if string(old) == string(j.Old) && !in.early.within(j.At, len(old)) { // else somebody has changed it before
			texts = append(texts, text{j.At, old, j.New})
		} else {
			in.waits.guards = false
		}
	}
	return write(p, texts)
}

// inStub delivers a signal to a thread that stands in a stub: the thread is
// put where it would be if the system call had been made by the original.
func (s *signals) inStub(e tracee.Event, pc uint64) error {
	stubs := s.in.waits.stubs
	if s.p.Fault(e) {
		if stubs.Clock(pc) {
			return s.tick(e)
		}
		to, ok := stubs.Faulted(pc)
		if !ok {
			return s.p.Resume(e)
		}
		if err := s.p.SetPC(e.Tid, to); alive(err) != nil {
			return err
		}
		return s.p.Resume(tracee.Event{Kind: tracee.Other, Tid: e.Tid})
	}
	if to, ok := stubs.Interrupted(pc); ok {
		if s.p.Caught(e.Sig) && !s.quiet(e.Tid) {
			s.cut++
		}
		if err := s.p.SetPC(e.Tid, to); alive(err) != nil {
			return err
		}
		return s.hand(e)
	}
	if !e.CanWait() || !s.p.CanTrap(e.Tid) {
		return s.p.Resume(e)
	}
	return alive(s.leaveStub(e, pc))
}

// quiet reports whether a thread in a stub is in a call whose waits are not recorded.
func (s *signals) quiet(tid int) bool {
	gs, err := s.p.GS(tid)
	if err != nil {
		return false
	}
	b := make([]byte, 4)
	return s.p.Read(b, gs+threadarea.OffQuiet) == nil && blocking.Quiet(s.p.SP(tid), binary.LittleEndian.Uint32(b))
}

// leaveStub lets a thread go on to its system call, or out of the stub, then
// lets it have the signal.
func (s *signals) leaveStub(e tracee.Event, pc uint64) error {
	h, err := s.p.Hold(e)
	if err != nil {
		return err
	}
	stubs := s.in.waits.stubs
	for n := 0; n < maxSteps && stubs.Holds(pc); n++ {
		if to, ok := stubs.Interrupted(pc); ok {
			if err := s.p.SetPC(e.Tid, to); err != nil {
				return err
			}
			break
		}
		got, err := s.p.Step(e.Tid)
		if err != nil {
			break
		}
		if pc, err = s.p.PC(e.Tid); err != nil || got.Kind != tracee.Trap || stubs.IsFull(pc) {
			return s.p.PutBack(h, got)
		}
	}
	return s.ready(h, e)
}
