// Package dwarfmap tells where an instruction comes from in the source: file,
// line, column, function, and the calls that the compiler inlined it through.
//
//	address ──▶ unit ──▶ line table ──▶ row: file:line:column
//	         (ranges of   (parsed at      │ line 0? the row before it
//	          all units,   the first      ▼
//	          read once)   lookup)      scopes ──▶ function ◀── inlined at ◀── inlined at …
//	    └──▶ symbol table: where there is no debug information
//
// A program of 100 MB answers its first question in well under a second:
// opening it reads only where each compilation unit's code lies; a unit's line
// program and its tree of functions are parsed when an address in it is first
// asked for, kept, and dropped again, least recently used first, when there is
// too much of them.
//
// The parsing is the standard library's debug/dwarf, which delve is built on
// too. delve's own packages do not serve here: its line parser gives no
// columns, prints to the standard output, and loses directories where a file
// table holds checksums (clang, DWARF 5); its trees do not end on debug
// information that refers to itself; and both bring a network along. The unit
// headers are walked here, because debug/dwarf can only skip a unit by reading
// all of it.
//
// Debug information is written by many compilers and is often a little wrong.
// The rules:
//   - line 0 means "no place in the source". It is never shown; the nearest
//     row before it that has a line, in the same sequence and the same
//     function, is shown instead, with that row's functions.
//   - code that the linker threw away leaves rows at address 0 (or 1, or −1);
//     whatever is not in an executable section of the program is ignored.
//   - damaged debug information gives symbols without lines and a warning,
//     never a panic: panics of the parser are caught at the door.
package dwarfmap

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/skewlens/skewlens/profile"
)

// Map knows the source places of one program file. Its methods may be called
// from several goroutines.
type Map struct {
	path    string
	closers []io.Closer
	code    []span // of the executable sections, sorted
	symbols []symbol
	plain   bool // names as linkers see them: for tests that compare with addr2line

	later sync.Once
	from  func() // see read; nil: has been
	hopes bool   // see MayHaveLines

	data  *dwarf.Data   // nil: no debug information
	alt   *altFile      // where dwz put what several files share; nil: none
	split *splitPackage // of all .dwo files; nil: none, or not looked for
	units []*unit
	index atomic.Pointer[[]unitRange] // sorted by lo
	loose []*unit                     // with lines, but without ranges of their own
	lines bool

	info        []byte // .debug_info
	addrs       []byte // .debug_addr
	lineSection []byte
	order       byteOrder

	loosened sync.Once

	clock atomic.Int64 // counts lookups, for the cache

	mu     sync.Mutex         // guards debug/dwarf, and what follows
	ranges []unitRange        // what index is made of
	cached int64              // bytes of tables held
	budget int64              // how many may be
	names  map[nameKey]string // of definitions, as linkers see them

	demangled map[string]string
	files     map[string][]*unit // by path, made by the first Addresses
	packaged  bool               // split was looked for
	warnings  []profile.Warning
}

type span struct{ lo, hi uint64 }

// Open reads the ELF file of a program, and the file of its debug information
// where that is a separate one.
func Open(path string) (*Map, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open program: %w", err)
	}
	m, err := prepare(f, path, defaultDebugDir)
	if err != nil {
		f.Close()
		return nil, err
	}
	m.closers = append(m.closers, f)
	return m, nil
}

// newMap is one that has read what it will be asked for.
func newMap(r io.ReaderAt, path, debugDir string) (m *Map, err error) {
	if m, err = prepare(r, path, debugDir); err == nil {
		m.read()
	}
	return m, err
}

