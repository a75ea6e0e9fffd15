package probe

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/record"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Hooks. A library function is reached through a PLT stub, or through a GOT
// slot by code built without PLT. The stub's first bytes become a jump to the
// hook, which records and then goes where the stub would have gone, through
// the slot, so that lazy binding still works. A slot without a stub gets the
// hook's address once the loader has filled it. In a static program the
// function itself is the program's, and its entry leads to the hook.

// hookLibrary emits the hooks of stubs and slots, and returns the slots.
func (m *emitter) hookLibrary() (slots []Slot) {
	im := m.s.Program.Image
	taken := map[uint64]bool{}
	for _, at := range sortedKeys(im.PLT) {
		slot, ok := stubSlot(im.Bytes(at), at)
		if !ok {
			continue
		}
		taken[slot] = true
		h, ok := m.s.hooks(im.PLT[at])
		if !ok {
			continue
		}
		m.plt = append(m.plt, stub{at, m.pc()})
		m.hook(h, func(op byte) {
			m.b(0xff, op) // call or jmp *slot(%rip)
			m.relTo(slot)
		})
	}
	for _, slot := range sortedKeys(im.GOT) {
		h, ok := m.s.hooks(im.GOT[slot])
		if !ok || taken[slot] {
			continue
		}
		literal := m.pc()
		m.d64(0)
		slots = append(slots, Slot{slot, int32(len(m.buf)), int32(literal - m.base)})
		m.hook(h, func(op byte) {
			m.b(0xff, op)
			m.relTo(literal)
		})
	}
	return slots
}

// hook emits one hook; enter emits the call (0x15) or jump (0x25) to the function.
func (m *emitter) hook(h record.Hook, enter func(op byte)) {
	record := func(kind uint32) {
		m.b(0x41, 0xbb) // mov $kind,%r11d
		m.d32(kind)
		m.b(0xe8)
		m.relTo(m.base + recordEntry)
	}
	arrive := h.Arrive | scanBit
	if h.Waits {
		arrive |= waitBit
	}
	if h.Wakes {
		arrive |= wakeBit
	}
	record(arrive)
	if h.Leave == 0 {
		enter(0x25)
		return
	}
	m.b(0x48, 0x83, 0xec, 8) // sub $8,%rsp: keeps the stack aligned
	enter(0x15)
	m.b(0x48, 0x83, 0xc4, 8)
	kind := h.Leave
	if m.s.Program.Image.Static {
		kind |= scanBit // the wait itself ran in counted code
	}
	record(kind)
	m.b(0xc3)
}

// stubSlot finds the GOT slot that a PLT stub jumps through.
func stubSlot(code []byte, at uint64) (uint64, bool) {
	end := at + 16
	for at < end && len(code) > 0 {
		in, err := x86.Decode(code[:min(15, len(code))], at)
		if err != nil {
			return 0, false
		}
		if in.Kind == x86.JmpInd {
			return in.RIPTarget, in.RIPOff > 0
		}
		code, at = code[in.Len():], in.End()
	}
	return 0, false
}

// stub is a stub of the procedure linkage table and the hook in its stead.
type stub struct{ addr, hook uint64 }

func (m *emitter) patchStubs() {
	for _, s := range m.plt {
		m.patchJump(s.addr, s.hook)
	}
}

// patch replaces bytes of the program's text.
func (m *emitter) patch(at uint64, b ...byte) {
	for i := range m.code.Texts {
		t := &m.code.Texts[i]
		if o := at - t.Addr; o < uint64(len(t.New)) && o+uint64(len(b)) <= uint64(len(t.New)) {
			copy(t.New[o:], b)
			for k := at - m.s.Program.Image.Lowest; b != nil; k++ {
				if m.written[k/64]&(1<<(k%64)) != 0 {
					m.fail("patches overlap at %#x", at)
				}
				m.written[k/64] |= 1 << (k % 64)
				if b = b[1:]; len(b) == 0 {
					return
				}
			}
		}
	}
	m.fail("no code at %#x", at)
}

func (m *emitter) patchJump(at, to uint64) {
	d := uint32(int64(to) - int64(at+5))
	m.patch(at, 0xe9, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
}

// landings writes the jumps from original code into the copy.
func (m *emitter) landings(q *plan) {
	to := func(l label) uint64 {
		if l.kind == atEntry {
			l = m.entrance(q)
		}
		return m.addr(l)
	}
	for _, p := range q.patches {
		m.code.landings = append(m.code.landings, p.at)
		m.patchJump(p.at, to(p.label))
	}
	for _, p := range q.boards {
		m.code.landings = append(m.code.landings, p.at)
		m.patchJump(p.at, to(p.label))
	}
	for _, p := range q.hops {
		m.code.landings = append(m.code.landings, p.at)
		m.patch(p.at, 0xeb, byte(int8(int64(p.to)-int64(p.at+2))))
	}
}

// entrance is where a function is entered from outside: in its hook, if it has one.
func (m *emitter) entrance(q *plan) label {
	if m.s.Program.Image.Static {
		if _, ok := m.s.hooks(q.f.Name); ok {
			return label{atHook, q.number}
		}
	}
	return label{atEntry, q.number}
}

// retarget lets direct calls, which run at their original place, call the
// copy of their callee without a detour over its landing.
func (m *emitter) retarget(q *plan) {
	for _, b := range m.g.Blocks {
		for i := range b.Calls {
			c := &b.Calls[i]
			if q.is(c, direct) || c.Insn.Kind != x86.Call || c.Callee == nil {
				continue
			}
			if to := m.s.byFunc[c.Callee]; to != nil {
				m.recalled = append(m.recalled, recall{c.Insn.End(), to})
			}
		}
	}
}

// recall is a call in place whose target becomes the copy: the address behind
// it, where its displacement ends.
type recall struct {
	end uint64
	to  *plan
}

func (m *emitter) patchCalls() {
	for _, x := range m.recalled {
		d := uint32(int64(m.addr(m.entrance(x.to))) - int64(x.end))
		m.patch(x.end-4, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
	}
}

func sortedKeys(m map[uint64]string) []uint64 {
	k := make([]uint64, 0, len(m))
	for a := range m {
		k = append(k, a)
	}
	sort.Slice(k, func(i, j int) bool { return k[i] < k[j] })
	return k
}
