package dwarfmap

import (
	"maps"
	"path"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// maxCached is how many bytes of parsed tables are kept: enough for all of
// most programs, and for what one run touches of any.
const maxCached = 512 << 20

// load returns the tables of a unit, parsed at the first call; nil where they
// are damaged beyond use.
func (m *Map) load(u *unit) *tables {
	now := m.clock.Add(1)
	if t := u.tables.Load(); t != nil {
		u.used.Store(now)
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := u.tables.Load(); t != nil || u.damaged {
		return t
	}
	t := &tables{}
	// What could be read before an error stays of use.
	sound := m.guard("a line table", func() error { return m.readLines(u, t) })
	if !sound && len(t.sequences) == 0 {
		u.damaged = true
		return nil
	}
	m.guard("the functions of a unit", func() error { return m.readScopes(u, t) })
	t.rows, t.segments = slices.Clip(t.rows), slices.Clip(t.segments)
	u.used.Store(now)
	u.tables.Store(t)
	m.cached += t.size()
	m.evict(u)
	return t
}

// size is about what the tables take: bytes of a row, a scope with its name, a segment.
func (t *tables) size() int64 {
	return t.kept + 32*int64(len(t.rows)) + 48*int64(len(t.scopes)) + 16*int64(len(t.segments))
}

// evict drops the tables used longest ago until what is left fits. Lookups
// that hold them go on with them.
func (m *Map) evict(keep *unit) {
	for m.cached > m.budget {
		var oldest *unit
		for _, u := range m.units {
			if u != keep && u.tables.Load() != nil && (oldest == nil || u.used.Load() < oldest.used.Load()) {
				oldest = u
			}
		}
		if oldest == nil {
			return
		}
		t := oldest.tables.Swap(nil)
		if m.cached -= t.size(); t.kept > 0 {
			maps.DeleteFunc(m.names, func(at nameKey, _ string) bool { return at.in == t.data })
		}
	}
}

// Addresses returns where the code of a source line begins: the rows that the
// compiler recommends for stopping at (is_stmt), sorted. The file is an
// absolute path.
func (m *Map) Addresses(file string, line int) []profile.Addr {
	m.read()
	file = path.Clean(file)
	var found []profile.Addr
	for _, u := range m.unitsOf(file) {
		t := m.load(u)
		if t == nil {
			continue
		}
		f := int32(slices.Index(t.files, file))
		if f <= 0 {
			continue
		}
		for i := range t.rows {
			if r := &t.rows[i]; r.file == f && int(r.line) == line && line > 0 && r.stmt {
				found = append(found, profile.Addr(r.addr))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Files lists the source files that the program is made of, headers among them,
// by their absolute paths as the compilers wrote them down, sorted.
func (m *Map) Files() []string {
	m.read()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readTables()
	return slices.Sorted(maps.Keys(m.files))
}

// unitsOf lists the units whose file table names a file.
func (m *Map) unitsOf(file string) []*unit {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readTables()
	return m.files[file]
}

// readTables reads, the first time, the file tables of all units, not their line
// programs. It is called with m.mu held.
func (m *Map) readTables() {
	if m.files == nil {
		m.files = map[string][]*unit{}
		for _, u := range m.units {
			m.guard("a file table", func() error { return m.readFiles(u) })
		}
	}
}

func (m *Map) readFiles(u *unit) error {
	if err := vetLineHeader(m.lineSection, m.order, u.entry); err != nil {
		return err
	}
	r, err := m.data.LineReader(u.entry)
	if err != nil || r == nil {
		return err
	}
	for _, f := range r.Files() {
		if f == nil {
			continue
		}
		// A unit names a file twice in DWARF 5; units come one after another.
		p := u.cleanPath(f.Name)
		if us := m.files[p]; p != "" && (len(us) == 0 || us[len(us)-1] != u) {
			m.files[p] = append(us, u)
		}
	}
	return nil
}