// prepare finds the files to read.
func prepare(r io.ReaderAt, path, debugDir string) (m *Map, err error) {
	defer func() {
		// debug/elf is meant for well-formed files.
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("read %s: not a sound ELF file (%v)", path, r)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: give the program itself, not a script or an archive", path, err)
	}
	m = &Map{path: path, names: map[nameKey]string{}, demangled: map[string]string{}, budget: maxCached}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && s.Size > 0 && s.Addr+s.Size > s.Addr {
			m.code = append(m.code, span{s.Addr, s.Addr + s.Size})
		}
	}
	sort.Slice(m.code, func(i, j int) bool { return m.code[i].lo < m.code[j].lo })
	debug := m.debugFile(f, debugDir)
	m.hopes = hasDebug(debug)
	m.from = func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.from = nil
		m.guard("its symbols", func() error { m.symbols = m.readSymbols(f, debug); return nil })
		m.guard("its units", func() error { return m.readUnits(debug, debugDir) })
	}
	return m, nil
}

// read reads symbols and units, when something is asked for the first time: of many a
// file nothing is.
func (m *Map) read() {
	m.later.Do(func() {
		if m.from != nil {
			m.from()
		}
	})
}

// Read reports whether something was asked for.
func (m *Map) Read() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.from == nil
}

// MayHaveLines reports whether there is debug information to read.
func (m *Map) MayHaveLines() bool { return m.hopes }

// Opened are the files that all is read from but what several programs share: the
// program, and that of its debug information where that is a separate one. An error says
// why that is in doubt.
func (m *Map) Opened() (files []os.FileInfo, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.warnings) > 0 {
		return nil, errors.New(m.warnings[0].Message)
	}
	for _, c := range m.closers {
		if f, ok := c.(*os.File); ok {
			info, err := f.Stat()
			if err != nil {
				return nil, fmt.Errorf("look at %s: %w", f.Name(), err)
			}
			files = append(files, info)
		}
	}
	return files, nil
}

// Close lets go of the files. What was located before stays valid; a file of which
// nothing was asked for before knows nothing from now on.
func (m *Map) Close() error {
	m.later.Do(func() {})
	m.mu.Lock()
	defer m.mu.Unlock()
	var first error
	for _, c := range m.closers {
		if err := c.Close(); err != nil && first == nil {
			first = fmt.Errorf("close %s: %w", m.path, err)
		}
	}
	m.closers = nil
	return first
}

// Debug is the program's debug information, and its section .debug_info; nil where there
// is none. Not beside other calls.
func (m *Map) Debug() (data *dwarf.Data, info []byte) {
	m.read()
	return m.data, m.info
}

// HasLines reports whether there is a line table.
func (m *Map) HasLines() bool {
	m.read()
	return m.lines
}

// Warnings says what is missing or damaged in the debug information met so far.
func (m *Map) Warnings() []profile.Warning {
	m.read()
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]profile.Warning(nil), m.warnings...)
}

// warn adds a warning, once for each code. The caller holds mu or is alone.
func (m *Map) warn(code, format string, args ...any) {
	for _, w := range m.warnings {
		if w.Code == code {
			return
		}
	}
	m.warnings = append(m.warnings, profile.Warning{Code: code, Message: fmt.Sprintf(format, args...)})
}

// guard runs what reads debug information, and turns its error or panic into
// a warning. The caller holds mu or is alone.
func (m *Map) guard(what string, read func() error) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			m.damaged(what, fmt.Errorf("the parser gave up: %v", r))
			ok = false
		}
	}()
	if err := read(); err != nil {
		m.damaged(what, err)
		return false
	}
	return true
}

func (m *Map) damaged(what string, err error) {
	m.warn("damaged-debug-info", "debug information of %s is damaged (%s: %.200q), so some places have no source line: rebuild with -g", m.path, what, err.Error())
}

// isCode reports whether an address lies in the program's code.
func (m *Map) isCode(a uint64) bool {
	i := sort.Search(len(m.code), func(i int) bool { return m.code[i].hi > a })
	return i < len(m.code) && m.code[i].lo <= a
}

// Locate returns the source place of an instruction. Without debug
// information for it the location has the symbol and the offset in it; without
// a symbol the address alone.
func (m *Map) Locate(a profile.Addr) profile.Location {
	m.read()
	l := profile.Location{Address: a}
	if !m.locateSource(uint64(a), &l) {
		if s, ok := m.symbolAt(uint64(a)); ok {
			l.Function, l.SymbolOffset = m.readable(s.name), a-profile.Addr(s.lo)
		}
	}
	return l
}

