package dwarfmap

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// nameKey names a DIE: in the file, in the one that dwz shares, or in a unit's .dwo file.
type nameKey struct {
	die dwarf.Offset
	in  *dwarf.Data
}

// scopeName is the readable name of a function; the symbol's where the debug
// information has none.
func (m *Map) scopeName(t *tables, s int32, a uint64) string {
	if p := t.names[s].Load(); p != nil {
		return *p
	}
	m.mu.Lock()
	name := ""
	m.guard("the name of a function", func() error {
		name = m.nameOf(nameKey{t.scopes[s].die, t.data})
		return nil
	})
	in, outlined := outlinedFrom(name)
	if outlined && in == "" {
		m.guard("where a function was outlined", func() error {
			name = cmp.Or(m.writtenIn(t, s), name)
			return nil
		})
	}
	m.mu.Unlock()
	// A function that other files cannot see has no linkage name in the debug
	// information of some compilers, but its symbol tells its namespace.
	if !t.scopes[s].inlined && !mangled(name) {
		if sym, ok := m.symbolAt(a); ok && (name == "" || mangled(sym.name)) {
			name = sym.name
		}
	}
	name = m.readable(name)
	if in, outlined := outlinedFrom(name); outlined && in != "" {
		name = in
	}
	if outlined {
		t.outlined[s].Store(true)
	}
	t.names[s].Store(&name)
	return name
}

// nameOf follows a function's DIE to the ones that it is an instance or the
// definition of, until one tells the name that the linker uses; else the name
// in the source. Thousands of inlined calls lead to one definition, so that is
// what is remembered. The caller holds mu.
func (m *Map) nameOf(at nameKey) string {
	e := m.entry(at)
	if e == nil {
		return ""
	}
	linkage, plain := m.namesIn(e, at.in)
	next, more := m.origin(e, at.in)
	if linkage != "" || !more {
		return cmp.Or(linkage, plain)
	}
	if name, ok := m.names[next]; ok {
		return cmp.Or(name, plain)
	}
	// Chains have three links (inlined call → definition → declaration); the
	// bound is for those that go in circles.
	for die, links := next, 0; more && linkage == "" && links < 16; links++ {
		if e = m.entry(die); e == nil {
			break
		}
		var p string
		linkage, p = m.namesIn(e, die.in)
		plain = cmp.Or(plain, p)
		die, more = m.origin(e, die.in)
	}
	if len(m.names) > maxNames {
		clear(m.names)
	}
	m.names[next] = cmp.Or(linkage, plain)
	return m.names[next]
}

// maxNames bounds how many names are remembered outside the units' tables.
const maxNames = 1 << 19

func (m *Map) namesIn(e *dwarf.Entry, in *dwarf.Data) (linkage, plain string) {
	if linkage, _ = m.strIn(e, dwarf.AttrLinkageName, in); linkage == "" {
		linkage, _ = m.strIn(e, attrMIPSLinkageName, in)
	}
	plain, _ = m.strIn(e, dwarf.AttrName, in)
	return linkage, plain
}

func (m *Map) entry(at nameKey) *dwarf.Entry {
	r := at.in.Reader()
	r.Seek(at.die)
	e, err := r.Next()
	if err != nil || e == nil || e.Tag == 0 {
		return nil
	}
	return e
}

// origin is the DIE that this one is an instance of, or the declaration of.
func (m *Map) origin(e *dwarf.Entry, in *dwarf.Data) (nameKey, bool) {
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		f := e.AttrField(a)
		if f == nil {
			continue
		}
		switch v := f.Val.(type) {
		case dwarf.Offset:
			return nameKey{v, in}, true
		case int64:
			if f.Class == dwarf.ClassReferenceAlt && v > 0 && m.alt != nil && in != m.alt.data {
				return nameKey{dwarf.Offset(v), m.alt.data}, true
			}
		}
	}
	return nameKey{}, false
}

func (m *Map) str(e *dwarf.Entry, a dwarf.Attr) (string, bool) { return m.strIn(e, a, m.data) }

// strIn is a string attribute, which may stand in the file that dwz shares.
func (m *Map) strIn(e *dwarf.Entry, a dwarf.Attr, in *dwarf.Data) (string, bool) {
	f := e.AttrField(a)
	if f == nil {
		return "", false
	}
	switch v := f.Val.(type) {
	case string:
		return v, true
	case int64:
		if f.Class != dwarf.ClassStringAlt || m.alt == nil || in == m.alt.data || v < 0 || v >= int64(len(m.alt.str)) {
			return "", false
		}
		s, _, _ := bytes.Cut(m.alt.str[v:], []byte{0})
		return string(s), true
	}
	return "", false
}

func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || strings.HasPrefix(name, "_D")
}

// readable demangles the names of C++, Rust and D, and leaves out parameters and
// template arguments: the place is known by its line, and with them one name
// fills a screen. What the compiler appended to a clone (.cold, .part.0) stays.
func (m *Map) readable(name string) string {
	if m.plain || len(name) < 3 {
		return name
	}
	if !mangled(name) {
		// The source's own name of a template's instance.
		if i := strings.IndexByte(name, '<'); i > 0 && name[len(name)-1] == '>' && !strings.HasPrefix(name, "operator") {
			return name[:i]
		}
		return written(name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out, ok := m.demangled[name]
	if !ok {
		if len(m.demangled) > maxNames {
			clear(m.demangled)
		}
		out = demangled(name)
		m.demangled[name] = out
	}
	return out
}

// rustName is a name of older Rust's, which may have dots in it, with the hash that ends it.
var rustName = regexp.MustCompile(`^_ZN.*17h[0-9a-f]{16}E`)

func demangled(name string) string {
	if out, is := demangledD(name); is {
		return out
	}
	base, clone, cut := name, "", false
	if strings.HasPrefix(name, "_Z") {
		at := len(rustName.FindString(name))
		base, clone, cut = strings.Cut(name[at:], ".")
		base = name[:at] + base
	}
	out, err := demangle.ToString(base, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams, demangle.MaxLength(12))
	if err != nil {
		return name
	}
	if cut {
		out += "." + clone
	}
	return out
}

// Names that OCaml and Free Pascal make for the linker: of a module's function, which has a
// number, and of a unit's, with the types of its parameters.
var (
	ofOCaml  = regexp.MustCompile(`^caml([A-Z]\w*?)(?:__|[$.])(\w+)_\d+$`)
	ofPascal = regexp.MustCompile(`^(?:P\$)?([A-Z]\w*?)(?:\$_\$(\w+?)_\$_)?_\$\$_([A-Z]\w*?)(?:\$.*)?$`)
)

// written is a name as it is written in the source, where a language adds to it.
func written(name string) string {
	if strings.HasPrefix(name, "caml") {
		if x := ofOCaml.FindStringSubmatch(name); x != nil {
			return strings.ReplaceAll(x[1]+"."+x[2], "__", ".")
		}
	} else if strings.Contains(name, "_$") {
		if x := ofPascal.FindStringSubmatch(name); x != nil {
			return strings.ReplaceAll(x[1]+"."+x[2]+"."+x[3], "..", ".")
		}
	}
	return name
}
