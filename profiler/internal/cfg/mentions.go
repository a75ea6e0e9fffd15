package cfg

import (
	"encoding/binary"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// mentions are the addresses that a program's code and data speak of, found
// without decoding: at every byte that looks like the beginning of a call or
// lea. An entry too many leaves a doubt to the sizes. A lea too many could cut
// a table short, but three bytes that look like one and a displacement that
// meets a table of unknown length do not come together by chance.
//
// There is a bit for each byte that the file holds, section by section: what a
// program asks for without contents (.bss) may be larger than memory.
type mentions struct {
	im      *image.Image
	entries []bitset // called, or pointed at by code or data
	leas    []bitset // pointed at by a lea
}

func (s *mentions) note(in []bitset, a uint64) {
	if i, o := s.place(a); i >= 0 {
		in[i].put(o)
	}
}

func (s *mentions) has(in []bitset, a uint64) bool {
	i, o := s.place(a)
	return i >= 0 && in[i].has(o)
}

// place is the section that holds an address, −1 if none does, and where in it.
func (s *mentions) place(a uint64) (section, offset int) {
	list := s.im.Sections
	i := sort.Search(len(list), func(i int) bool { return list[i].Addr > a }) - 1
	if i < 0 || a-list[i].Addr >= list[i].Size {
		return -1, 0
	}
	return i, int(a - list[i].Addr)
}

func (s *mentions) entry(a uint64) bool { return s.has(s.entries, a) }
func (s *mentions) lea(a uint64) bool   { return s.has(s.leas, a) }

// mentioned returns the program's mentions, which few programs need.
func (p *Program) mentioned() *mentions {
	if p.mentions != nil {
		return p.mentions
	}
	s := &mentions{im: p.Image}
	p.mentions = s
	for _, x := range p.Image.Sections {
		s.entries = append(s.entries, make(bitset, x.Size/64+1))
		s.leas = append(s.leas, make(bitset, x.Size/64+1))
	}
	for i := range p.Image.Sections {
		x := &p.Image.Sections[i]
		if x.Exec {
			s.code(x)
			continue
		}
		for o := int(-x.Addr & 7); o+8 <= len(x.Data); o += 8 {
			s.note(s.entries, binary.LittleEndian.Uint64(x.Data[o:]))
		}
	}
	return s
}

// code notes what a section of code mentions.
func (s *mentions) code(x *image.Section) {
	for o := 0; o+8 <= len(x.Data); o++ {
		v := binary.LittleEndian.Uint64(x.Data[o:])
		at := x.Addr + uint64(o)
		switch {
		case byte(v) == 0xe8: // call
			s.note(s.entries, at+5+uint64(int64(int32(v>>8))))
		case v&0xc7fffb == 0x058d48: // REX.W lea disp(%rip)
			a := at + 7 + uint64(int64(int32(v>>24)))
			s.note(s.entries, a)
			s.note(s.leas, a)
		}
		if !s.im.Relocatable {
			s.note(s.entries, uint64(uint32(v))) // as an immediate
		}
	}
}

// holds reports, of two neighbours of which one jumps into the middle of the
// other, whether g is a part of f, and not f one of g. A function is called, or
// its address is taken; a part is only jumped to. Where that does not decide,
// the smaller one is the part.
func (p *Program) holds(f, g *Func) bool {
	if a, b := p.named(f), p.named(g); a != b {
		return a
	}
	return g.Size() <= f.Size()
}

// named reports whether something names a function's entry, other than a jump.
func (p *Program) named(f *Func) bool {
	return !f.nameless || p.mentioned().entry(f.Ranges[0].Lo)
}
