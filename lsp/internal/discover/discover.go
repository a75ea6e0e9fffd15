package discover

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// Candidate is something that could be run.
type Candidate struct {
	workspace.Target        // its Program is empty where only its build makes one
	Label            string // names it among others: "build/solver"
	Why              string // it is offered: "built from this file"
	Asks             bool   // its source looks at arguments
	Unsure           bool   // that it is made of the file follows from the name alone
}

// Finder finds candidates. It remembers what programs are made of, and may be
// used by several goroutines.
type Finder struct {
	disk *workspace.Disk

	mu    sync.Mutex
	known map[string]*program
}

// New is a finder that knows nothing yet.
func New(d *workspace.Disk) *Finder { return &Finder{disk: d} }

// Find lists what could be run in a folder, the likeliest first: what is made of
// the file at path, or, where that is empty, everything. Files are read for it.
func (f *Finder) Find(root, path string) []Candidate {
	if path != "" && filepath.Ext(path) == ".rs" {
		if all := f.cargo(root, path); len(all) > 0 {
			return all // its release programs do not say what they are made of
		}
	}
	if strings.HasSuffix(path, "_test.go") {
		if all := f.golang(root, path); len(all) > 0 {
			return all // the program that is there has the benchmarks, too
		}
	}
	made, near := f.Made(root, path)
	if len(made) > 0 && (near || path == "") {
		return append(f.fresh(root, path, made), made...)
	}
	dir := root
	if path != "" {
		dir = filepath.Dir(path)
	}
	all, others := f.ofProject(made, path)
	for _, b := range f.builders(root, dir, path) {
		if !slices.ContainsFunc(made, func(c Candidate) bool { return c.Build == b.Build }) {
			all = append(all, b)
		}
	}
	if len(all) == 0 && path != "" {
		all = f.alone(root, path)
	}
	return append(all, others...)
}

// fresh are ways to build a program of a file that was edited since, where none is known
// of what is there: somebody compiled that in a way of their own.
func (f *Finder) fresh(root, path string, made []Candidate) (all []Candidate) {
	info, err := f.disk.Stat(path)
	if path == "" || err != nil || slices.ContainsFunc(made, func(c Candidate) bool {
		program, err := f.disk.Stat(c.Program)
		return c.Build != "" || err != nil || !program.ModTime().Before(info.ModTime())
	}) {
		return nil
	}
	return f.alone(root, path)
}

// Made lists the programs of a folder that are made of a file, or all; near says
// that their debug information names the very file. The file's own project is
// looked through first: the folder may be so large that not all of it is.
func (f *Finder) Made(root, path string) (all []Candidate, near bool) {
	if path == "" {
		return f.madeIn(root, root, path)
	}
	if home := f.Home(path); strings.HasPrefix(home, strings.TrimSuffix(root, "/")+"/") {
		if all, near = f.madeIn(home, root, path); near {
			return all, near
		}
	}
	return f.madeIn(root, root, path)
}

