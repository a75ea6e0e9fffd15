package probe

import (
	"encoding/binary"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Hooks. A library function is reached through a PLT stub, or through a GOT
// slot by code built without PLT. The stub's first bytes become a jump to the
// hook, which records and then goes where the stub would have gone, through
// the slot, so that lazy binding still works. A slot without a stub gets the
// hook's address once the loader has filled it. In a static program the
// function itself is the program's, and its entry leads to the hook.

type emitter struct {
	*assembler
	s   *Spec
	plt []stub
}

type stub struct{ addr, slot uint64 }

// hookLibrary emits the hooks of stubs and slots and returns the slots' new values.
func (m *emitter) hookLibrary(word func(uint64) (uint64, error)) (map[uint64]uint64, error) {
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
		m.mark(label{atHook, at})
		m.hook(h, func(op byte) {
			m.b(0xff, op) // call or jmp *slot(%rip)
			m.relTo(slot + m.bias)
		})
		m.plt = append(m.plt, stub{at, slot})
	}
	slots := map[uint64]uint64{}
	for _, slot := range sortedKeys(im.GOT) {
		h, ok := m.s.hooks(im.GOT[slot])
		if !ok || taken[slot] {
			continue
		}
		real, err := word(slot)
		if err != nil {
			return nil, err
		}
		if real == 0 {
			continue
		}
		literal := m.pc()
		m.d64(real)
		slots[slot] = m.pc()
		m.hook(h, func(op byte) {
			m.b(0xff, op)
			m.relTo(literal)
		})
	}
	return slots, m.err
}

// hook emits one hook; enter emits the call (0x15) or jump (0x25) to the function.
func (m *emitter) hook(h Hook, enter func(op byte)) {
	record := func(kind uint32) {
		m.b(0x41, 0xbb) // mov $kind,%r11d
		m.d32(kind)
		m.b(0xe8)
		m.relTo(m.base + recordEntry)
	}
	record(h.Arrive | scanBit)
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

func (m *emitter) patchStubs(c *Code) {
	for _, s := range m.plt {
		m.patchJump(c, s.addr, m.addr(label{atHook, s.addr}))
	}
}

func (m *emitter) patchJump(c *Code, at, to uint64) {
	b := []byte{0xe9, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(b[1:], uint32(int64(to)-int64(at+m.bias+5)))
	c.Patches = append(c.Patches, Patch{Addr: at, New: b})
}

// landings writes the jumps from original code into the copy.
func (m *emitter) landings(q *plan, c *Code) {
	for _, p := range q.patches {
		to := m.addr(m.arrival(p.label))
		if p.board == 0 {
			m.patchJump(c, p.at, to)
			continue
		}
		m.patchJump(c, p.board, to)
		c.Patches = append(c.Patches, Patch{Addr: p.at, New: []byte{0xeb, byte(int8(int64(p.board) - int64(p.at+2)))}})
	}
}

// arrival is where control that arrives at a landing goes on: at the entry of
// a hooked function, in its hook.
func (m *emitter) arrival(l label) label {
	if l.kind == atEntry {
		if _, ok := m.labels[label{atHook, l.at}]; ok {
			return label{atHook, l.at}
		}
	}
	return l
}

// retarget lets direct calls, which run at their original place, call the
// copy of their callee without a detour over its landing.
func (m *emitter) retarget(q *plan, c *Code) {
	for _, b := range q.f.Blocks {
		for i := range b.Calls {
			call := &b.Calls[i]
			if q.direct[call.Insn.Addr] || call.Insn.Kind != x86.Call || call.Callee == nil || !m.s.Moved(call.Callee) {
				continue
			}
			to := m.addr(m.arrival(entryOf(call.Callee)))
			n := make([]byte, 4)
			binary.LittleEndian.PutUint32(n, uint32(int64(to)-int64(call.Insn.End()+m.bias)))
			c.Patches = append(c.Patches, Patch{Addr: call.Insn.Addr + uint64(call.Insn.RelOff), New: n})
		}
	}
}

func entryOf(f *cfg.Func) label { return label{atEntry, f.Entry.Start} }

func sortedKeys(m map[uint64]string) []uint64 {
	k := make([]uint64, 0, len(m))
	for a := range m {
		k = append(k, a)
	}
	sort.Slice(k, func(i, j int) bool { return k[i] < k[j] })
	return k
}
