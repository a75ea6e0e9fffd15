package image

import (
	"encoding/binary"
	"sort"
)

// SectionAt is the section that holds addr, nil if none does.
func (im *Image) SectionAt(addr uint64) *Section {
	i := sort.Search(len(im.Sections), func(i int) bool { return im.Sections[i].Addr > addr })
	if i == 0 {
		return nil
	}
	if s := &im.Sections[i-1]; addr-s.Addr < s.Size {
		return s
	}
	return nil
}

// Bytes are the contents from addr to the end of its section, nil outside.
func (im *Image) Bytes(addr uint64) []byte {
	if s := im.SectionAt(addr); s != nil {
		return s.Data[addr-s.Addr:]
	}
	return nil
}

// Word is the 8 bytes at addr as a number.
func (im *Image) Word(addr uint64) (uint64, bool) {
	if b := im.Bytes(addr); len(b) >= 8 {
		return binary.LittleEndian.Uint64(b), true
	}
	return 0, false
}

// Int32 is the 4 bytes at addr as a signed number: an entry of the usual jump table.
func (im *Image) Int32(addr uint64) (int32, bool) {
	if b := im.Bytes(addr); len(b) >= 4 {
		return int32(binary.LittleEndian.Uint32(b)), true
	}
	return 0, false
}

// Exec reports whether addr is code.
func (im *Image) Exec(addr uint64) bool {
	s := im.SectionAt(addr)
	return s != nil && s.Exec
}

// FuncAt is the function that holds addr; of several, the one that starts last.
func (im *Image) FuncAt(addr uint64) *Func {
	i := sort.Search(len(im.Funcs), func(i int) bool { return im.Funcs[i].Addr > addr })
	// Functions may nest (assembly with several entries). reach bounds how far
	// back one can be that still covers addr.
	for i--; i >= 0 && im.reach[i] > addr; i-- {
		if f := &im.Funcs[i]; addr-f.Addr < f.Size {
			return f
		}
	}
	return nil
}
