package blocking

import (
	"bytes"
	"iter"
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/probe/asm"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// Site is a system call that may block.
type Site struct {
	At    uint64     // of the syscall instruction
	Moved []x86.Insn // the instructions before it that make room for a jump
	Timed bool
	Asks  Asks
	Entry bool // it is no call, but the beginning of a function that makes some; At is behind Moved
}

// Start is where the jump goes.
func (s *Site) Start() uint64 { return s.Moved[0].Addr }

// After is the address behind the system call.
func (s *Site) After() uint64 {
	if s.Entry {
		return s.At
	}
	return s.At + syscallLen
}

const syscallLen = 2

// Find finds the sites in an image that was not moved. A call whose number is
// not known where it is made is one: it is the number at run time that counts.
func Find(im *image.Image) (sites []Site) {
	var b body
	for s, at := range syscalls(im) {
		if x, ok := b.site(im, s.Addr+uint64(at)); ok {
			sites = append(sites, x)
		}
	}
	return withoutEntries(im, sites)
}

// syscalls are the places in an image's code where bytes may be a system call:
// the section, and the offset there.
func syscalls(im *image.Image) iter.Seq2[*image.Section, int] { return places(im, []byte{0x0f, 0x05}) }

// places are likewise those of some bytes, or of others.
func places(im *image.Image, any ...[]byte) iter.Seq2[*image.Section, int] {
	return func(yield func(*image.Section, int) bool) {
		for i := range im.Sections {
			s := &im.Sections[i]
			if !s.Exec {
				continue
			}
			for _, what := range any {
				for at := next(s.Data, what, 0); at >= 0; at = next(s.Data, what, at+1) {
					if !yield(s, at) {
						return
					}
				}
			}
		}
	}
}

// next is the offset where some bytes come next.
func next(code, what []byte, from int) int {
	if i := bytes.Index(code[from:], what); i >= 0 {
		return from + i
	}
	return -1
}

// body is the function that was decoded last.
type body struct {
	f       *image.Func
	insns   []x86.Insn
	targets []uint64 // of its direct jumps, sorted
	blind   bool     // it has jumps whose targets are not known, or bytes that are no code
}

func (b *body) read(im *image.Image, f *image.Func) {
	if b.f == f {
		return
	}
	*b = body{f: f, insns: b.insns[:0], targets: b.targets[:0]}
	defer func() { slices.Sort(b.targets) }()
	for a := f.Addr; a < f.End(); {
		in, err := x86.Decode(im.Bytes(a), a)
		if err != nil {
			b.blind = true
			return
		}
		if in.Kind.IsJump() {
			b.targets = append(b.targets, in.Target)
		}
		b.blind = b.blind || in.Kind == x86.JmpInd
		b.insns = append(b.insns, in)
		a = in.End()
	}
}

// leads reports whether a jump of the function leads to an address.
func (b *body) leads(to uint64) bool {
	_, is := slices.BinarySearch(b.targets, to)
	return is
}

// site is the system call at an address, if it is one that can be timed.
func (b *body) site(im *image.Image, at uint64) (x Site, ok bool) {
	f := im.FuncAt(at)
	if f == nil || f.Cold || f.IFunc {
		return x, false
	}
	b.read(im, f)
	k := sort.Search(len(b.insns), func(i int) bool { return b.insns[i].Addr >= at })
	if b.blind || k == len(b.insns) || b.insns[k].Addr != at || b.leads(at) {
		return x, false
	}
	if nr, known := b.number(k); known && !blocks[nr] {
		return x, false
	}
	for n := 1; n <= k; n++ {
		in := &b.insns[k-n]
		if in.Kind != x86.Normal {
			return x, false
		}
		if at-in.Addr >= asm.JumpLen {
			x = Site{At: at, Moved: append([]x86.Insn(nil), b.insns[k-n:k]...), Timed: true}
			if f.Name == "syscall" {
				x.Asks = asksAny
			}
			return x, true
		}
		if b.leads(in.Addr) {
			return x, false
		}
	}
	return x, false
}

// number is what the code before a system call loads rax with, if that is a
// constant.
func (b *body) number(k int) (nr uint32, known bool) {
	for k--; k >= 0; k-- {
		in := &b.insns[k]
		switch {
		case in.Kind != x86.Normal:
			return 0, false
		case in.Def&x86.RAX.Set() != 0:
			isMov := in.Map == 0 && in.Vex == 0 && in.Opcode == 0xb8 && in.Rex == 0 && !in.Opsize && in.HasImm
			isZero := in.Map == 0 && in.Vex == 0 && in.Opcode == 0x31 && in.Reg == x86.RAX && in.RM == x86.RAX
			if isZero {
				return 0, true
			}
			return uint32(in.Imm), isMov
		case b.leads(in.Addr):
			return 0, false
		}
	}
	return 0, false
}

// withoutEntries drops the sites into whose moved bytes a part of a function
// that lies elsewhere, or an exception, leads.
func withoutEntries(im *image.Image, sites []Site) []Site {
	entered := map[uint64]bool{}
	for _, a := range im.Pads {
		entered[a] = true
	}
	var b body
	for i := range im.Funcs {
		f := &im.Funcs[i]
		entered[f.Addr] = true
		if f.Cold && len(sites) > 0 {
			b.read(im, f)
			for _, t := range b.targets {
				entered[t] = true
			}
		}
	}
	kept := sites[:0]
	for _, x := range sites {
		inside := entered[x.At]
		for _, in := range x.Moved[1:] {
			inside = inside || entered[in.Addr]
		}
		if !inside {
			kept = append(kept, x)
		}
	}
	return kept
}
