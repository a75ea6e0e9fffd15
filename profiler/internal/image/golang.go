package image

import (
	"errors"
	"strings"
)

// Go's own function table survives stripping, since the program itself reads
// it, and there is no .eh_frame to fall back on. Its layout, from Go 1.18 on
// (runtime/symtab.go, pcHeader):
//
//	magic, quantum, pointer size | functions, files, text, offsets of: names,
//	units, files, pcs, functions | …
//
// and the functions are pairs of 4-byte offsets, into the text and from the
// pairs' beginning to a record whose second word is the offset of the name; a
// last half pair says where the last function ends. debug/gosym reads it too,
// but asks for memory by numbers that it does not check.
const (
	goMagic118 = 0xfffffff0
	goMagic120 = 0xfffffff1
)

var errGoTable = errors.New("is not Go's function table as it is known")

// goFuncs reads the functions of a stripped Go program.
//
// The table counts from runtime.text, which is where .text begins unless C
// code was linked in before it; then nothing in the file says where it is. That
// the program's entry is a function of the table tells the two apart.
func (l *loader) goFuncs() {
	im := l.im
	table, text := l.goSections()
	if table == nil || text == nil {
		return
	}
	funcs, err := readGoTable(table.Data, text.Addr, text.Addr+text.Size)
	if err != nil {
		l.doubt("%s %v", table.Name, err)
		return
	}
	for i := range funcs {
		if funcs[i].Addr == im.Entry {
			im.Funcs = funcs
			return
		}
	}
}

// goSections are the table and the text; nil where there is none.
func (l *loader) goSections() (table, text *Section) {
	for i := range l.im.Sections {
		switch s := &l.im.Sections[i]; {
		case s.Name == ".text":
			text = s
		case strings.HasSuffix(s.Name, ".gopclntab"):
			table = s
		}
	}
	return table, text
}

// readGoTable reads the functions of a program whose text is [low, high).
func readGoTable(data []byte, low, high uint64) ([]Func, error) {
	c := cursor{data: data}
	magic, zero, _, pointer := c.u32(), c.u16(), c.u8(), c.u8()
	n, _, start, namesAt, _, _, _, funcsAt := c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64()
	size := uint64(len(data))
	if c.err != nil || magic != goMagic118 && magic != goMagic120 || zero != 0 || pointer != 8 ||
		namesAt > size || funcsAt > size || n > (size-funcsAt)/8 {
		return nil, errGoTable
	}
	if start == 0 {
		start = low
	}
	names, pairs := string(data[namesAt:]), data[funcsAt:]
	out := make([]Func, 0, n)
	c = cursor{data: pairs}
	addr := start + uint64(c.u32())
	for range n {
		record := uint64(c.u32())
		end := start + uint64(c.u32())
		if c.err != nil || addr < low || end <= addr || end > high || record > uint64(len(pairs)) {
			return nil, errGoTable
		}
		r := cursor{data: pairs[record:]}
		r.u32()
		name := uint64(r.u32())
		if r.err != nil || name > uint64(len(names)) {
			return nil, errGoTable
		}
		out = append(out, Func{Name: nameAt(names, name), Addr: addr, Size: end - addr})
		addr = end
	}
	return out, nil
}
