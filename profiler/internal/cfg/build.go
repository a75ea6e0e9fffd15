package cfg

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Catches tells which library functions may hold a thread while its counters
// are read (waits that end sections, thread exit); cfg knows no section rules.
type Catches func(importName string) bool

// Build decodes a program. It never fails as a whole: what cannot be moved is
// marked.
//
// The images among which it runs are moved too: what they do is done in the
// middle of its calls.
func Build(im *image.Image, catches Catches, among ...*image.Image) *Program {
	return begin(im, catches, among).build()
}

// build is Build of a program of which only the image is known.
func (p *Program) build() *Program {
	searches := make([]search, len(p.Funcs))
	for i, f := range p.Funcs {
		f.search = &searches[i]
	}
	p.findLabels()
	var sp Space
	p.decodeAll(&sp, p.Funcs)
	p.findGotos(&sp)
	if !p.throws && slices.ContainsFunc(p.Funcs, func(f *Func) bool { return f.switches }) {
		p.throws = true // which says more of every function that calls through pointers
		p.decodeAll(&sp, p.Funcs)
	}
	for _, f := range p.Funcs {
		if f.blind && !f.part && f.Skip == "" {
			p.checkTailJumps(f, &sp)
		}
	}
	p.settleOwners()
	p.Funcs = slices.DeleteFunc(p.Funcs, func(f *Func) bool { return f.part })
	p.findRegions()
	p.markLeaves()
	return p
}

// begin is a program of which only the image is known.
func begin(im *image.Image, catches Catches, among []*image.Image) *Program {
	p := &Program{Image: im, owner: make(map[uint64]*Func, len(im.Funcs)), catches: catches, foreign: map[string]bool{}}
	p.all = append([]*image.Image{im}, among...)
	for _, x := range p.all {
		p.throws = p.throws || len(x.Pads) > 0 && x.Go == nil
		for _, n := range unwinders {
			p.throws = p.throws || x.Imports[n]
		}
		p.cancels = p.cancels || x.Imports["pthread_cancel"]
		p.catching = p.catching || x.Static
		for n := range x.Imports {
			p.catching = p.catching || catches(n)
		}
	}
	p.throws = p.throws || p.names("dlopen", "dlmopen") // it may do whatever it likes
	p.catching = p.catching || im.Go != nil
	p.got = offsets(im)
	p.handles = im.Static || im.Go != nil || p.names(handles...)
	p.others(among)
	p.findWrapped(among)
	p.Funcs = make([]*Func, 0, len(im.Funcs))
	teams := hasTeams(im)
	p.every = make([]Func, len(im.Funcs)) // together: there are thousands
	whole := make([]Range, len(im.Funcs))
	for i := range im.Funcs {
		s := &im.Funcs[i]
		sec := im.SectionAt(s.Addr)
		if sec == nil || !sec.Exec || !strings.HasPrefix(sec.Name, ".text") {
			continue
		}
		f := &p.every[i]
		whole[i] = Range{s.Addr, s.Addr + s.Size}
		*f = Func{Name: s.Name, Ranges: whole[i : i+1 : i+1], part: s.Cold, named: s.Cold, ends: noReturnName(s.Name), setJmp: setJmpName(s.Name), nameless: s.Synthetic}
		p.Funcs = append(p.Funcs, f)
		if s.Addr == im.Entry {
			f.Skip = "the program's entry: runs before anything is set up"
		} else if im.Go != nil {
			p.ofGo(f)
		} else if f.ofRuntime(teams); f.Runtime {
			f.Skip, f.stays = "it deals out work", true
		}
	}
	return p
}

// others notes which functions of libraries control may not come back from:
// all of those whose code is not known, and of the known ones if it may happen
// at all. A library's own that it calls as others would are among these.
func (p *Program) others(among []*image.Image) {
	for n := range p.Image.Unversioned { // somebody's library may do anything
		p.foreign[n] = true
	}
	may := p.throws || p.catching || p.cancels
	for _, through := range []map[uint64]string{p.Image.PLT, p.Image.GOT} {
		for _, n := range through {
			if _, own := p.Image.Exports[n]; own {
				p.foreign[n] = may
			}
		}
	}
	for _, x := range among {
		for n := range x.Exports {
			p.foreign[n] = may
		}
	}
}

// decodeAll decodes functions, again where something was learned about
// it: that a callee never returns (its code ends there), that a neighbour is
// only a part of it. Both only ever turn from false to true, so it ends.
func (p *Program) decodeAll(sp *Space, funcs []*Func) {
	callers := map[uint64][]*Func{}
	queue := slices.Clone(funcs)
	queued := map[*Func]bool{}
	for _, f := range queue {
		queued[f] = true
	}
	again := func(f *Func) {
		if !queued[f] {
			queued[f] = true
			queue = append(queue, f)
		}
	}
	for n := 0; n < len(queue); n++ {
		f := queue[n]
		queued[f] = false
		if f.part || f.stays || f.Ranges[0].Lo == p.Image.Entry {
			continue
		}
		was := f.NoReturn
		f.Skip = ""
		merged, parent := f.decode(p, sp)
		for _, c := range f.callees {
			callers[c] = append(callers[c], f)
		}
		if parent != nil { // f jumps back into a larger neighbour: it is a part of that one
			f.part = true
			again(parent)
			continue
		}
		if len(merged) > 0 {
			for _, g := range merged {
				g.part = true
			}
			again(f)
		}
		if f.NoReturn != was {
			for _, c := range callers[f.Ranges[0].Lo] {
				again(c)
			}
		}
		if n > 20*len(p.Funcs) {
			break // cannot happen: both facts are monotone; never hang on a strange binary
		}
	}
}

