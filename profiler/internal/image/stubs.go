package image

import (
	"maps"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// stubs names the procedure linkage table's stubs by the slot that they jump
// through. The layouts differ (lazy or not, with endbr64 or bnd or neither, 8 to
// 32 bytes), but in nearly all of them the stub is `jmp *slot(%rip)`, with at
// most an endbr64 and a mov to r11 before it.
func (l *loader) stubs() {
	im := l.im
	names := l.slots()
	for i := range im.Sections {
		s := &im.Sections[i]
		if s.Exec && (strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt") {
			im.stubsIn(s, names)
		}
	}
}

// slots are the names of what is called through slots: imports, and functions
// of the program's own that a resolver chooses.
func (l *loader) slots() map[uint64]string {
	im := l.im
	if len(l.resolvers) == 0 {
		return im.GOT
	}
	names := maps.Clone(im.GOT)
	for _, r := range l.resolvers {
		if f := im.FuncAt(r.fun); f != nil && f.Addr == r.fun {
			names[r.slot] = f.Name
		}
	}
	return names
}

// stubsIn names the stubs of a section.
func (im *Image) stubsIn(s *Section, names map[uint64]string) {
	for off := uint64(0); off < s.Size; {
		at := s.Addr + off
		if stub, ok := ReadStub(s.Data[off:], at); ok {
			if name, ok := names[stub.Slot]; ok {
				im.PLT[at] = name
			}
			off = stub.End - s.Addr
		} else if in, err := x86.Decode(s.Data[off:], at); err == nil {
			off += uint64(in.Len())
		} else {
			off++
		}
	}
}

// Stub is a stub of the procedure linkage table.
type Stub struct {
	Slot  uint64     // through which it jumps
	First []x86.Insn // what it does before: where it is bound at the first call, its number may be in r11
	End   uint64
}

// ReadStub reads the stub that begins at an address.
func ReadStub(code []byte, at uint64) (s Stub, ok bool) {
	const most = 3 // instructions
	for range most {
		in, err := x86.Decode(code[:min(15, len(code))], at)
		if err != nil {
			return s, false
		}
		code, at = code[in.Len():], in.End()
		s.End = at
		switch {
		case isEndbr(&in):
		case in.Kind == x86.JmpInd:
			s.Slot = in.RIPTarget
			return s, in.RIPOff != 0
		case in.Kind != x86.Normal || in.Def != x86.R11.Set() || in.Use != 0 || in.Stores:
			return s, false
		case in.Loads && in.RIPOff != 0: // then the jump is a return behind the next instruction (retpoline)
			s.Slot = in.RIPTarget
			next, err := x86.Decode(code[:min(15, len(code))], at)
			return s, err == nil && len(s.First) == 0 && (next.Kind == x86.Call || next.Kind == x86.Jmp)
		default:
			s.First = append(s.First, in)
		}
	}
	return s, false
}

func isEndbr(in *x86.Insn) bool { return in.Map == 1 && in.Opcode == 0x1e && in.ModRM == 0xfa }
