package image

import (
	"debug/gosym"
	"encoding/binary"
	"strings"
)

// goFuncs reads the functions of a stripped Go program from Go's own function
// table, which stripping leaves, since the program itself reads it. There is
// no .eh_frame to fall back on.
//
// The table counts from runtime.text, which is where .text begins unless C
// code was linked in before it; then nothing in the file says where it is. That
// the program's entry is a function of the table tells the two apart.
func (l *loader) goFuncs() {
	im := l.im
	var table, text *Section
	for i := range im.Sections {
		switch s := &im.Sections[i]; {
		case s.Name == ".text":
			text = s
		case strings.HasSuffix(s.Name, ".gopclntab"):
			table = s
		}
	}
	// A header, and a number of functions of which each takes 8 bytes or more:
	// gosym asks for memory by that number.
	if table == nil || text == nil || table.Size < 64 || binary.LittleEndian.Uint64(table.Data[8:])*8 > table.Size {
		return
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(table.Data, text.Addr))
	if err != nil {
		l.doubt("%s: %v", table.Name, err)
		return
	}
	atEntry := false
	for i := range t.Funcs {
		atEntry = atEntry || t.Funcs[i].Entry == im.Entry
	}
	if !atEntry {
		return
	}
	for i := range t.Funcs {
		f := &t.Funcs[i]
		if f.Entry < text.Addr || f.End <= f.Entry || f.End > text.Addr+text.Size || f.Sym == nil {
			continue
		}
		if n := len(im.Funcs); n > 0 && f.Entry <= im.Funcs[n-1].Addr {
			l.doubt("%s is not sorted", table.Name)
			im.Funcs = nil
			break
		}
		im.Funcs = append(im.Funcs, Func{Name: f.Sym.Name, Addr: f.Entry, Size: f.End - f.Entry})
	}
}
