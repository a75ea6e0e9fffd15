package relocate

import (
	"sort"

	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// textBytes says of every byte of a program's text whether it is used: it
// executes, or something was placed there.
type textBytes struct {
	lo   uint64
	mark []bool
}

func newTextBytes(im *image.Image) textBytes {
	lo, hi := ^uint64(0), uint64(0)
	for _, s := range im.Sections {
		if s.Exec {
			lo, hi = min(lo, s.Addr), max(hi, s.Addr+s.Size)
		}
	}
	t := textBytes{lo: lo}
	if hi > lo {
		t.mark = make([]bool, hi-lo+64)
	}
	return t
}

// used is true for what is outside of the text.
func (t *textBytes) used(a uint64) bool {
	i := a - t.lo
	return i >= uint64(len(t.mark)) || t.mark[i]
}

func (t *textBytes) use(lo, hi uint64) { t.set(lo, hi, true) }

func (t *textBytes) set(lo, hi uint64, used bool) {
	mark := t.mark[lo-t.lo : hi-t.lo]
	for i := range mark {
		mark[i] = used
	}
}

// release takes back what an earlier plan of a function uses.
func (pl *planner) release(f *cfg.Func) {
	for _, r := range f.Ranges {
		pl.bytes.set(r.Lo, pl.usableEnd(f, r.Hi-1), false)
	}
}

// usableEnd is the end of the bytes that a springboard may take: the part's
// end, and the padding behind it up to the next aligned address or function.
func (pl *planner) usableEnd(f *cfg.Func, a uint64) uint64 {
	for _, r := range f.Ranges {
		if a < r.Lo || a >= r.Hi {
			continue
		}
		if pl.padded.Lo == r.Hi {
			return pl.padded.Hi
		}
		e := r.Hi
		end := e
		if s := pl.p.Image.SectionAt(a); s != nil {
			end = s.Addr + s.Size
		}
		for e%16 != 0 && e < end && pl.p.Image.FuncAt(e) == nil {
			e++
		}
		pl.padded = cfg.Range{Lo: r.Hi, Hi: padding(pl.p.Image, r.Hi, e)}
		return pl.padded.Hi
	}
	return a
}

// dead reports whether nothing ever executes the original byte at c: it
// belongs to a moved function, or to the padding between functions.
func (pl *planner) dead(c uint64) bool {
	if pl.bytes.used(c) {
		return false
	}
	known := &pl.fates[c-pl.bytes.lo]
	if *known == unknown {
		*known = lives
		if pl.mayDie(c) {
			*known = dies
		}
	}
	return *known == dies
}

// fate is what is known of a byte while islands are placed: whoever looks for one asks for
// each byte around it hundreds of times.
type fate uint8

const (
	unknown fate = iota
	lives
	dies // unless something is placed there
)

// mayDie is dead of a byte where nothing was placed.
func (pl *planner) mayDie(c uint64) bool {
	im := pl.p.Image
	if im.FuncAt(c) != nil {
		o := pl.p.Owner(c)
		return o != nil && o.Skip == "" && pl.plans[o] != nil
	}
	i := sort.Search(len(im.Funcs), func(i int) bool { return im.Funcs[i].Addr > c })
	if i == 0 || i == len(im.Funcs) {
		return false
	}
	before := &im.Funcs[i-1]
	if o := pl.p.Owner(before.Addr); o != nil && o.Skip != "" && (pl.p.Silent() || o.FallsOut()) {
		return false // what stays may run through it into the next function
	}
	from, next := before.Addr+before.Size, im.Funcs[i].Addr
	return next-from <= 16 && padding(im, from, next) == next
}

// padding is up to where what lies between two addresses is nothing but padding. It may
// be a function in assembly of which no symbol says so.
func padding(im *image.Image, from, to uint64) uint64 {
	code := im.Bytes(from)
	for at := from; at < to; {
		rest := code[min(at-from, uint64(len(code))):]
		in, err := x86.Decode(rest[:min(len(rest), 15)], at)
		switch {
		case len(rest) > 0 && (rest[0] == 0xcc || rest[0] == 0):
			at++
		case err == nil && isNop(&in) && in.End() <= to:
			at = in.End()
		default:
			return at
		}
	}
	return to
}

// byteSet is a set of addresses of the program's text.
type byteSet struct {
	lo   uint64
	bits []byte
}

// kept is the set of the used bytes.
func (t *textBytes) kept() byteSet {
	s := byteSet{t.lo, make([]byte, (len(t.mark)+7)/8)}
	for i, x := range t.mark {
		if x {
			s.bits[i/8] |= 1 << (i % 8)
		}
	}
	return s
}

// has is true for what is outside of the text.
func (s *byteSet) has(a uint64) bool {
	i := a - s.lo
	return i/8 >= uint64(len(s.bits)) || s.bits[i/8]>>(i%8)&1 != 0
}
