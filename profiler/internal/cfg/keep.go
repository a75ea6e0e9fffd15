package cfg

import (
	"errors"
	"slices"

	"github.com/skewlens/skewlens/profiler/internal/image"
	"github.com/skewlens/skewlens/profiler/internal/pack"
)

// Pack writes what Build found out, so that Unpack need not find it out again.
func (p *Program) Pack(w *pack.Writer) {
	w.Uint(uint64(len(p.every)))
	w.Bool(p.silent)
	w.Uint(uint64(len(p.Funcs)))
	for _, f := range p.Funcs {
		w.Uint(f.Ranges[0].Lo)
		w.Uint(uint64(len(f.Ranges)))
		for _, r := range f.Ranges {
			w.Uint(r.Lo)
			w.Uint(r.Hi - r.Lo)
		}
		w.Bytes([]byte(f.Skip))
		w.Uint(uint64(f.Insns))
		for _, b := range f.flags() {
			w.Bool(*b)
		}
		jumps := make([]uint64, 0, len(f.tables))
		for j := range f.tables {
			jumps = append(jumps, j)
		}
		slices.Sort(jumps)
		w.Ascending(jumps)
		for _, j := range jumps {
			w.Ascending(f.tables[j])
		}
		w.Ascending(f.pads)
		w.Bytes(f.starts)
	}
	w.Uint(uint64(len(p.Regions)))
	for _, r := range p.Regions {
		w.Uint(r.Func.Ranges[0].Lo)
		w.Uint(r.Site)
		w.Uint(r.Enter)
		w.Uint(r.Also)
		w.Ascending(r.Leaves)
		w.Uint(uint64(r.Object))
		w.Ascending(r.Works)
		w.Bool(r.Idle)
		w.Bool(r.Future)
	}
	w.Ascending(p.Waiters)
}

// flags are the function's properties that are true or false.
func (f *Func) flags() []*bool {
	return []*bool{&f.NoReturn, &f.Leaves, &f.usesGS, &f.blind, &f.astray, &f.plain, &f.reads, &f.framed, &f.switches, &f.kernel}
}

// errOther: what was read was not written of this program, or not by Pack.
var errOther = errors.New("facts of another program")

// Unpack is Build of a program whose facts were written before. It trusts
// them: the caller made sure that they are of this image.
func Unpack(r *pack.Reader, im *image.Image, catches Catches, among ...*image.Image) (*Program, error) {
	p := begin(im, catches, among)
	if r.Uint() != uint64(len(p.every)) {
		return nil, errOther
	}
	p.silent = r.Bool()
	for _, f := range p.Funcs {
		f.part = true // but for those that follow
	}
	n := r.Len(8)
	p.Funcs = make([]*Func, 0, n)
	at := 0
	for range n {
		f := p.next(&at, r.Uint())
		if f == nil {
			return nil, errOther
		}
		f.part = false
		switch n := r.Len(2); n {
		case 0:
			return nil, errOther
		case len(f.Ranges): // 1, as it was begun with
		default:
			f.Ranges = make([]Range, n)
		}
		for i := range f.Ranges {
			lo := r.Uint()
			f.Ranges[i] = Range{lo, lo + r.Uint()}
			if g := im.SectionAt(lo); g == nil || f.Ranges[i].Hi > g.Addr+g.Size || f.Ranges[i].Hi < lo {
				return nil, errOther
			}
		}
		f.Skip = string(r.Bytes())
		f.Insns = int(r.Uint())
		for _, b := range f.flags() {
			*b = r.Bool()
		}
		p.throws = p.throws || f.switches
		for _, j := range r.Ascending() {
			if f.tables == nil {
				f.tables = map[uint64][]uint64{}
			}
			f.tables[j] = r.Ascending()
		}
		f.pads = r.Ascending()
		f.starts = r.Bytes()
		if r.Err != nil {
			return nil, r.Err
		}
		p.Funcs = append(p.Funcs, f)
	}
	p.own()
	if err := p.unpackRegions(r); err != nil {
		return nil, err
	}
	return p, r.Err
}

// next is the function, or part, that starts at an address, or nil: mostly the one behind
// the last that was asked for.
func (p *Program) next(i *int, entry uint64) *Func {
	if p.nth(*i, entry) == nil {
		*i = p.find(entry)
	}
	*i++
	return p.nth(*i-1, entry)
}

func (p *Program) unpackRegions(r *pack.Reader) error {
	for range r.Len(8) {
		x := Region{Func: p.at(r.Uint()), Site: r.Uint(), Enter: r.Uint(), Also: r.Uint(), Leaves: r.Ascending(), Object: Object(r.Uint()), Works: r.Ascending(), Idle: r.Bool(), Future: r.Bool()}
		if x.Func == nil || x.Func.part || !x.Func.In(x.Enter) || x.Also != 0 && !x.Func.In(x.Also) {
			return errOther
		}
		p.Regions = append(p.Regions, x)
	}
	p.Waiters = r.Ascending()
	p.noteRegions()
	return nil
}
