package discover

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
)

// family is the sources that are compiled together.
type family int

const (
	ofNone family = iota // each is a program of its own
	inC
	inCXX
	inGo
	inFortran
	aHeader // of C or C++
)

var families = map[string]family{".c": inC, ".cc": inCXX, ".cpp": inCXX, ".cxx": inCXX, ".C": inCXX, ".c++": inCXX, ".go": inGo,
	".h": aHeader, ".hh": aHeader, ".hpp": aHeader, ".hxx": aHeader, ".H": aHeader, ".inc": aHeader, ".inl": aHeader, ".ipp": aHeader, ".tpp": aHeader}

// familyOf is that of a file, by its name.
func familyOf(path string) family {
	if ext := filepath.Ext(path); compilers[ext] != fortran {
		return families[ext]
	}
	return inFortran
}

var includes = pattern.New(`(?m)^\s*#\s*include\s*"([^"]+)"`)

// manySources of a folder are no one program, and maxFolder entries of it are not looked
// through.
const (
	manySources = 50
	maxFolder   = 2000
)

// sourced is a program: its sources, the one with main first, and the headers beside
// them that it includes.
type sourced struct{ files, headers []string }

// together are the sources of each program of the folder that a file lies in and is a
// part of. Where but one of them has a main, that is all that are in its language; else
// those of the headers that it includes, and of the modules that it uses.
func (f *Finder) together(path string) (programs []sourced) {
	own := familyOf(path)
	if own == ofNone {
		if _, known := compilers[filepath.Ext(path)]; known && f.contains(path, begins()) {
			return []sourced{{files: []string{path}}}
		}
		return nil
	}
	sources := f.beside(path, own)
	var mains []string
	for _, s := range sources {
		if f.contains(s, begins()) {
			mains = append(mains, s)
		}
	}
	for _, m := range mains {
		if slices.Contains(mains, path) && m != path {
			continue
		}
		p := f.whole(m, sources, mains)
		if slices.Contains(p.files, path) || slices.Contains(p.headers, path) {
			programs = append(programs, p)
		}
	}
	return programs
}

// users are the programs in the folders around a header that include it, the nearest: the
// examples and tests of a library.
func (f *Finder) users(root, header string) (programs []sourced) {
	includes := regexp.MustCompile(`(?m)^\s*#\s*include\s*["<]([\w./+-]*/)?` + regexp.QuoteMeta(filepath.Base(header)) + `[">]`)
	for _, dir := range above(root, filepath.Dir(header)) {
		f.disk.Uses("read", dir)
		files, _ := filepath.Glob(filepath.Join(dir, "*.c*"))
		below, _ := filepath.Glob(filepath.Join(dir, "*", "*.c*"))
		for _, s := range append(files, below[:min(len(below), maxFolder)]...) {
			if fam := familyOf(s); (fam == inC || fam == inCXX) && f.contains(s, includes) && f.contains(s, begins()) {
				programs = append(programs, f.whole(s, []string{s}, []string{s}))
			}
		}
		if len(programs) > 0 {
			break
		}
	}
	return programs
}

// beside are the sources that lie beside a file, itself included, and may be of one
// program with it.
func (f *Finder) beside(path string, own family) (sources []string) {
	dir := filepath.Dir(path)
	f.disk.Uses("read", dir)
	entries, _ := os.ReadDir(dir)
	if len(entries) > maxFolder {
		return []string{path}
	}
	for _, e := range entries {
		name, at := e.Name(), filepath.Join(dir, e.Name())
		its := familyOf(name)
		switch {
		case e.IsDir(), its == ofNone, its == aHeader, its != own && own != aHeader, its == inGo && own == aHeader:
		case its == inGo && (strings.HasSuffix(name, "_test.go") || !f.contains(at, mainPackage())):
		default:
			sources = append(sources, at)
		}
	}
	return sources
}

// whole is the program that begins in a source.
func (f *Finder) whole(first string, sources, mains []string) (p sourced) {
	same := func(s string) bool { return familyOf(s) == familyOf(first) }
	p.files = []string{first}
	add := func(s string) {
		if !slices.Contains(p.files, s) && !slices.Contains(mains, s) && same(s) {
			p.files = append(p.files, s)
		}
	}
	if n := len(sources); n <= manySources && !slices.ContainsFunc(mains, func(m string) bool { return m != first && same(m) }) {
		for _, s := range sources {
			add(s)
		}
	}
	for next := slices.Clone(p.files); len(next) > 0; next = next[1:] {
		n := len(p.files)
		for _, s := range f.linked(next[0], sources) {
			add(s)
		}
		for _, h := range f.included(next[0]) {
			if slices.Contains(p.headers, h) || len(p.headers) > manySources {
				continue
			}
			p.headers, next = append(p.headers, h), append(next, h)
			for _, s := range sources {
				if strings.TrimSuffix(s, filepath.Ext(s)) == strings.TrimSuffix(h, filepath.Ext(h)) {
					add(s)
				}
			}
		}
		next = append(next, p.files[n:]...)
	}
	return p
}

// included are the headers that a file includes by where they lie.
func (f *Finder) included(file string) (headers []string) {
	text, _ := f.text(file)
	for _, m := range includes().FindAllStringSubmatch(text, -1) {
		headers = append(headers, filepath.Join(filepath.Dir(file), m[1]))
	}
	return headers
}