// Entry is the location of a function that begins at an address: the function
// itself, at the line where it opens. Locate would give the first statement,
// or a call that was inlined right there.
func (m *Map) Entry(a profile.Addr) profile.Location {
	l := m.Locate(a)
	if !l.Known() {
		return l
	}
	if n := len(l.InlinedAt); n > 0 {
		l.Frame, l.InlinedAt = l.InlinedAt[n-1], nil
	}
	t, i := m.rowAt(uint64(a))
	for i > 0 && t.rows[i-1].addr == uint64(a) && t.rows[i-1].line > 0 {
		i--
	}
	for k := i; k+1 < len(t.rows) && !t.rows[i].stmt && t.rows[k].addr == uint64(a); k++ {
		if t.rows[k].stmt { // what stands before is the end of the function before, without code
			i = k
		}
	}
	if r := &t.rows[i]; r.addr == uint64(a) {
		l.File, l.Line, l.Column = t.files[r.file], int(r.line), int(r.column)
	}
	return l
}

// locateSource fills in what the debug information knows.
func (m *Map) locateSource(a uint64, l *profile.Location) bool {
	if !m.isCode(a) {
		return false
	}
	t, i := m.rowAt(a)
	if t == nil {
		return false
	}
	r := &t.rows[i]
	l.Frame = profile.Frame{File: t.files[r.file], Line: int(r.line), Column: int(r.column)}
	s := t.scopeAt(r.addr)
	if i == t.last(a) {
		s = t.scopeAt(a) // the row is the address's own, not one before a line 0
	}
	if s < 0 {
		if sym, ok := m.symbolAt(a); ok {
			l.Function = m.readable(sym.name)
		}
		return true
	}
	l.Function = m.scopeName(t, s, a)
	if t.scopes[s].inlined {
		l.InlinedAt = make([]profile.Frame, 0, t.scopes[s].depth)
	}
	for ; t.scopes[s].inlined && t.scopes[s].parent >= 0; s = t.scopes[s].parent {
		c := &t.scopes[s]
		f := profile.Frame{Function: m.scopeName(t, c.parent, a)}
		if int(c.callFile) < len(t.callFiles) && c.callLine > 0 && t.files[t.callFiles[c.callFile]] != "" {
			f.File, f.Line, f.Column = t.files[t.callFiles[c.callFile]], int(c.callLine), int(c.callColumn)
		}
		l.InlinedAt = append(l.InlinedAt, f)
		if n := len(l.InlinedAt); t.outlined[s].Load() && t.outlined[c.parent].Load() {
			l.InlinedAt = l.InlinedAt[:n-1] // by what the runtime calls: see outlined.go
		}
	}
	return true
}

// rowAt finds the line table and the row with a line that an address belongs
// to; nil when there is none.
func (m *Map) rowAt(a uint64) (*tables, int) {
	var found [maxOverlap]unitRange
	for _, f := range m.unitsAt(a, &found) {
		t := m.load(f.unit)
		if t == nil {
			continue
		}
		i := t.last(a)
		if i < 0 {
			continue
		}
		first := t.sequenceOf(a).first
		for ; i >= first && t.rows[i].line == 0; i-- {
		}
		if i >= first && (t.rows[i].addr == a || i == t.last(a) || m.sameFunction(t, t.rows[i].addr, a)) {
			return t, i
		}
	}
	return nil, 0
}

// sameFunction reports whether two addresses lie in one function, by the
// functions of the debug information or else by symbols.
func (m *Map) sameFunction(t *tables, a, b uint64) bool {
	f, g := t.rootAt(a), t.rootAt(b)
	if f >= 0 || g >= 0 {
		return f == g
	}
	s, ok1 := m.symbolAt(a)
	u, ok2 := m.symbolAt(b)
	return ok1 && ok2 && s.lo == u.lo
}
