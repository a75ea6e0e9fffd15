package cpuclock

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/unwind"
)

// Place is where work was done: a line of the user's, or a function of a library.
type Place struct {
	Location profile.Location
	File     string // the program or library that it is in; "": the kernel, or not known
}

// Resolver knows what is mapped in the processes of a run, and the lines of all
// files that were met in all runs.
type Resolver struct {
	mapped   map[uint32][]unwind.Mapping // by process, the last first
	unwinder *unwind.Unwinder
	current  uint32 // the process whose mappings the unwinder has
	modules  map[string]*module
	places   map[string]Place // by name
	names    map[address]string
}

// address is an instruction in a file.
type address struct {
	file string
	at   uint64
}

// module is a file with code. Without lines its places are not known.
type module struct {
	lines     *dwarfmap.Map
	loads     []elf.ProgHeader
	file      *os.File                     // nil: it is not one, or cannot be read
	functions []span                       // in order
	behind    map[uint64]map[uint64]uint64 // by function: the accesses that samples are behind
}

// NewResolver makes a resolver.
func NewResolver() *Resolver {
	return &Resolver{mapped: map[uint32][]unwind.Mapping{}, unwinder: unwind.New(nil), modules: map[string]*module{}, places: map[string]Place{}, names: map[address]string{}}
}

// Close closes the files.
func (r *Resolver) Close() {
	for _, m := range r.modules {
		if m.lines != nil {
			m.lines.Close()
		}
		if m.file != nil {
			m.file.Close()
		}
	}
}

// Place is the place of a name.
func (r *Resolver) Place(name string) Place { return r.places[name] }

// begin begins a run.
func (r *Resolver) begin() {
	clear(r.mapped)
	r.current = 0
}

// follow takes what changes a process's mappings.
func (r *Resolver) follow(x *record) {
	switch x.kind {
	case mapping:
		r.mapped[x.pid] = slices.Insert(r.mapped[x.pid], 0, x.mapped)
	case forked:
		r.mapped[x.pid] = slices.Clone(r.mapped[x.parent])
	case execed:
		delete(r.mapped, x.pid)
	}
	if x.pid == r.current {
		r.current = 0
	}
}

// place is the name of a sample's place.
func (r *Resolver) place(x *record) string {
	if x.piece.Regs[unwind.PC] == 0 {
		return r.name(address{})
	}
	leaf := r.address(x.pid, x.piece.Regs[unwind.PC])
	if r.own(leaf) {
		if slow := (address{leaf.file, r.modules[leaf.file].took(leaf.at)}); r.own(slow) {
			leaf = slow
		}
		return r.name(leaf)
	}
	if r.current != x.pid {
		r.current = x.pid
		r.unwinder.SetMappings(r.mapped[x.pid])
	}
	frames, _ := r.unwinder.StackIn(&x.piece, x.piece.Regs)
	for _, f := range frames[1:] {
		pc := f.PC
		if f.Called {
			pc-- // the call, not what comes after it
		}
		if a := r.address(x.pid, pc); r.own(a) {
			return r.name(a)
		}
	}
	return r.name(leaf)
}

// address finds the file that an instruction of a process is from.
func (r *Resolver) address(pid uint32, pc uint64) address {
	for _, m := range r.mapped[pid] {
		if m.Lo <= pc && pc < m.Hi {
			return address{m.Path, r.module(m.Path).linked(pc - m.Lo + m.Offset)}
		}
	}
	return address{}
}

// linked is the address in a file's own terms of what is at an offset of it.
func (m *module) linked(offset uint64) uint64 {
	for _, p := range m.loads {
		if p.Off <= offset && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr
		}
	}
	return offset
}

// module opens a file, once. That it cannot be read is no error: its places are
// then just not known.
func (r *Resolver) module(path string) *module {
	m, ok := r.modules[path]
	if ok {
		return m
	}
	m = &module{behind: map[uint64]map[uint64]uint64{}}
	r.modules[path] = m
	if !filepath.IsAbs(path) { // [vdso], //anon
		return m
	}
	file, err := os.Open(path)
	if err != nil {
		return m
	}
	f, err := elf.NewFile(file)
	if err != nil {
		file.Close()
		return m
	}
	m.file = file
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			m.loads = append(m.loads, p.ProgHeader)
		}
	}
	if !systemFile(path) {
		m.functions = functions(f)
	}
	m.lines, _ = dwarfmap.Open(path)
	return m
}

// own reports whether a place is the user's: in a file that is not one of the
// system's libraries, and there not in a system header alone.
func (r *Resolver) own(a address) bool {
	m := r.modules[a.file]
	if m == nil || m.lines == nil || systemFile(a.file) {
		return false
	}
	l := m.lines.Locate(profile.Addr(a.at))
	if !l.Known() { // where others have lines, it was linked in
		return l.Function != "" && !m.lines.HasLines() && !l.System()
	}
	_, ok := l.Own()
	return ok
}

// systemFile: what is there was installed, not built.
func systemFile(path string) bool {
	for _, dir := range []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// name names the place of an address, and knows it from then on. All addresses of a
// line are one place.
func (r *Resolver) name(a address) string {
	if n, ok := r.names[a]; ok {
		return n
	}
	p := Place{File: a.file, Location: profile.Location{Address: profile.Addr(a.at)}}
	if m := r.modules[a.file]; m != nil && m.lines != nil {
		l := m.lines.Locate(p.Location.Address)
		if own, ok := l.Own(); ok && !systemFile(a.file) {
			l = own
		}
		p.Location = l
	}
	var name string
	switch l := &p.Location; {
	case l.Known() && !systemFile(a.file):
		name = fmt.Sprintf("%s:%d", l.File, l.Line)
		l.Column = 0 // the line has more than this instruction
	case l.Function != "":
		name = a.file + " " + l.Function
		p.Location = profile.Location{Address: l.Address - l.SymbolOffset, Frame: profile.Frame{Function: l.Function}}
	default:
		name = a.file
		p.Location = profile.Location{}
	}
	if _, ok := r.places[name]; !ok {
		r.places[name] = p
	}
	r.names[a] = name
	return name
}
