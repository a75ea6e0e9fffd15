package image

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// symbol is an entry of a symbol table.
type symbol struct {
	name        string
	value, size uint64
	info        uint8
	at          uint16 // its section
}

func (s *symbol) bind() elf.SymBind         { return elf.ST_BIND(s.info) }
func (s *symbol) typ() elf.SymType          { return elf.ST_TYPE(s.info) }
func (s *symbol) section() elf.SectionIndex { return elf.SectionIndex(s.at) }

const symbolSize = 24

// symbols reads .symtab and .dynsym. Names are parts of one string per table:
// a file whose symbols share a long name costs no more than the file.
func (l *loader) symbols() {
	l.syms = l.table(elf.SHT_SYMTAB)
	l.im.Stripped = l.syms == nil
	l.dynsyms = l.table(elf.SHT_DYNSYM)
	versions := l.versions()
	for i := range l.dynsyms {
		s := &l.dynsyms[i]
		if i < len(versions)/2 && s.section() == elf.SHN_UNDEF && s.name != "" && s.bind() == elf.STB_GLOBAL && versions[2*i+1]&0x7f == 0 && versions[2*i] <= 1 {
			l.im.Unversioned[s.name] = true
		}
		if s.section() == elf.SHN_UNDEF && s.name != "" {
			l.im.Imports[s.name] = true
		} else if s.function() {
			l.im.Exports[s.name] = true
		}
	}
}

// versions are the versions of the dynamic symbols by number, two bytes each; 0
// and 1 are none.
func (l *loader) versions() []byte {
	s := l.f.SectionByType(elf.SHT_GNU_VERSYM)
	if s == nil {
		return nil
	}
	b, err := l.contents(s.Offset, s.FileSize)
	if err != nil {
		l.doubt("versions of symbols: %v", err)
	}
	return b
}

// table reads the symbol table of the given type; index 0, the null symbol, included.
func (l *loader) table(t elf.SectionType) []symbol {
	s := l.f.SectionByType(t)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size == 0 || int(s.Link) >= len(l.f.Sections) {
		return nil
	}
	data, err := l.contents(s.Offset, s.FileSize)
	if err != nil {
		l.doubt("symbol table %s: %v", s.Name, err)
		return nil
	}
	str := l.f.Sections[s.Link]
	if str.Type != elf.SHT_STRTAB {
		l.doubt("symbol table %s has no names", s.Name)
		return nil
	}
	names, err := l.text(str.Offset, str.FileSize)
	if err != nil {
		l.doubt("names of %s: %v", s.Name, err)
		return nil
	}
	out := make([]symbol, 0, len(data)/symbolSize)
	for c := (cursor{data: data}); c.left() >= symbolSize; {
		name, info := c.u32(), c.u8()
		c.u8()
		out = append(out, symbol{name: nameAt(names, uint64(name)), info: info, at: c.u16(), value: c.u64(), size: c.u64()})
	}
	return out
}

// nameAt is the string at an offset of a string table: a part of the table, not
// a copy. What goes on for more than 64 KB is cut: many such names in one would
// take for ever.
func nameAt(table string, at uint64) string {
	if at >= uint64(len(table)) {
		return ""
	}
	s := table[at:min(uint64(len(table)), at+1<<16)]
	name, _, _ := strings.Cut(s, "\x00")
	return name
}

// functions makes Funcs of symbols, and of FDEs where no symbol is; of Go's
// table for a Go program without symbols.
func (l *loader) functions() {
	im := l.im
	table := l.syms
	if im.Stripped {
		table = l.dynsyms
	}
	order := make([]int32, 0, len(table)) // of functions, by address, then as they are there
	for i := range table {
		if s := &table[i]; s.function() && s.section() != elf.SHN_UNDEF && s.section() < elf.SHN_LORESERVE && s.name != "" {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(table[a].value, table[b].value), cmp.Compare(a, b))
	})
	im.Funcs = make([]Func, 0, len(order))
	var named *symbol // the last function
	for _, i := range order {
		s := &table[i]
		sec := im.SectionAt(s.value)
		if sec == nil || !sec.Exec {
			continue
		}
		size := s.size
		if size == 0 {
			size = im.fdeSize(s.value) // assembly without .size; else it is not known where it ends
		}
		size = min(size, sec.Addr+sec.Size-s.value)
		if size == 0 {
			continue
		}
		f := Func{Name: s.name, Addr: s.value, Size: size, Cold: isCold(s.name), Local: s.bind() == elf.STB_LOCAL, IFunc: s.typ() == elf.STT_GNU_IFUNC}
		n := len(im.Funcs)
		if n == 0 || im.Funcs[n-1].Addr != f.Addr {
			im.Funcs = append(im.Funcs, f)
			named = s
			continue
		}
		old := &im.Funcs[n-1]
		f.Size = max(f.Size, old.Size)
		f.IFunc = f.IFunc || old.IFunc
		if r, before := rank(s), rank(named); r < before || r == before && f.Name < old.Name {
			*old, named = f, s
		} else {
			old.Size, old.IFunc = f.Size, f.IFunc
		}
	}
	if len(im.Funcs) == 0 && im.HasGo {
		l.goFuncs()
	}
	im.sortFuncs()
	l.synthesize()
}

