package image

import (
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// stubs names the procedure linkage table's stubs by the slot that they jump
// through. The layouts differ (lazy or not, with endbr64 or bnd or neither, 8 or
// 16 bytes), but in all of them the stub is `jmp *slot(%rip)` with at most an
// endbr64 before it, and stubs begin at multiples of 8.
func (l *loader) stubs() {
	im := l.im
	names := im.GOT
	if len(l.resolvers) > 0 {
		names = map[uint64]string{}
		for slot, name := range im.GOT {
			names[slot] = name
		}
		for _, r := range l.resolvers {
			if f := im.FuncAt(r.fun); f != nil && f.Addr == r.fun {
				names[r.slot] = f.Name
			}
		}
	}
	for i := range im.Sections {
		s := &im.Sections[i]
		if !s.Exec || !strings.HasPrefix(s.Name, ".plt") && s.Name != ".iplt" {
			continue
		}
		landing := uint64(0) // of an endbr64 just before
		for off := uint64(0); off < s.Size; {
			in, err := x86.Decode(s.Data[off:], s.Addr+off)
			if err != nil {
				off, landing = off+1, 0
				continue
			}
			off += uint64(in.Len())
			if in.Map == 1 && in.Opcode == 0x1e && in.ModRM == 0xfa {
				landing = in.Addr
				continue
			}
			if in.Kind == x86.JmpInd && in.RIPOff != 0 {
				if name, ok := names[in.RIPTarget]; ok {
					at := in.Addr
					if landing != 0 {
						at = landing
					}
					im.PLT[at] = name
				}
			}
			landing = 0
		}
	}
}
