package dwarfmap

import "strings"

// Names in D are as the language's specification of its ABI has them: the modules,
// types and functions that a function is in, each with its type, if it has one:
//
//	_D 4dpar 4main FAAyaZ 15__foreachbody11 MFiZi    dpar.main.__foreachbody11
//
// What is left out is left out as in C++: parameters and the arguments of templates.
// It has to be read to know where it ends.

// dName is a name that is read; at is how far. Where it is not as specified, bad is set.
type dName struct {
	s     string
	at    int
	depth int
	steps *int // that are left
	bad   bool
}

// How deep names may be in names, and how much there may be to read in all: a name may be
// made to refer to itself, and twice to what does so.
const (
	maxDepth = 64
	maxSteps = 20000
)

// demangledD is a name in D, readable; false where it is none.
func demangledD(name string) (string, bool) {
	steps := maxSteps
	r := dName{s: name, at: len("_D"), steps: &steps}
	if name == "_Dmain" {
		return "D main", true
	}
	if !strings.HasPrefix(name, "_D") {
		return "", false
	}
	out := r.qualified()
	_, clone, cut := strings.Cut(name, ".")
	if cut {
		out += "." + clone
	}
	return out, !r.bad && out != ""
}

// peek is the next character, 0 at the end.
func (r *dName) peek() byte {
	if r.bad || r.at >= len(r.s) {
		return 0
	}
	return r.s[r.at]
}

// skip passes one of these characters, if that is what comes.
func (r *dName) skip(any string) bool {
	if c := r.peek(); c != 0 && strings.IndexByte(any, c) >= 0 {
		r.at++
		return true
	}
	return false
}

// word passes these characters.
func (r *dName) word(w string) bool {
	if r.bad || !strings.HasPrefix(r.s[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *dName) number() (n int) {
	from := r.at
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		n = min(n*10+int(c-'0'), len(r.s)+1) // there can be no more of anything
		r.at++
	}
	r.bad = r.bad || r.at == from
	return n
}

// within reads something that may hold others of its kind.
func (r *dName) within(read func()) {
	*r.steps--
	if r.depth++; r.depth > maxDepth || *r.steps < 0 {
		r.bad = true
	}
	if !r.bad {
		read()
	}
	r.depth--
}

// back reads what stands further ahead, and is referred to here: how far is in base 26.
func (r *dName) back(read func()) {
	ref, n := r.at, 0
	r.at++ // the Q
	for c := r.peek(); c >= 'A' && c <= 'Z' && n <= len(r.s); c = r.peek() {
		n = n*26 + int(c-'A')
		r.at++
	}
	last := r.peek()
	if n = n*26 + int(last-'a'); last < 'a' || last > 'z' || n <= 0 || n > ref {
		r.bad = true
		return
	}
	behind := r.at + 1
	r.at = ref - n
	r.within(read)
	r.at = behind
}

// names reports whether a part of a name comes.
func (r *dName) names() bool {
	c := r.peek()
	if c == 'Q' { // or a type that is referred to
		probe := *r
		is := false
		probe.back(func() { c := probe.peek(); is = c >= '0' && c <= '9' })
		return is && !probe.bad
	}
	return c >= '0' && c <= '9' || c == '_' && (strings.HasPrefix(r.s[r.at:], "__T") || strings.HasPrefix(r.s[r.at:], "__U"))
}

// qualified reads names that are in each other, with the types of those that are functions.
func (r *dName) qualified() string {
	var parts []string
	r.within(func() {
		for r.names() && !r.bad {
			part := r.name()
			switch part {
			case "__ctor":
				part = "this"
			case "__dtor":
				part = "~this"
			}
			// A template's instance has the same name as what it declares, mostly.
			if part != "" && !(len(parts) > 0 && parts[len(parts)-1] == part) {
				parts = append(parts, part)
			}
			f := *r // a function's type is of it only if another name follows, or its result
			if f.skip("M") {
				f.modifiers()
			}
			if f.function() && f.names() {
				*r = f
			}
		}
	})
	return strings.Join(parts, ".")
}

func (r *dName) name() (name string) {
	if r.peek() == 'Q' {
		r.back(func() { name = r.name() })
		return name
	}
	if r.peek() == '_' {
		return r.instance()
	}
	n := r.number()
	if n > len(r.s)-r.at {
		r.bad = true
	}
	if r.bad || n == 0 {
		return "" // of nothing that has a name
	}
	end := r.at + n
	name = r.s[r.at:end]
	if strings.HasPrefix(name, "__T") || strings.HasPrefix(name, "__U") { // as older compilers have it
		inner := dName{s: r.s[:end], at: r.at, depth: r.depth, steps: r.steps}
		if name = inner.instance(); inner.bad {
			r.bad = true
		}
	}
	r.at = end
	return name
}

// instance reads an instance of a template.
func (r *dName) instance() (name string) {
	r.at += len("__T")
	r.within(func() {
		name = r.name()
		for !r.bad && !r.skip("Z") {
			r.argument()
		}
	})
	return name
}

func (r *dName) argument() {
	r.skip("H")
	switch {
	case r.skip("T"):
		r.kind()
	case r.skip("V"):
		r.kind()
		r.value()
	case r.skip("S"):
		r.symbol()
	case r.skip("X"):
		if n := r.number(); n <= len(r.s)-r.at {
			r.at += n
			return
		}
		r.bad = true
	default:
		r.bad = true
	}
}

// symbol reads what an argument names, with its type where it is a name of the linker's.
func (r *dName) symbol() {
	typed := r.word("_D")
	if r.qualified(); typed {
		if r.skip("M") {
			r.modifiers()
		}
		r.kind()
	}
}