// madeIn looks through one folder of a workspace.
func (f *Finder) madeIn(dir, root, path string) (all []Candidate, near bool) {
	programs, real := f.programs(dir), path
	if r, err := filepath.EvalSymlinks(path); err == nil {
		real = r
	}
	best := 1
	for _, p := range programs {
		if path != "" {
			best = max(best, p.made(path, real))
		}
	}
	libraries := map[string]bool{}
	for _, p := range programs {
		if !p.runs && path != "" && p.made(path, real) >= best {
			libraries[p.provides] = true
		}
	}
	for _, p := range programs {
		if !p.runs {
			continue
		}
		why := "built from this file"
		switch {
		case path == "":
			why = "a program of this folder"
			if !p.debug(root) {
				continue
			}
		case p.made(path, real) >= best:
		case slices.ContainsFunc(p.needs, func(l string) bool { return libraries[l] }):
			why = "loads a library built from this file"
		default:
			continue
		}
		mpi := slices.ContainsFunc(p.needs, func(l string) bool { return strings.HasPrefix(l, "libmpi") })
		offered := []Candidate{f.candidate(root, path, p, why)}
		offered[0].Unsure = path != "" && best == 1
		if p.bare() {
			offered = f.anew(root, offered[0])
		}
		for _, c := range offered {
			all = append(all, ranked(c, mpi)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { // with debug information before without
		switch {
		case (a.First == "") == (b.First == ""):
			return 0
		case a.First != "":
			return -1
		}
		return 1
	})
	return all, best == 3
}

// candidate is a program that is there, with the build system that made it.
func (f *Finder) candidate(root, path string, p *program, why string) Candidate {
	files := p.files
	if len(files) == 0 { // its symbols name files without folders: those beside the one that is open
		for _, name := range p.names {
			files = append(files, filepath.Join(filepath.Dir(path), name))
		}
	}
	c := Candidate{Label: relative(root, p.path), Why: why, Asks: f.asks(root, files)}
	c.Name, c.Root, c.Program, c.Cwd = hash().ReplaceAllString(filepath.Base(p.path), ""), root, p.path, root
	c.Build = f.madeBy(root, p)
	return c
}

// looks is what a source says that looks at its program's arguments.
var looks = pattern.New(`\bmain\s*\(\s*((const\s+)?int|string)\b|\bargv\b|\benv::args|\b(paramStr|commandLineParams)\b|(?i:get_command_argument|command_argument_count)`)

// maxLooked of a program's sources are looked at.
const maxLooked = 200

// asks reports whether one of the workspace's files looks at arguments.
func (f *Finder) asks(root string, files []string) bool {
	n := 0
	for _, file := range files {
		if !strings.HasPrefix(file, root+"/") || n > maxLooked {
			continue
		}
		n++
		if f.contains(file, looks()) {
			return true
		}
	}
	return false
}

// maxText bounds the texts that are looked at, in bytes.
const maxText = 4 << 20

func (f *Finder) text(path string) (string, bool) {
	data, err := f.disk.Read(path, maxText)
	return string(data), err == nil
}

func (f *Finder) contains(path string, what *regexp.Regexp) bool {
	t, ok := f.text(path)
	return ok && what.MatchString(t)
}

// relative is a path as a person in the folder would write it.
func relative(root, path string) string {
	if r, err := filepath.Rel(root, path); err == nil && !strings.HasPrefix(r, "../") {
		return r
	}
	return path
}

// above are a folder and those above it, up to root.
func above(root, dir string) []string {
	var out []string
	for dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/") {
		out = append(out, dir)
		if dir == root {
			break
		}
		dir = filepath.Dir(dir)
	}
	return out
}

// signs are the files by which a build system is known.
var signs = []string{"CMakeLists.txt", "meson.build", "Cargo.toml", "go.mod", "GNUmakefile", "makefile", "Makefile"}

func (f *Finder) signed(dir string) bool {
	return f.other(dir) != nil || slices.ContainsFunc(signs, func(s string) bool { return f.file(filepath.Join(dir, s)) })
}

// standsAlone reports whether a folder has what builds by itself: a CMakeLists.txt or meson.build
// that says no project() is a part of that of a folder above.
func (f *Finder) standsAlone(dir string) bool {
	if f.other(dir) != nil {
		return true
	}
	for _, s := range signs {
		text, ok := f.text(filepath.Join(dir, s))
		if ok && (s != "CMakeLists.txt" && s != "meson.build" || project().MatchString(text)) {
			return true
		}
	}
	return false
}

// Home is the folder that a file belongs to which nobody has opened a folder for:
// the nearest above it that a build system knows, and those directly above that it
// knows too, within the home folder; else that of a version control; else its own.
func (f *Finder) Home(path string) string {
	home, _ := os.UserHomeDir()
	versioned := ""
	for dir := filepath.Dir(path); dir != home && dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if !f.standsAlone(dir) {
			if versioned == "" && f.exists(filepath.Join(dir, ".git")) {
				versioned = dir
			}
			continue
		}
		for up := filepath.Dir(dir); up != home && up != "/" && f.signed(up); up = filepath.Dir(up) {
			if f.standsAlone(up) {
				dir = up
			}
		}
		return dir
	}
	if versioned != "" {
		return versioned
	}
	return filepath.Dir(path)
}

// Above is the folder above root whose build system a file belongs to, where the
// client opened only a part of a project; empty where root has one, or none has.
func (f *Finder) Above(root, path string) string {
	for _, dir := range above(root, filepath.Dir(path)) {
		if f.standsAlone(dir) {
			return ""
		}
	}
	if home := f.Home(path); f.standsAlone(home) && strings.HasPrefix(root, home+"/") {
		return home
	}
	return ""
}

// Held says whether a program is made of a file.
type Held int

// Programs that are not there, or have no debug information, say nothing; nor is
// anything said of files that are no sources.
const (
	Unknown Held = iota
	Yes
	No
)

// Holds reads a program, if there is one, and says whether it is made of a file.
func (f *Finder) Holds(program, path string) Held {
	if _, source := compilers[filepath.Ext(path)]; !source {
		return Unknown
	}
	info, err := f.disk.Stat(program)
	if err != nil {
		return Unknown
	}
	p := f.program(program, fs.FileInfoToDirEntry(info))
	real := path
	if r, err := filepath.EvalSymlinks(path); err == nil {
		real = r
	}
	switch {
	case p == nil || len(p.files) == 0:
		return Unknown
	case p.made(path, real) > 1:
		return Yes
	case len(p.needs) > 0 && f.inLibrary(p, path, real):
		return Yes
	}
	return No
}

// inLibrary reports whether one of the libraries beside a program, which it loads,
// is made of a file.
func (f *Finder) inLibrary(p *program, path, real string) bool {
	for _, need := range p.needs {
		for _, dir := range above(filepath.Dir(filepath.Dir(filepath.Dir(p.path))), filepath.Dir(p.path)) {
			for _, sub := range []string{"", "lib", "lib64"} {
				library := filepath.Join(dir, sub, need)
				if info, err := f.disk.Stat(library); err == nil {
					if l := f.program(library, fs.FileInfoToDirEntry(info)); l != nil && l.made(path, real) > 1 {
						return true
					}
				}
			}
		}
	}
	return false
}
