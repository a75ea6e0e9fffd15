package discover

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

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

// cargo offers the programs of the package that a file is of, or of all packages of
// its workspace. They are built beside what cargo builds otherwise, with debug
// information: its release profile has none, and changing that would have
// everything built anew twice.
func (f *Finder) cargo(root, path string) (all []Candidate) {
	dir := root
	if path != "" {
		dir = filepath.Dir(path)
	}
	top, packages := f.packages(above(root, dir))
	for _, dir := range packages {
		m, _ := f.manifest(dir)
		for _, b := range f.bins(dir, m) {
			c := Candidate{Label: relative(root, filepath.Join(dir, b.name)), Why: "Cargo.toml", Asks: f.asks(root, []string{b.source})}
			kind, where := "--bin", "release"
			if b.example {
				kind, where = "--example", "release/examples"
			}
			folder := filepath.Join(top, "target", "skewlens")
			command := "CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release --target-dir " + workspace.Quote(relative(root, folder)) + " " + kind + " " + workspace.Quote(b.name)
			if dir != root {
				command += " --manifest-path " + workspace.Quote(relative(root, filepath.Join(dir, "Cargo.toml")))
			}
			c.Name, c.Root, c.Cwd, c.Build, c.Program = b.name, root, root, command, filepath.Join(folder, where, b.name)
			if b.source == path {
				return []Candidate{c} // it is the program of this file
			}
			if !b.example {
				all = append(all, c)
			}
		}
	}
	return all
}

// packages are the folder with the target folder of a chain of folders, and the
// package that it is in; where that has no program, all of its workspace.
func (f *Finder) packages(chain []string) (top string, dirs []string) {
	for _, dir := range chain {
		m, ok := f.manifest(dir)
		if !ok {
			continue
		}
		if m.Package.Name != "" && dirs == nil && len(f.bins(dir, m)) > 0 {
			top, dirs = dir, []string{dir}
		}
		if m.Workspace == nil {
			continue
		}
		top = dir
		if dirs == nil {
			for _, member := range m.Workspace.Members {
				found, _ := filepath.Glob(filepath.Join(dir, member))
				dirs = append(dirs, found...)
			}
		}
		break
	}
	return top, dirs
}

type bin struct {
	name, source string
	example      bool
}

// bins are the programs of a package: those it names, and those that cargo finds
// by itself.
func (f *Finder) bins(dir string, m manifest) (out []bin) {
	add := func(name, source string, example bool) {
		if name != "" && f.exists(source) && !slices.ContainsFunc(out, func(b bin) bool { return b.name == name || b.source == source }) {
			out = append(out, bin{name, source, example})
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
		add(b.Name, source, false)
	}
	if m.Package.Autobins == nil || *m.Package.Autobins {
		add(m.Package.Name, filepath.Join(dir, "src", "main.rs"), false)
		f.sources(filepath.Join(dir, "src", "bin"), func(name, source string) { add(name, source, false) })
	}
	f.sources(filepath.Join(dir, "examples"), func(name, source string) { add(name, source, true) })
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
