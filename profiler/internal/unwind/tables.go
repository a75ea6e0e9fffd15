package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/go-delve/delve/pkg/dwarf/frame"
)

// The tables of a file. Exceptions need the first, which is in memory, too. What is
// compiled for languages without them, or so that it has none, has the second, for
// debuggers: Free Pascal's functions, or C's with -fno-asynchronous-unwind-tables. Go's
// stacks are read by what Go's runtime keeps.
const (
	ehFrame    = ".eh_frame"
	debugFrame = ".debug_frame"
)

// meet reads the tables of a module.
func (m *module) meet() {
	m.met = true
	f, err := elf.Open(m.path)
	if err != nil {
		m.err = err
		return
	}
	defer f.Close()
	eh, err := entries(f, ehFrame)
	if err != nil {
		m.err = err
		return
	}
	m.fdes = eh
	if debug, err := entries(f, debugFrame); err == nil {
		m.fdes = beside(eh, m.ofCode(debug))
	}
}

// ofCode are the entries of code that is there. Of what the linker left out debuggers'
// entries remain, with an address that is none.
func (m *module) ofCode(all frame.FrameDescriptionEntries) frame.FrameDescriptionEntries {
	return slices.DeleteFunc(all, func(e *frame.FrameDescriptionEntry) bool {
		return !slices.ContainsFunc(m.elf, func(h elf.ProgHeader) bool {
			return h.Type == elf.PT_LOAD && h.Flags&elf.PF_X != 0 && h.Vaddr <= e.Begin() && e.Begin() < e.End() && e.End() <= h.Vaddr+h.Filesz
		})
	})
}

// has tells whether a file has a table. Go's for debuggers is none for us.
func has(f *elf.File, name string) bool {
	s := f.Section(name)
	return s != nil && s.Type != elf.SHT_NOBITS && (name != debugFrame || f.Section(".gopclntab") == nil)
}

// entries of one table, none where a file has no such table.
func entries(f *elf.File, name string) (frame.FrameDescriptionEntries, error) {
	if !has(f, name) {
		return nil, nil
	}
	s := f.Section(name)
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	if name == debugFrame {
		asVersion3(data)
		return parse(data, 0) // which tells the parser of the two formats
	}
	return parse(data, s.Addr)
}

// asVersion3 takes the sizes of addresses and segments out of what entries have in
// common, which is all that version 4 added to it (DWARF 4, 6.4.1): clang writes that,
// and the parser does not know it. Instructions that do nothing fill the place.
func asVersion3(data []byte) {
	const version, words = 4, 8 // a length and a mark stand before the version
	for len(data) > words {
		size := uint64(binary.LittleEndian.Uint32(data)) + 4
		if size > uint64(len(data)) {
			return
		}
		entry := data[:size]
		data = data[size:]
		if len(entry) <= words || binary.LittleEndian.Uint32(entry[4:]) != ^uint32(0) || entry[words] != version {
			continue
		}
		augmentation := bytes.IndexByte(entry[words+1:], 0)
		if at := words + 1 + augmentation + 1; augmentation >= 0 && at+2 <= len(entry) && entry[at] == 8 && entry[at+1] == 0 {
			entry[words] = version - 1
			n := copy(entry[at:], entry[at+2:])
			clear(entry[at+n:]) // DW_CFA_nop
		}
	}
}

// beside adds to entries those of functions that have none among them.
func beside(fdes, more frame.FrameDescriptionEntries) frame.FrameDescriptionEntries {
	all := fdes
	for _, e := range more {
		i := sort.Search(len(fdes), func(i int) bool { return fdes[i].End() > e.Begin() })
		if i == len(fdes) || fdes[i].Begin() >= e.End() {
			all = append(all, e)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Begin() < all[j].Begin() })
	return all
}

// parse guards against tables that delve's parser panics on.
func parse(data []byte, addr uint64) (fdes frame.FrameDescriptionEntries, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unwind table not understood: %v", r)
		}
	}()
	fdes, err = frame.Parse(data, binary.LittleEndian, 0, 8, addr)
	sort.Slice(fdes, func(i, j int) bool { return fdes[i].Begin() < fdes[j].Begin() }) // linkers order them by input file
	return fdes, err
}