// function reports whether it is a function's, or one's that returns a function to use.
func (s *symbol) function() bool { return s.typ() == elf.STT_FUNC || s.typ() == elf.STT_GNU_IFUNC }

// fdeSize is how long the function at an address is as its FDE says; 0: it has none.
func (im *Image) fdeSize(addr uint64) uint64 {
	i := sort.Search(len(im.FDEs), func(i int) bool { return im.FDEs[i].Start > addr })
	if i > 0 && im.FDEs[i-1].Start == addr {
		return im.FDEs[i-1].Size
	}
	return 0
}

// synthesize adds the functions that only the unwind table knows: all of a
// stripped program's, and the odd one in assembly.
func (l *loader) synthesize() {
	im := l.im
	var more []Func
	known := im.Funcs
	at, end := 0, uint64(0) // known[:at] begin before the FDE; the last to end ends at end
	for _, d := range im.FDEs {
		for ; at < len(known) && known[at].Addr <= d.Start; at++ {
			end = max(end, known[at].End())
		}
		sec := im.SectionAt(d.Start)
		// Stubs of the procedure linkage table have an FDE too, for all of them.
		if sec == nil || !sec.Exec || strings.HasPrefix(sec.Name, ".plt") || d.Start < end {
			continue
		}
		size := min(d.Size, sec.Addr+sec.Size-d.Start)
		if at < len(known) {
			size = min(size, known[at].Addr-d.Start)
		}
		name := fmt.Sprintf("F%x", d.Start)
		if d.Start == im.Entry {
			name = "_start"
		}
		more = append(more, Func{Name: name, Addr: d.Start, Size: size, Cold: d.Midway, Synthetic: true})
		end = d.Start + size
	}
	im.Funcs = append(im.Funcs, more...)
	im.sortFuncs()
}

func (im *Image) sortFuncs() {
	slices.SortStableFunc(im.Funcs, func(a, b Func) int { return cmp.Compare(a.Addr, b.Addr) })
	im.reach = make([]uint64, len(im.Funcs))
	end := uint64(0)
	for i := range im.Funcs {
		end = max(end, im.Funcs[i].End())
		im.reach[i] = end
	}
}

// isCold reports whether name is that of the part of a function that the
// compiler expects to be never run and moves away: foo.cold, foo.cold.3.
func isCold(name string) bool { return hasSuffix(name, ".cold") }

// hasSuffix reports whether name ends in a compiler's suffix, with or without a
// number. Rust's names may hold the same words inside (…..cold..…).
func hasSuffix(name, suffix string) bool {
	i := strings.LastIndex(name, suffix)
	if i <= 0 {
		return false
	}
	rest := name[i+len(suffix):]
	return rest == "" || rest[0] == '.' && len(rest) > 1 && strings.Trim(rest[1:], "0123456789") == ""
}

// rank orders the aliases of one address: the lowest names the function. A
// compiler's suffix says less than the plain name, a local name less than one
// that others link to.
func rank(s *symbol) int {
	r := 0
	if isCold(s.name) || hasSuffix(s.name, ".part") {
		r += 8
	}
	if strings.HasPrefix(s.name, "_") || strings.HasPrefix(s.name, "gomp_ialias_") { // a library's own name for what has a plain one
		r += 2
	}
	switch s.bind() {
	case elf.STB_LOCAL:
		r += 4
	case elf.STB_WEAK:
		r++
	}
	return r
}
