package image

import (
	"debug/buildinfo"
	"errors"
	"go/version"
	"slices"
	"sort"
)

// GoTable is what Go's own function table says of functions beside their names:
// how large their frames are at each instruction, and where control comes in after
// a recovered panic. The program itself unwinds its stacks by it, with return
// addresses and nothing else.
type GoTable struct {
	Version string // of Go, as go1.22.1; empty where the program does not say
	funcs   []goFunc
	pcs     []byte // deltas of values and addresses, of all functions
}

// goFunc is a function of the table.
type goFunc struct {
	lo, hi uint64
	sp     uint32 // where in pcs its frame's sizes are
	flags  byte
}

// What a function is marked with.
const (
	goTop     = 1 << iota // nobody called it
	goSPWrite             // it goes to another stack
	goAsm                 // it is written in assembly
)

var errGoVersion = errors.New("was built by a Go before 1.22")

// goTable reads it, and the pads; the program's functions are known.
func (l *loader) goTable() {
	im := l.im
	table, text := l.goSections()
	if table == nil || text == nil {
		return
	}
	start, begin := uint64(0), im.Entry
	for _, s := range l.syms {
		switch s.name {
		case "runtime.text":
			start = s.value
		case "runtime.rt0_go.abi0": // to which that of C leads, too
			begin = s.value
		case "x_cgo_init":
			im.Cgo = true
		}
	}
	t, pads, err := readGoStacks(table.Data, max(start, text.Addr), text.Addr+text.Size)
	if err != nil {
		l.doubt("%s %v", table.Name, err)
		return
	}
	if is, _ := t.Begins(begin); !is {
		l.doubt("%s does not say where Go's code begins", table.Name)
		return
	}
	if info, err := buildinfo.Read(l.r); err == nil {
		t.Version = info.GoVersion
	}
	im.Go = t
	im.Pads = append(im.Pads, pads...)
	slices.Sort(im.Pads)
	im.Pads = slices.Compact(im.Pads)
}

// Known says why programs of this Go cannot be told from others, nil: they can.
func (t *GoTable) Known() error {
	if t.Before("go1.22") {
		return errGoVersion
	}
	return nil
}

// Before reports whether the program was built by a Go before a version.
func (t *GoTable) Before(v string) bool {
	return version.IsValid(t.Version) && version.Compare(t.Version, v) < 0
}

// readGoStacks reads the table of a program whose text is [low, high).
func readGoStacks(data []byte, low, high uint64) (t *GoTable, pads []uint64, err error) {
	c := cursor{data: data}
	magic, zero, _, pointer := c.u32(), c.u16(), c.u8(), c.u8()
	n, _, start, _, _, _, pcsAt, funcsAt := c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64(), c.u64()
	size := uint64(len(data))
	if c.err != nil || magic != goMagic120 || zero != 0 || pointer != 8 || pcsAt > funcsAt || funcsAt > size || n > (size-funcsAt)/8 {
		return nil, nil, errGoTable
	}
	if start == 0 {
		start = low
	}
	pairs := data[funcsAt:]
	t = &GoTable{funcs: make([]goFunc, 0, n), pcs: data[pcsAt:funcsAt]}
	c = cursor{data: pairs}
	addr := start + uint64(c.u32())
	for range n {
		record := uint64(c.u32())
		end := start + uint64(c.u32())
		if c.err != nil || addr < low || end <= addr || end > high || record > uint64(len(pairs)) {
			return nil, nil, errGoTable
		}
		r := cursor{data: pairs[record:]}
		r.take(12) // entry, name, size of arguments
		pad, sp := uint64(r.u32()), r.u32()
		r.take(20) // files, lines, how many of others, unit, first line
		r.u8()     // what the runtime knows it by
		flags := r.u8()
		if r.err != nil || pad >= end-addr {
			return nil, nil, errGoTable
		}
		if pad > 0 {
			pads = append(pads, addr+pad)
		}
		t.funcs = append(t.funcs, goFunc{addr, end, sp, flags})
		addr = end
	}
	return t, pads, nil
}

// at is the function that holds an address, nil where none does.
func (t *GoTable) at(addr uint64) *goFunc {
	i := sort.Search(len(t.funcs), func(i int) bool { return t.funcs[i].hi > addr })
	if i < len(t.funcs) && t.funcs[i].lo <= addr {
		return &t.funcs[i]
	}
	return nil
}

// Begins reports whether a function of Go's begins at an address, and whether it
// is written in assembly.
func (t *GoTable) Begins(addr uint64) (is, assembly bool) {
	f := t.at(addr)
	is = f != nil && f.lo == addr
	return is, is && f.flags&goAsm != 0
}

// Frame is how far above the stack pointer the return address lies when control is
// at an address; top, that nobody called the function. ok is false where that is
// not known.
func (t *GoTable) Frame(addr uint64) (size int64, top, ok bool) {
	f := t.at(addr)
	if f == nil || f.sp == 0 || uint64(f.sp) >= uint64(len(t.pcs)) {
		return 0, false, false
	}
	if f.flags&goTop != 0 {
		return 0, true, true
	}
	if f.flags&goSPWrite != 0 {
		return 0, false, false
	}
	c := cursor{data: t.pcs[f.sp:]}
	value, pc := int32(-1), f.lo
	for first := true; ; first = false {
		delta := c.varint()
		if c.err != nil || delta == 0 && !first {
			return 0, false, false
		}
		value += int32(-(delta & 1) ^ (delta >> 1))
		pc += uint64(c.varint())
		if c.err != nil {
			return 0, false, false
		}
		if addr < pc {
			return int64(value), false, value >= 0
		}
	}
}

// varint reads one of Go's tables.
func (c *cursor) varint() (v uint32) {
	for shift := uint(0); shift < 35; shift += 7 {
		b := c.u8()
		v |= uint32(b&0x7f) << (shift & 31)
		if b&0x80 == 0 {
			return v
		}
	}
	c.err = errLEB
	return 0
}
