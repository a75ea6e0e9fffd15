package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// dynamic are a library's dynamic symbols as they lie in its file. There are thousands, of
// which a few matter: to make each of them takes longer than all else that a short program
// is prepared by.
type dynamic struct{ syms, names []byte }

const symbolSize = 24 // of a symbol: where its name is, what it is, its section, …

// readDynamic reads those of a file.
func readDynamic(f *elf.File) (d dynamic, err error) {
	s := f.SectionByType(elf.SHT_DYNSYM)
	if s == nil || int(s.Link) >= len(f.Sections) {
		return d, elf.ErrNoSymbols
	}
	if d.syms, err = s.Data(); err != nil {
		return d, err
	}
	d.names, err = f.Sections[s.Link].Data()
	return d, err
}

// name is that of a symbol, by its number; nil: there is none.
func (d *dynamic) name(n uint64) []byte {
	if n >= uint64(len(d.syms)/symbolSize) {
		return nil
	}
	at := binary.LittleEndian.Uint32(d.syms[symbolSize*n:])
	if uint64(at) >= uint64(len(d.names)) {
		return nil
	}
	name, _, _ := bytes.Cut(d.names[at:], []byte{0})
	return name
}

// imported are the names of the global symbols that others define.
func (d *dynamic) imported(each func(name string)) {
	for n := uint64(1); n < uint64(len(d.syms)/symbolSize); n++ {
		s := d.syms[symbolSize*n:]
		if elf.ST_BIND(s[4]) == elf.STB_GLOBAL && binary.LittleEndian.Uint16(s[6:]) == uint16(elf.SHN_UNDEF) {
			each(string(d.name(n)))
		}
	}
}
