package relocate

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Hooks. A library function is reached through a PLT stub, or through a GOT
// slot by code built without PLT. The stub's first bytes become a jump to the
// hook, which records, does what else the stub does, and then goes where the
// stub would have gone, through the slot, so that lazy binding still works. A slot without a stub gets the
// hook's address once the loader has filled it. In a static program the
// function itself is the program's, and its entry leads to the hook.

// pltStub is a stub of the procedure linkage table and the hook in its stead.
type pltStub struct{ addr, hook uint64 }

// hookLibrary emits the hooks of stubs and slots, and returns the slots.
func (m *emitter) hookLibrary() (slots []Slot) {
	im := m.s.Program.Image
	taken := map[uint64]bool{}
	for _, at := range sortedKeys(im.PLT) {
		stub, ok := image.ReadStub(im.Bytes(at), at)
		if !ok {
			continue
		}
		taken[stub.Slot] = true
		h, ok := m.hooked(im.PLT[at])
		if !ok {
			continue
		}
		m.plt = append(m.plt, pltStub{at, m.PC()})
		first := func() {
			for i := range stub.First {
				m.Copy(&stub.First[i])
			}
		}
		m.hookCode(im.PLT[at], h, func() { first(); m.CallThrough(stub.Slot) }, func() { first(); m.JmpThrough(stub.Slot) })
	}
	for _, slot := range sortedKeys(im.GOT) {
		h, ok := m.hooked(im.GOT[slot])
		if !ok || taken[slot] {
			continue
		}
		literal := m.PC()
		m.Quad(0)
		slots = append(slots, Slot{slot, int32(m.Len()), int32(literal - m.cache)})
		m.hookCode(im.GOT[slot], h, func() { m.CallThrough(literal) }, func() { m.JmpThrough(literal) })
	}
	m.hookWithin()
	return slots
}

// hookWithin emits the hooks of a library's functions that were linked to the program:
// calls of them go there, those of each other do not.
func (m *emitter) hookWithin() {
	m.within = map[*cfg.Func]uint64{}
	for _, f := range m.s.Program.Funcs {
		if h, ok := m.hooked(f.Name); ok && f.AsImported() {
			at := f.Ranges[0].Lo
			m.within[f] = m.PC()
			m.hookCode(f.Name, h, func() { m.CallTo(at) }, func() { m.JmpTo(at) })
		}
	}
}

// hookCode emits the hook of a function; call and jump enter it.
func (m *emitter) hookCode(function string, h record.Hook, call, jump func()) {
	if h.Team != record.NoTeam {
		m.forkCode(h, jump)
		return
	}
	if h.Tasks != record.NoTasks {
		m.taskCode(h)
		jump()
		return
	}
	recorded := h != record.Hook{}
	if recorded {
		kind := arriveKind(h)
		if m.outside {
			kind |= threadarea.LibraryBit
		}
		m.recordCall(kind, h.Args)
	}
	if !recorded && !m.s.inGo() { // it is there only because threads look, and who is alone does not
		together := m.Labels(1)
		m.CmpGS32(threadarea.OffAlone, 0)
		m.Jcc(asm.NotEqual^1, together)
		jump()
		m.Bind(together)
	}
	m.looksBefore(function)
	if h.Leave == 0 && recorded || cfg.Deals(function) {
		jump()
		return
	}
	m.framed(h.Args, call)
	if h.Leave != 0 {
		kind := h.Leave
		if (m.s.Program.Image.Static || h.Inside) && !h.Locks {
			kind |= threadarea.ScanBit // the wait itself ran in counted code
		}
		if h.Inside {
			m.Lfence() // no time stamp from before the wait was over
		}
		m.record(kind)
	}
	if !h.Locks { // else it may hold one now
		m.looksBehind(function)
	}
	m.Ret()
}

// forkCode emits the hook of a function that has a team of threads call another
// one, which jump enters. In the stead of that other one it is told to call what
// records and then calls it: see team.inc in package threadarea.
func (m *emitter) forkCode(h record.Hook, jump func()) {
	over := m.Labels(1)
	m.Jmp(over)
	through := m.PC()
	jump()
	m.Bind(over)
	m.Mov(x86.R10, x86.RDI, true)
	m.Mov(x86.RAX, x86.RDX, true)
	m.LeaMem(x86.RDI, &x86.Mem{Base: x86.RSP, Index: x86.None}, 0, -threadarea.TokenBelow)
	if h.Team.Outlines() {
		m.Mov(x86.RDX, x86.R10, true)
	}
	m.record(arriveKind(h))
	m.Mov(x86.RDI, x86.R10, true)
	m.Mov(x86.RDX, x86.RAX, true)
	m.MovImm32(x86.RAX, h.Arrive)
	m.LeaMem(x86.R10, &x86.Mem{RIP: true}, through, 0)
	m.CallTo(m.cache + forkOf[h.Team])
	m.Lfence() // no time stamp from before the others had ended
	m.record(h.Leave | threadarea.ScanBit)
	m.Ret()
}

// forkOf is where in the recorder teams are forked, by how the runtime is asked.
var forkOf = map[record.Team]uint64{record.Libgomp: threadarea.GompFork, record.LibgompReduces: threadarea.GompReduce,
	record.Libomp: threadarea.KmpcFork, record.LibompDecides: threadarea.KmpcDecide}

// arriveKind is the kind of a hook's record before the call, with what it asks for.
func arriveKind(h record.Hook) uint32 {
	kind := h.Arrive
	if !h.Brief {
		kind |= threadarea.ScanBit
	}
	if h.Waits {
		kind |= threadarea.WaitBit
	}
	if h.Wakes {
		kind |= threadarea.WakeBit
	}
	if h.Chain {
		kind |= threadarea.ChainBit
	}
	if h.Quiet {
		kind |= threadarea.QuietBit
	}
	if h.Tasks != record.NoTasks {
		kind |= threadarea.DeepBit // there is much of the runtime's in between
	}
	return kind
}

// record calls the recorder.
func (m *emitter) record(kind uint32) {
	m.MovImm32(x86.R11, kind)
	m.CallTo(m.cache + threadarea.RecordEntry)
}

func sortedKeys(m map[uint64]string) []uint64 {
	k := make([]uint64, 0, len(m))
	for a := range m {
		k = append(k, a)
	}
	sort.Slice(k, func(i, j int) bool { return k[i] < k[j] })
	return k
}

// Outside is a hook of a call that a library makes which was not moved.
type Outside struct {
	Hook     record.Hook
	Function uint64 // its run-time address
}

// Outside emits hooks behind the copy: their code and its offset in the cache,
// and the offset of each.
func (s *Spec) Outside(c *Code, hooks []Outside) (code []byte, at uint64, offsets []uint64) {
	at = (uint64(len(c.Bytes)) + 63) &^ 63
	m := newEmitter(s, c.Base, at)
	for _, h := range hooks {
		literal := m.PC()
		m.Quad(h.Function)
		offsets = append(offsets, m.PC()-m.cache)
		m.outside = true
		m.hookCode("", h.Hook, func() { m.CallThrough(literal) }, func() { m.JmpThrough(literal) })
	}
	return m.Bytes(), at, offsets
}
