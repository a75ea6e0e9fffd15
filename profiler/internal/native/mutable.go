package native

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/blocking"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Programs that change their own code (static keys, inline caches, hot patches)
// make it writable first. The code that runs was moved, and would go on as it
// was: so who makes it writable by mprotect, of programs that call that, stops, and
// pages are given back before they are written. From then on they run where they always were.

// mprotect is the C library's function, watched: by a ward, or where there is no room for
// that, by a breakpoint.
type mprotect struct {
	at     uint64          // of its instruction that loads the number of the system call
	ward   blocking.Ward   // zero: it is a breakpoint
	ranges []byte          // what the ward knows
	off    map[string]bool // functions that were given back, by name
}

// loadsMprotect is that instruction: mov $10, %eax.
var loadsMprotect = []byte{0xb8, 10, 0, 0, 0}

// watchMprotect watches it, where a module that is counted calls mprotect.
func (in *injection) watchMprotect(p *tracee.Process) {
	if !slices.ContainsFunc(in.modules, func(m *module) bool { return m.im.Imports["mprotect"] }) {
		return
	}
	for _, l := range in.waits.libraries {
		i, n := 0, &l.names
		for i < n.len() && string(n.name(i)) != "mprotect" && string(n.name(i)) != "__mprotect" {
			i++
		}
		if i == n.len() {
			continue
		}
		at := n.address(i) + l.bias
		code := make([]byte, 16)
		if p.Read(code, at) != nil {
			continue
		}
		endbr := []byte{0xf3, 0x0f, 0x1e, 0xfa}
		if bytes.HasPrefix(code, endbr) {
			at, code = at+4, code[4:]
		}
		if !bytes.HasPrefix(code, loadsMprotect) {
			continue
		}
		w := &mprotect{at: at, off: map[string]bool{}}
		if w.guard(in, p, l.low&^0xfff+l.bias) || p.Write([]byte{asm.Breakpoint}, at) == nil {
			in.mprotect = w
			return
		}
	}
}

// guard makes the ward, near a library that begins at an address.
func (w *mprotect) guard(in *injection, p *tracee.Process, lowest uint64) bool {
	if in.early.within(w.at, len(loadsMprotect)) {
		return false
	}
	base, err := mapNear(p, blocking.WardSize, lowest)
	if err != nil {
		return false
	}
	ward := blocking.NewWard(base, w.at)
	code, jump := ward.Code()
	if p.Write(code, base) != nil || p.Write(jump[:], w.at) != nil {
		return false
	}
	w.ward = ward
	return w.know(in, p) == nil
}

// know tells the ward where code is that was moved.
func (w *mprotect) know(in *injection, p *tracee.Process) error {
	if w == nil || w.ward == (blocking.Ward{}) {
		return nil
	}
	var list [][2]uint64
	for _, m := range slices.Concat(in.modules, in.aside) {
		if !m.absent {
			list = append(list, [2]uint64{(m.im.Lowest + m.bias) &^ 0xfff, (m.im.Highest + m.bias + 0xfff) &^ 0xfff})
		}
	}
	ranges, addr := w.ward.Ranges(list)
	w.ranges = ranges
	return p.Write(ranges, addr)
}

// protects: somebody makes such code writable; from a breakpoint, anybody calls mprotect.
func (s *session) protects(e tracee.Event, pc uint64) (bool, error) {
	w := s.in.mprotect
	if w == nil || pc-1 != w.at && !w.ward.Trapped(pc) {
		return false, nil
	}
	addr, size, prot, err := s.p.Arguments(e.Tid)
	if err == nil && prot&syscall.PROT_WRITE != 0 {
		err = s.giveBack(addr, addr+size)
	}
	if err == nil {
		err = s.p.SetAX(e.Tid, uint64(loadsMprotect[1]), w.at+uint64(len(loadsMprotect)))
	}
	if alive(err) != nil {
		return true, err
	}
	return true, s.p.Resume(e)
}

// begins reports whether a thread stands in the ward, and where that began.
func (w *mprotect) begins(pc uint64) (at uint64, ok bool) {
	if w == nil || !w.ward.Holds(pc) {
		return 0, false
	}
	return w.at, true
}

// leaves: a thread comes to the copy of a function that was given back.
func (s *session) leaves(e tracee.Event, pc uint64) (bool, error) {
	m := s.in.cacheOf(pc - 1)
	if m == nil {
		return false, nil
	}
	to, ok := m.patcher.Left(pc - 1 - m.cache)
	if !ok {
		return false, nil
	}
	if err := s.p.SetPC(e.Tid, to+m.bias); alive(err) != nil {
		return true, err
	}
	return true, s.p.Resume(e)
}

// giveBack makes code the program's own again.
func (s *session) giveBack(lo, hi uint64) error {
	for _, m := range s.in.modules {
		if m.absent || hi <= m.im.Lowest+m.bias || lo >= m.im.Highest+m.bias {
			continue
		}
		given, err := m.patcher.GiveBack(lo-m.bias, hi-m.bias, s.p.Threads() == 1)
		if err != nil {
			return fmt.Errorf("give %s its code back, which it wants to change: %w", m.im.Path, err)
		}
		for _, f := range given {
			s.solver.Forget(f.Ranges[0].Lo + m.base)
			s.in.mprotect.off[f.Name] = true
		}
	}
	for _, m := range s.in.aside {
		if hi > m.im.Lowest+m.bias && lo < m.im.Highest+m.bias {
			if _, err := m.patcher.GiveBack(lo-m.bias, hi-m.bias, s.p.Threads() == 1); err != nil {
				return fmt.Errorf("give %s its code back, which the program wants to change: %w", m.im.Path, err)
			}
		}
	}
	return nil
}

// forget takes it out of a forked child, which runs on alone: of a ward what it knows, for
// the code may be that of threads that are in it.
func (w *mprotect) forget(p *tracee.Process, child int) {
	if w.ward == (blocking.Ward{}) {
		takeOut(p, child, w.at, loadsMprotect[:1], []byte{asm.Breakpoint})
		return
	}
	nothing, at := w.ward.Ranges(nil)
	takeOut(p, child, at, nothing, w.ranges[:len(nothing)])
}

func (w *mprotect) has(function string) bool { return w != nil && w.off[function] }

// doubt is the warning where code was given back.
func (w *mprotect) doubt() []profile.Warning {
	if w == nil || len(w.off) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(w.off)))
	return []profile.Warning{{Code: "changed-code", Message: fmt.Sprintf(
		"the program made %d functions of its own writable while it ran, first %s; how often they ran is not known", len(w.off), first)}}
}
