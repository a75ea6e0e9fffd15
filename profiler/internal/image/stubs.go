package image

import (
	"maps"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// stubs names the procedure linkage table's stubs by the slot that they jump
// through. The layouts differ (lazy or not, with endbr64 or bnd or neither, 8 or
// 16 bytes), but in all of them the stub is `jmp *slot(%rip)` with at most an
// endbr64 before it, and stubs begin at multiples of 8.
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
	mark := uint64(0) // where an endbr64 stands just before; 0: nowhere
	for off := uint64(0); off < s.Size; {
		in, err := x86.Decode(s.Data[off:], s.Addr+off)
		if err != nil {
			off, mark = off+1, 0
			continue
		}
		off += uint64(in.Len())
		if in.Map == 1 && in.Opcode == 0x1e && in.ModRM == 0xfa {
			mark = in.Addr
			continue
		}
		if in.Kind == x86.JmpInd && in.RIPOff != 0 {
			if name, ok := names[in.RIPTarget]; ok {
				at := in.Addr
				if mark != 0 {
					at = mark
				}
				im.PLT[at] = name
			}
		}
		mark = 0
	}
}
