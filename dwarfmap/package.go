package dwarfmap

import (
	"debug/elf"
	"encoding/binary"
	"errors"
)

// dwp puts the .dwo files of a program into one, and .debug_cu_index tells what of each section
// is which unit's (DWARF 5, 7.3.5.3):
//
//	version, columns, units, slots │ ids, by a hash │ rows of these │ what the columns are │ offsets, a row a unit │ sizes

// splitPackage is the program's .dwp file.
type splitPackage struct {
	file  *elf.File
	index []byte
	str   []byte // all units'
}

// inPackage are the sections of the unit of an id in the program's .dwp file; nil: it has none.
func (m *Map) inPackage(id uint64) (got map[string][]byte, err error) {
	if !m.packaged {
		m.packaged = true
		if g := m.open(m.path + ".dwp"); g != nil {
			p := &splitPackage{file: g}
			if s := g.Section(".debug_cu_index"); s != nil {
				p.index, _ = contents(s)
			}
			p.str, _ = section(g, "str.dwo")
			m.split = p
		}
	}
	if m.split == nil {
		return nil, nil
	}
	return m.split.unit(id, m.order)
}

// unit reads the sections of a unit.
func (p *splitPackage) unit(id uint64, order binary.ByteOrder) (map[string][]byte, error) {
	of := map[uint32]string{1: "info", 3: "abbrev", 6: "str_offsets", 8: "rnglists"}
	word := func(i uint64) uint64 {
		if i*4+4 > uint64(len(p.index)) {
			return 0
		}
		return uint64(order.Uint32(p.index[i*4:]))
	}
	const version, head = 5, 4
	columns, units, slots := word(1), word(2), word(3)
	if len(p.index) < 16 || order.Uint16(p.index) != version || max(columns*units, slots) > uint64(len(p.index)) {
		return nil, errors.New("in a .dwp file without an index by DWARF 5")
	}
	row := uint64(0)
	for i := uint64(0); i < slots && row == 0; i++ {
		if at := 4*head + 8*i; at+8 <= uint64(len(p.index)) && order.Uint64(p.index[at:]) == id {
			row = word(head + 2*slots + i)
		}
	}
	if row == 0 || row > units {
		return nil, errors.New("of another build, not in the .dwp file")
	}
	got := map[string][]byte{"str": p.str}
	for c := range columns {
		table := head + 3*slots
		name := of[uint32(word(table+c))]
		if name == "" {
			continue
		}
		b, err := p.part(name, word(table+row*columns+c), word(table+(units+row)*columns+c))
		if err != nil {
			return nil, err
		}
		got[name] = b
	}
	return got, nil
}

// part is a piece of a section.
func (p *splitPackage) part(name string, at, size uint64) ([]byte, error) {
	s := p.file.Section(".debug_" + name + ".dwo")
	if s == nil || at > s.Size || size > s.Size-at || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, errors.New("damaged in the .dwp file")
	}
	b := make([]byte, size)
	_, err := s.ReadAt(b, int64(at))
	return b, err
}
