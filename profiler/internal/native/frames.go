package native

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// dwarfNumber is a general register's number in DWARF.
var dwarfNumber = [16]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// original translates a return address in the cache, of a leaf that was called
// from there, or of a signal that came there.
func (r *run) original(pc uint64, interrupted bool) uint64 {
	m := r.in.cacheOf(pc)
	if m == nil {
		return pc
	}
	at := pc - m.cache
	if !interrupted {
		at--
	}
	a, after, ok := m.spec.Origin(m.code, at)
	if !ok {
		return pc
	}
	if interrupted && !after {
		return a + m.bias
	}
	in, err := x86.Decode(m.im.Bytes(a), a)
	if err != nil {
		return pc
	}
	return in.End() + m.bias
}

// openFrames finds the frames of the program that are on an ending thread's
// stack, innermost first: they were entered and will never be left. Most
// threads end in the C library with no frame of the program below.
func (r *run) openFrames(t *thread) (open []record.Delta, next []profile.Addr) {
	regs, err := r.p.DwarfRegs(t.tid)
	if err != nil {
		return nil, nil
	}
	ms, err := r.p.Mappings()
	if err != nil {
		return nil, nil
	}
	var files []unwind.Mapping
	for _, m := range ms {
		if m.Exec && m.Path != "" {
			files = append(files, unwind.Mapping{Lo: m.Lo, Hi: m.Hi, Offset: m.Offset, Path: m.Path})
		}
	}
	r.unwinder.SetMappings(files)
	add := func(pc uint64, after bool) {
		addr, ok := r.in.addr(pc)
		if !ok {
			return
		}
		if d, n, ok := r.solver.ActiveFrame(addr, after); ok {
			open = append(open, d)
			if n != 0 {
				next = append(next, profile.Addr(n))
			}
		}
	}
	pc := &regs[unwind.PC]
	after := false
	if m := r.in.cacheOf(*pc); m != nil {
		a, behind, ok := m.spec.Origin(m.code, *pc-m.cache)
		if !ok {
			return nil, nil
		}
		*pc, after = a+m.bias, behind
	}
	if a, ok := r.in.addr(*pc); ok {
		if d, ok := r.solver.ActiveLoops(a, after, func(x x86.Reg) uint64 { return regs[dwarfNumber[x]] }); ok {
			open = append(open, d...)
		}
	}
	r.unwinder.Original = r.original
	frames, _ := r.unwinder.Stack(regs)
	for i, x := range frames {
		switch {
		case i == 0:
			add(x.PC, after)
		case x.Called:
			add(x.PC-1, true)
		default:
			add(x.PC, false)
		}
	}
	return open, next
}
