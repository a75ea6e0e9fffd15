package native

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// Libraries' constructors may start threads (OpenBLAS does). When the program
// comes to its entry these are stopped, wherever they are. They count from then
// on as all others do; but the functions that they are in, or will return to,
// must stay as they are.

// early is where threads are before the program begins.
type early struct {
	pcs   []uint64
	words []uint64 // on their stacks: return addresses, and whatever looks like one
}

// deepest is how much of a thread's stack is looked at.
const deepest = 8 << 20

// find stops the threads and looks where they are.
func (x *early) find(p *tracee.Process) error {
	if err := p.StopOthers(); err != nil {
		return err
	}
	others := p.Others()
	if len(others) == 0 {
		return nil
	}
	ms, err := p.Mappings()
	if err != nil {
		return err
	}
	for _, tid := range others {
		pc, err := p.PC(tid)
		if err != nil {
			continue // it was killed meanwhile
		}
		x.pcs = append(x.pcs, pc)
		sp := p.SP(tid) &^ 7
		i := slices.IndexFunc(ms, func(m tracee.Mapping) bool { return sp >= m.Lo && sp < m.Hi })
		if i < 0 {
			continue
		}
		stack := make([]byte, min(ms[i].Hi-sp, deepest))
		if err := p.Read(stack, sp); alive(err) != nil {
			return err
		}
		for ; len(stack) >= 8; stack = stack[8:] {
			if w := binary.LittleEndian.Uint64(stack); w >= 1<<16 {
				x.words = append(x.words, w)
			}
		}
	}
	slices.Sort(x.words)
	x.words = slices.Compact(x.words)
	return nil
}

// within reports whether a thread stands inside of code that is to be replaced.
func (x *early) within(at uint64, n int) bool {
	return slices.ContainsFunc(x.pcs, func(pc uint64) bool { return pc > at && pc < at+uint64(n) })
}

// hold keeps the functions that threads are in from being moved.
func (in *injection) hold() {
	if len(in.early.pcs) == 0 {
		return
	}
	in.doubts = append(in.doubts, profile.Warning{Code: "library",
		Message: fmt.Sprintf("libraries started %d threads before the program began: what these did until then is not counted", len(in.early.pcs))})
	for _, m := range in.modules {
		var held []uint64
		for _, a := range slices.Concat(in.early.pcs, in.early.words) {
			link, ok := m.link(a)
			if !ok {
				continue
			}
			if f := m.im.FuncAt(link); f != nil && f.Addr != link {
				held = append(held, link)
			}
		}
		m.held = held
	}
}

// adopt gives the threads that are there already their numbers and areas. They
// go on when what they stopped for is handled.
func (s *session) adopt(first *thread) error {
	others := s.p.Others()
	for !s.in.mapped(first.slot + len(others)) { // the others may be inside of system calls
		if err := s.in.grow(s.p, s.p.Pid); err != nil {
			return err
		}
	}
	for _, tid := range others {
		t, err := s.threads.birth(tid, first)
		if err != nil {
			return err
		}
		if err := s.p.SetGS(tid, s.in.base(t.slot)); alive(err) != nil {
			return err
		}
	}
	return nil
}
