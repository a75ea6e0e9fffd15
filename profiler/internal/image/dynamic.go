package image

import (
	"cmp"
	"debug/elf"
	"slices"
)

// dynamic reads the dynamic section as far as it says what kind of file this is.
func (l *loader) dynamic() {
	l.tags = map[elf.DynTag]uint64{}
	for _, p := range l.f.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		b, err := l.contents(p.Off, p.Filesz)
		if err != nil {
			l.doubt("dynamic section: %v", err)
			continue
		}
		for c := (cursor{data: b}); c.left() >= 16; {
			tag, value := elf.DynTag(c.u64()), c.u64()
			if tag == elf.DT_NULL {
				break
			}
			l.tags[tag] = value
		}
	}
	_, needed := l.tags[elf.DT_NEEDED]
	l.im.Static = l.im.Interp == "" && !needed
}

// library reports whether the file is a shared library rather than a program.
// Both are ET_DYN. A dynamic linker's name makes a program of it (the C library
// has one too: it can be run), and so does the linker's PIE flag, which static
// position-independent programs have.
func (l *loader) library() bool {
	if l.f.Type != elf.ET_DYN || l.im.Interp != "" || l.tags[elf.DT_FLAGS_1]&uint64(elf.DF_1_PIE) != 0 {
		return false
	}
	_, soname := l.tags[elf.DT_SONAME]
	return soname || l.im.Entry == 0 || !l.im.Exec(l.im.Entry)
}

// unwinding reads .eh_frame and the landing pads it leads to.
func (l *loader) unwinding() {
	im := l.im
	b := bases{word: im.Word}
	var frame *Section
	for i := range im.Sections {
		switch s := &im.Sections[i]; s.Name {
		case ".eh_frame":
			frame = s
		case ".text":
			b.text = s.Addr
		case ".got", ".got.plt":
			b.data = s.Addr
		}
	}
	if frame == nil {
		return
	}
	fdes, err := readEHFrame(frame.Data, frame.Addr, b)
	if err != nil {
		l.doubt(".eh_frame: %v", err)
	}
	slices.SortStableFunc(fdes, func(a, b FDE) int { return cmp.Compare(a.Start, b.Start) })
	im.FDEs = fdes
	l.pads(b)
}

// pads reads the landing pads of all functions. What the tables hold together
// is bounded by the file's size in a real program; a hostile one could name the
// same long table by every FDE.
func (l *loader) pads(b bases) {
	im := l.im
	budget := l.size
	for _, f := range im.FDEs {
		if f.LSDA == 0 {
			continue
		}
		data := im.Bytes(f.LSDA)
		if data == nil {
			l.doubt("LSDA at %#x is nowhere", f.LSDA)
			continue
		}
		list, err := readLSDA(data, f.LSDA, f.Start, b)
		if err != nil {
			l.doubt("%v", err)
		}
		if budget -= 3 * int64(len(list)); budget < 0 {
			l.doubt("more landing pads than fit in the file")
			break
		}
		for _, x := range list {
			if im.Exec(x.Pad) {
				im.Pads = append(im.Pads, x.Pad)
				im.Landings = append(im.Landings, x)
			}
		}
	}
	slices.SortStableFunc(im.Landings, func(a, b Landing) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.Sort(im.Pads)
	im.Pads = slices.Compact(im.Pads)
}
