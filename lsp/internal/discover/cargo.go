package discover

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// manifest is what matters here of a Cargo.toml.
type manifest struct {
	Package struct {
		Name     string `toml:"name"`
		Autobins *bool  `toml:"autobins"`
	} `toml:"package"`
	Bin []struct {
		Name string `toml:"name"`
		Path string `toml:"path"`
	} `toml:"bin"`
	Workspace *struct {
		Members []string `toml:"members"`
	} `toml:"workspace"`
}

func (f *Finder) manifest(dir string) (m manifest, ok bool) {
	text, ok := f.text(filepath.Join(dir, "Cargo.toml"))
	return m, ok && toml.Unmarshal([]byte(text), &m) == nil
}

// cargo offers the programs of the package that a file is of, or its examples and the
// programs of all packages of its workspace; where there are none, tests. They are built beside what
// cargo builds otherwise, with debug information: its release profile has none, and
// changing that would have everything built anew twice.
func (f *Finder) cargo(root, path string) (all []Candidate) {
	dir := root
	if path != "" {
		dir = filepath.Dir(path)
	}
	top, packages := f.packages(above(root, dir))
	var examples, spare []Candidate // of the file's own package; and for where there is nothing else
	for _, dir := range packages {
		m, _ := f.manifest(dir)
		for _, b := range f.bins(dir, m) {
			c := b.candidate(root, top, dir, path)
			c.Asks = !b.hashed() && f.asks(root, []string{b.source}) // else they are of what it tests
			switch {
			case path != "" && b.source == path:
				return []Candidate{c} // it is the program of this file
			case b.kind == "--bin":
				all = append(all, c)
			case b.kind == "--example" && strings.HasPrefix(path, dir+"/"):
				examples, spare = append(examples, c), append(spare, c)
			case b.kind == "--example", b.kind == "--tests" && strings.HasPrefix(path, dir+"/"):
				spare = append(spare, c)
			}
		}
	}
	if len(all) == 0 {
		return spare
	}
	if len(packages) > 1 { // else its own programs come before its examples
		all = append(examples, all...)
	}
	if path != "" && f.contains(path, rustTest()) { // programs of other packages know nothing of them
		all = append(all, slices.DeleteFunc(spare, func(c Candidate) bool { return c.From == "" })...)
	}
	return all
}

var rustTest = pattern.New(`#\[(\w+::)?test\b|#\[cfg\(test\)\]`)

// packages are the folder with the target folder of a chain of folders, and the
// package that it is in; where that has no program, all of its workspace, if it has one.
func (f *Finder) packages(chain []string) (top string, dirs []string) {
	own := ""
	for _, dir := range chain {
		m, ok := f.manifest(dir)
		if !ok {
			continue
		}
		if m.Package.Name != "" && own == "" {
			own, top = dir, dir
			if slices.ContainsFunc(f.bins(dir, m), func(b bin) bool { return b.kind == "--bin" }) {
				dirs = []string{dir}
			}
		}
		if m.Workspace == nil {
			continue
		}
		top = dir
		if dirs == nil {
			if m.Package.Name != "" { // it is a member, too
				dirs = append(dirs, dir)
			}
			for _, member := range m.Workspace.Members {
				found, _ := filepath.Glob(filepath.Join(dir, member))
				dirs = append(dirs, slices.DeleteFunc(found, func(d string) bool { return slices.Contains(dirs, d) })...)
			}
		}
		break
	}
	if dirs == nil && own != "" {
		dirs = []string{own}
	}
	return top, dirs
}

// bin is a program of a package, by the option of cargo's that builds it.
type bin struct{ name, source, kind string }

// hashed: cargo gives the program a name that only it knows.
func (b bin) hashed() bool { return b.kind == "--test" || b.kind == "--tests" || b.kind == "--bench" }

// candidate is a program of the package in dir, whose target folder is that of top.
func (b bin) candidate(root, top, dir, path string) (c Candidate) {
	folder := filepath.Join(top, "target", "skewlens")
	command := "CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir " + workspace.Quote(relative(root, folder)) + " " + b.kind
	if b.kind != "--tests" {
		command += " " + workspace.Quote(b.name)
	}
	if dir != root {
		command += " --manifest-path " + workspace.Quote(relative(root, filepath.Join(dir, "Cargo.toml")))
	}
	c.Label, c.Why = relative(root, filepath.Join(dir, b.name)), "Cargo.toml"
	c.Name, c.Root, c.Cwd, c.Build = b.name, root, root, command
	switch b.kind {
	case "--bin":
		c.Program = filepath.Join(folder, "release", b.name)
	case "--example":
		c.Program = filepath.Join(folder, "release", "examples", b.name)
	default:
		c.Cwd, c.From = dir, path // as cargo runs them
	}
	if b.kind == "--bench" {
		c.Args = []string{"--bench"} // else Criterion's try each only once
	}
	return c
}

// bins are the programs of a package: those it names, those that cargo finds by itself,
// and all of its tests.
func (f *Finder) bins(dir string, m manifest) (out []bin) {
	add := func(kind string) func(name, source string) {
		return func(name, source string) {
			if name != "" && f.exists(source) && !slices.ContainsFunc(out, func(b bin) bool { return b.kind == kind && b.name == name || b.source == source }) {
				out = append(out, bin{name, source, kind})
			}
		}
	}
	for _, b := range m.Bin {
		source := filepath.Join(dir, b.Path)
		if b.Path == "" {
			source = filepath.Join(dir, "src", "bin", b.Name+".rs")
			if !f.exists(source) {
				source = filepath.Join(dir, "src", "main.rs")
			}
		}
		add("--bin")(b.Name, source)
	}
	if m.Package.Autobins == nil || *m.Package.Autobins {
		add("--bin")(m.Package.Name, filepath.Join(dir, "src", "main.rs"))
		f.sources(filepath.Join(dir, "src", "bin"), add("--bin"))
	}
	f.sources(filepath.Join(dir, "examples"), add("--example"))
	f.sources(filepath.Join(dir, "tests"), add("--test"))
	f.sources(filepath.Join(dir, "benches"), add("--bench"))
	if lib := filepath.Join(dir, "src", "lib.rs"); f.exists(lib) {
		out = append(out, bin{"tests", "", "--tests"})
	}
	return out
}

// sources are the programs of a folder of them: files, and folders with a main.rs.
func (f *Finder) sources(dir string, add func(name, source string)) {
	f.disk.Uses("read", dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.rs"))
	for _, s := range files {
		add(strings.TrimSuffix(filepath.Base(s), ".rs"), s)
	}
	mains, _ := filepath.Glob(filepath.Join(dir, "*", "main.rs"))
	for _, s := range mains {
		add(filepath.Base(filepath.Dir(s)), s)
	}
}
