package image

import (
	"debug/elf"
	"encoding/binary"
)

const relaSize = 24

// relocations applies the relative ones to the contents and reads which slots
// the dynamic linker fills with which function. Packed relative relocations
// (DT_RELR) need nothing: their addends stand in the contents already, and the
// bias that the dynamic linker would add is zero here.
func (l *loader) relocations() {
	for _, s := range l.f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type == elf.SHT_RELA {
			b := l.im.Bytes(s.Addr)
			l.rela(b[:min(s.FileSize, uint64(len(b)))])
		}
	}
}

func (l *loader) rela(table []byte) {
	im := l.im
	for c := (cursor{data: table}); c.left() >= relaSize; {
		slot, info, addend := c.u64(), c.u64(), c.u64()
		sym := info >> 32
		switch elf.R_X86_64(uint32(info)) {
		case elf.R_X86_64_RELATIVE:
			l.poke(slot, addend)
		case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
			if sym > 0 && sym < uint64(len(l.dynsyms)) && l.dynsyms[sym].name != "" {
				im.GOT[slot] = l.dynsyms[sym].name
			}
		case elf.R_X86_64_IRELATIVE:
			// No name in the relocation: the resolver's, once functions are known.
			l.resolvers = append(l.resolvers, resolver{slot, addend})
		}
	}
}

// poke writes a word into the contents, as the dynamic linker would.
func (l *loader) poke(addr, value uint64) {
	if b := l.im.Bytes(addr); len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, value)
	}
}

type resolver struct{ slot, fun uint64 }
