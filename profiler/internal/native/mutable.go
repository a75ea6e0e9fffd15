package native

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Programs that change their own code (static keys, inline caches, hot patches)
// make it writable first. The code that runs was moved, and would go on as it
// was: so a breakpoint in mprotect, of programs that call it, gives pages back
// before they are written. From then on they run where they always were.

// mprotect is the C library's function, watched.
type mprotect struct {
	at  uint64          // of its instruction that loads the number of the system call
	off map[string]bool // functions that were given back, by name
}

// loadsMprotect is that instruction: mov $10, %eax.
var loadsMprotect = []byte{0xb8, 10, 0, 0, 0}

// watchMprotect sets the breakpoint, where a module that is counted calls mprotect.
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
		if bytes.HasPrefix(code, loadsMprotect) && p.Write([]byte{asm.Breakpoint}, at) == nil {
			in.mprotect = &mprotect{at, map[string]bool{}}
			return
		}
	}
}

// protects: somebody calls mprotect.
func (s *session) protects(e tracee.Event, pc uint64) (bool, error) {
	w := s.in.mprotect
	if w == nil || pc-1 != w.at {
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

// forget takes the breakpoint out of a forked child, which runs on alone.
func (w *mprotect) forget(p *tracee.Process, child int) {
	takeOut(p, child, w.at, loadsMprotect[:1])
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
