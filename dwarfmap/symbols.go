package dwarfmap

import (
	"debug/elf"
	"sort"
)

// symbol is one that stands for code.
type symbol struct {
	span // hi is lo where the size is unknown
	name string
	rank int8 // of several at one address the highest is shown
}

// readSymbols reads the function symbols of the program and of its separate
// debug file, which has them when the program was stripped.
func (m *Map) readSymbols(f, debug *elf.File) []symbol {
	var syms []symbol
	for _, from := range []*elf.File{f, debug} {
		for _, read := range []func() ([]elf.Symbol, error){from.Symbols, from.DynamicSymbols} {
			list, err := read()
			if err != nil {
				continue // stripped, or damaged: there is always less to know
			}
			for i := range list {
				if s, ok := m.codeSymbol(&list[i]); ok {
					syms = append(syms, s)
				}
			}
		}
		if from == debug {
			break
		}
	}
	sort.SliceStable(syms, func(i, j int) bool {
		a, b := &syms[i], &syms[j]
		if a.lo != b.lo {
			return a.lo < b.lo
		}
		if a.rank != b.rank {
			return a.rank > b.rank
		}
		return a.name < b.name
	})
	n := 0
	for i := range syms {
		if n == 0 || syms[n-1].lo != syms[i].lo {
			syms[n] = syms[i]
			n++
		}
	}
	return syms[:n:n]
}

func (m *Map) codeSymbol(s *elf.Symbol) (symbol, bool) {
	if s.Name == "" || s.Name[0] == '$' || s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE {
		return symbol{}, false
	}
	if !m.isCode(s.Value) || s.Value+s.Size < s.Value {
		return symbol{}, false
	}
	out := symbol{span: span{s.Value, s.Value + s.Size}, name: s.Name}
	switch elf.ST_TYPE(s.Info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		out.rank = 8
	case elf.STT_NOTYPE: // labels in assembly
	default:
		return symbol{}, false
	}
	if s.Size > 0 {
		out.rank += 4
	}
	switch elf.ST_BIND(s.Info) {
	case elf.STB_GLOBAL:
		out.rank += 2
	case elf.STB_WEAK:
		out.rank++
	}
	return out, true
}

// symbolAt finds the symbol that holds an address: one whose size says so, or
// the last one before it when that has no size.
func (m *Map) symbolAt(a uint64) (symbol, bool) {
	if !m.isCode(a) {
		return symbol{}, false
	}
	i := sort.Search(len(m.symbols), func(i int) bool { return m.symbols[i].lo > a }) - 1
	// A label inside a function, or a function inside another's padding, may
	// hide the one that holds the address.
	for j := i; j >= 0 && j > i-16; j-- {
		if s := m.symbols[j]; a < s.hi {
			return s, true
		}
	}
	if i >= 0 && m.symbols[i].lo == m.symbols[i].hi && m.sameSection(m.symbols[i].lo, a) {
		return m.symbols[i], true
	}
	return symbol{}, false
}

func (m *Map) sameSection(a, b uint64) bool {
	for _, s := range m.code {
		if s.lo <= a && a < s.hi {
			return s.lo <= b && b < s.hi
		}
	}
	return false
}
