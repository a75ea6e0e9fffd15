package x86

import "math"

// Access is one access to memory that an instruction makes.
type Access struct {
	// Mem is the address, by what the registers hold before the instruction:
	// push stores at [rsp-8]. Base and Index are None where it has none.
	Mem    Mem
	Target uint64 // with Mem.RIP or Absolute: the address, at link time
	Size   int    // bytes, at least 1

	// Load and Store: both are one access that reads and then writes the same
	// bytes, with a lock prefix or without.
	Load, Store bool

	Repeats  bool // of a string instruction with a prefix: rcx times (with a condition: at most), downward if the direction flag is set
	Absolute bool // Target is the address and Mem has no part in it: mov with opcodes a0 … a3
	AL       bool // of the index, rax, only al counts: xlat
}

// Accesses appends the accesses to memory that an instruction makes to list, in
// the order that it makes them, those of the stack included. A call's are its
// own, not those of what it calls.
//
// It is not ok where an access is left out: because only the execution shows
// its address or its size (bt with a register, xsave, enter, a mask), because
// it is many (gather, scatter), or because the kernel makes it (syscall). Of
// maskmovdqu, which stores some bytes of 16 in a row, the 16 are given.
//
// What only names an address is no access: lea, prefetches, flushes of cache
// lines, nops. Nor are a processor's own tables, which lar and verr look up.
func (in *Insn) Accesses(list []Access) (_ []Access, ok bool) {
	a := accesses{in: in, form: in.form(), list: list}
	if in.Map == 0 {
		a.oneByte()
	} else {
		a.escaped()
	}
	return a.list, !a.unknown
}

// accesses is the state of Accesses.
type accesses struct {
	in *Insn
	form
	list    []Access
	unknown bool
}

// oneByte has the one-byte opcodes, most of which that access more than their
// operand are.
func (a *accesses) oneByte() {
	switch in, c := a.in, a.in.Opcode; {
	case c >= 0x50 && c <= 0x57, c == 0x68, c == 0x6a, c == 0x9c: // push, pushf
		a.push()
	case c >= 0x58 && c <= 0x5f, c == 0x9d, c == 0xc2, c == 0xc3: // pop, popf, ret
		a.load(RSP, a.slot())
	case c == 0x8f: // pop to memory
		a.load(RSP, a.slot())
		a.operand()
	case c >= 0xa0 && c <= 0xa3:
		a.list = append(a.list, Access{
			Mem: at(None, 0), Target: uint64(in.Imm), Absolute: true, Size: a.stringSize(), Load: in.Loads, Store: in.Stores,
		})
	case in.IsString():
		a.stringInsn()
	case c == 0xc8: // enter: its level says how many frame pointers it copies
		a.unknown = true
	case c == 0xc9: // leave
		a.load(RBP, a.slot())
	case c == 0xd7: // xlat
		m := Mem{Base: RBX, Index: RAX, Scale: 1}
		a.list = append(a.list, Access{Mem: m, Size: 1, Load: true, AL: true})
	case c == 0xe8:
		a.push()
	case c == 0xff && (in.Ext() == 2 || in.Ext() == 6): // call, push
		a.operand()
		a.push()
	default:
		a.operand()
	}
}

// escaped has all the others, those of VEX and EVEX among them.
func (a *accesses) escaped() {
	switch in, c := a.in, a.in.Opcode; {
	case in.HasMem && in.Map == 2 && c == 0xf8: // movdir64b
		n := len(a.list)
		a.operand()
		a.list[n].Store = false
		a.list = append(a.list, Access{Mem: at(in.Reg, 0), Size: a.list[n].Size, Store: true})
	case in.HasMem:
		a.operand()
	case in.Vex == 0 && in.Map == 1 && (c == 0xa0 || c == 0xa8): // push fs, push gs
		a.push()
	case in.Stores && in.Map == 1 && c == 0xf7: // maskmovq, maskmovdqu
		a.list = append(a.list, Access{Mem: at(RDI, 0), Size: a.size(), Store: true})
	case in.Stores: // syscall, and clzero, which zeroes the line that rax points into
		a.unknown = true
	}
}

// operand is the access to the operand that ModRM names, if that is one.
func (a *accesses) operand() {
	in := a.in
	if !in.HasMem || !in.Loads && !in.Stores {
		return
	}
	acc := Access{Mem: in.Mem, Target: in.RIPTarget, Size: a.size(), Load: in.Loads, Store: in.Stores}
	if in.Map == 0 && in.Opcode == 0x8f && in.Mem.Base == RSP {
		// pop has taken its value off the stack when it addresses its operand.
		if in.Mem.Disp > math.MaxInt32-8 {
			a.unknown = true
			return
		}
		acc.Mem.Disp += int32(a.slot())
	}
	if acc.Size == 0 {
		a.unknown = true
		return
	}
	a.list = append(a.list, acc)
}

// stringInsn is movs, cmps, stos, lods or scas. The first two access both
// places, the source first.
func (a *accesses) stringInsn() {
	in := a.in
	acc := Access{Size: a.stringSize(), Repeats: in.Rep != 0}
	source, destination := acc, acc
	source.Mem, source.Load = at(RSI, 0), true
	destination.Mem, destination.Load, destination.Store = at(RDI, 0), !in.Stores, in.Stores
	switch in.Opcode &^ 1 {
	case 0xa4, 0xa6:
		a.list = append(a.list, source, destination)
	case 0xaa, 0xae:
		a.list = append(a.list, destination)
	case 0xac:
		a.list = append(a.list, source)
	}
}

// push stores below the stack's top.
func (a *accesses) push() {
	n := a.slot()
	a.list = append(a.list, Access{Mem: at(RSP, -int32(n)), Size: n, Store: true})
}

// load loads what a register points to.
func (a *accesses) load(base Reg, size int) {
	a.list = append(a.list, Access{Mem: at(base, 0), Size: size, Load: true})
}

// slot is the size of what the instruction pushes or pops.
func (a *accesses) slot() int {
	if a.in.Opsize && !a.w {
		return 2
	}
	return 8
}

// stringSize is the size of rax's part that a string instruction, or mov with
// an absolute address, is about: the opcode's low bit says whether it is al.
func (a *accesses) stringSize() int {
	if a.in.Opcode&1 == 0 {
		return 1
	}
	return a.general()
}

func at(base Reg, disp int32) Mem { return Mem{Base: base, Index: None, Disp: disp} }
