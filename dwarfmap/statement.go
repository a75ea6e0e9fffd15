package dwarfmap

import (
	"sort"

	"github.com/skewlens/skewlens/profile"
)

// Statement returns where the first statement begins in the code from one address to
// another, or the first address where none does. What compilers put before it, as a
// register that is loaded again where two ways part, has the line of what was before.
func (m *Map) Statement(from, to profile.Addr) profile.Addr {
	m.read()
	t, _ := m.rowAt(uint64(from))
	if t == nil {
		return from
	}
	s := t.sequenceOf(uint64(from))
	rows := t.rows[s.first:s.last]
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr >= uint64(from) })
	for ; i < len(rows) && rows[i].addr < uint64(to); i++ {
		if rows[i].stmt && rows[i].line > 0 {
			return profile.Addr(rows[i].addr)
		}
	}
	return from
}