// findLabels collects the words of the data that point into the middle of
// functions: labels whose address a computed goto may use.
func (p *Program) findLabels() {
	for i := range p.Image.Sections {
		s := &p.Image.Sections[i]
		if s.Exec || strings.HasPrefix(s.Name, ".debug") {
			continue
		}
		for o := int(-s.Addr & 7); o+8 <= len(s.Data); o += 8 {
			a := binary.LittleEndian.Uint64(s.Data[o:])
			if a < p.Image.Lowest || a >= p.Image.Highest {
				continue
			}
			if g := p.Image.FuncAt(a); g != nil && g.Addr != a {
				p.labels = append(p.labels, a)
			}
		}
	}
	p.labels = sortUnique(p.labels)
}

// own notes which function each part belongs to, and skips functions that
// share one.
func (p *Program) own() (shared bool) {
	clear(p.owner)
	for _, f := range p.Funcs {
		if f.part || f.Skip != "" {
			continue
		}
		for _, r := range f.Ranges {
			if o := p.owner[r.Lo]; o != nil && o != f {
				o.Skip, f.Skip = "shares a part with "+f.Name, "shares a part with "+o.Name
				shared = true
			}
			p.owner[r.Lo] = f
		}
	}
	return shared
}

// settleOwners skips functions that share a part or are entered in the middle
// by another one: neither can be moved without the other.
func (p *Program) settleOwners() {
	for again := true; again; {
		again = p.own()
		targets := p.sweepUnmoved()
		for _, f := range p.Funcs {
			for _, t := range f.tailFrom {
				if p.Owner(t) != f {
					targets = append(targets, t)
				}
			}
		}
		targets = sortUnique(targets)
		for _, f := range p.Funcs {
			if f.part || f.Skip != "" {
				continue
			}
			if p.silent {
				f.enters(targets)
			}
			if t, inside := f.enteredInside(targets); inside {
				f.Skip = fmt.Sprintf("entered in the middle, at %#x, by code of another function", t)
				again = true
			}
		}
	}
}

// markLeaves finds the functions whose call may not come back, or may hold
// the thread while its counters are read: a fixpoint over the call graph,
// callees first, then whoever calls one.
func (p *Program) markLeaves() {
	callers := map[*Func][]*Func{}
	var work []*Func
	mark := func(f *Func) {
		if !f.Leaves {
			f.Leaves = true
			work = append(work, f)
		}
	}
	for _, f := range p.Funcs {
		if p.catches(f.Name) {
			mark(f)
		}
		if f.Runtime && p.Image.Go != nil && f.Name != CallsGo {
			continue // see golang.go
		}
		if f.Skip != "" {
			mark(f) // unknown inside
			continue
		}
		if f.astray {
			mark(f)
		}
		for _, a := range f.callees {
			if g := p.FuncAt(a); g != nil {
				callers[g] = append(callers[g], f)
			} else if p.libraryLeaves(f, "") {
				mark(f) // into the middle of a function
			}
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range callers[f] {
			mark(c)
		}
	}
}

// libraryLeaves reports whether a function's call of a library's ("": through a
// pointer) may not come back or may hold the thread.
func (p *Program) libraryLeaves(f *Func, name string) bool {
	switch {
	case name == "":
		return (p.throws || p.catching) && !f.Go
	case p.catches(name), p.foreign[name]:
		return true
	case callsBack(name):
		return p.throws || p.catching
	case p.cancels && !strings.HasPrefix(name, "mem") && !strings.HasPrefix(name, "str"):
		return true
	}
	return p.throws && mayThrowName(name)
}

// Summary counts what can be moved.
func (p *Program) Summary() (moved, total, movedInsns, totalInsns int) {
	for _, f := range p.Funcs {
		if f.Ranges[0].Lo == p.Image.Entry || f.Runtime {
			continue // _start runs before anything can be counted, and but once
		}
		total++
		n := f.Insns
		if n == 0 {
			n = f.Size() / 4 // undecodable: about four bytes an instruction
		}
		totalInsns += n
		if f.Skip == "" {
			moved++
			movedInsns += n
		}
	}
	return
}

func sortUnique(a []uint64) []uint64 {
	sort.Slice(a, func(i, j int) bool { return a[i] < a[j] })
	return slices.Compact(a)
}
