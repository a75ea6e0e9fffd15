package discover

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/internal/pattern"
	"github.com/skewlens/skewlens/lsp/internal/workspace"
)

// in has a command run in a folder of the workspace.
func in(root, dir, command string) string {
	if dir == root {
		return command
	}
	return "cd " + workspace.Quote(relative(root, dir)) + " && " + command
}

func (f *Finder) exists(path string) bool {
	_, err := f.disk.Stat(path)
	return err == nil
}

// file: there is one, and no folder of that name.
func (f *Finder) file(path string) bool {
	info, err := f.disk.Stat(path)
	return err == nil && !info.IsDir()
}

// madeBy is the command that builds a program when its sources have changed, with debug
// information if it has that; empty where nothing says how.
func (f *Finder) madeBy(root string, p *program) string {
	program := p.path
	for _, dir := range above(root, filepath.Dir(program)) {
		switch {
		case f.exists(filepath.Join(dir, "CMakeCache.txt")):
			return "cmake --build " + workspace.Quote(relative(root, dir)) + f.ofConfig(dir, program) + f.target(dir, filepath.Base(program))
		case f.exists(filepath.Join(dir, "meson-private")):
			return "meson compile -C " + workspace.Quote(relative(root, dir))
		}
		if text, ok := f.makefile(dir); ok { // which another one may have made
			if names(text, program) {
				if p.bare() {
					return makes(root, dir)
				}
				return makes(root, dir) + rule(text, relative(dir, program)) + withLines(text)
			}
		} else if b := f.other(dir); b != nil {
			return in(root, dir, b.command)
		}
	}
	return ""
}

// target has CMake build but one program in a folder, where that knows one of its name.
func (f *Finder) target(build, name string) string {
	for file, rule := range map[string]string{"Makefile": `(?m)^` + regexp.QuoteMeta(name) + `:`, "build.ninja": `(?m)^build ` + regexp.QuoteMeta(name) + `: `} {
		if text, ok := f.text(filepath.Join(build, file)); ok && regexp.MustCompile(rule).MatchString(text) {
			return " --target " + workspace.Quote(name)
		}
	}
	return ""
}

// builders are the build systems of a folder and those above it: one of a kind, as
// the project has it.
func (f *Finder) builders(root, dir, path string) []Candidate {
	var all []Candidate
	offer := func(kind, at, command, why string) {
		c := Candidate{Label: kind, Why: why}
		c.Name, c.Root, c.Build, c.Cwd, c.From = kind, root, command, root, path
		if at != root {
			c.Label += " in " + relative(root, at)
		}
		all = append(all, c)
	}
	chain := above(root, dir)
	if at := f.topmost(chain, "CMakeLists.txt"); at != "" {
		f.cmake(root, at, offer)
	}
	if at := f.topmost(chain, "meson.build"); at != "" {
		offer("meson", at, in(root, at, "{ test -f builddir/build.ninja || meson setup --buildtype=debugoptimized builddir; } && meson compile -C builddir"), "meson.build")
	}
	all = append(all, f.cargo(root, path)...)
	all = append(all, f.golang(root, path)...)
	for _, at := range chain {
		if text, ok := f.makefile(at); ok {
			offer("make", at, makes(root, at)+f.own(text, path)+withLines(text), "Makefile")
			break
		}
		if b := f.other(at); b != nil {
			offer(b.kind, at, in(root, at, b.command), b.file)
			break
		}
	}
	return all
}

// other is a build system that one file in a folder is a sign of.
type other struct{ kind, file, says, command string }

// others are those that have one command, with what it takes to have debug information, by
// the name of that file and a word that it has.
var others = []other{
	{"configure and make", "configure", "", "./configure && make"},
	{"autoconf", "configure.ac", "", "autoreconf -i && ./configure && make"},
	{"ninja", "build.ninja", "", "ninja"},
	{"fpm", "fpm.toml", "", "fpm build --profile release --flag -g"},
	{"dub", "dub.json", "", "dub build -b release-debug"},
	{"dub", "dub.sdl", "", "dub build -b release-debug"},
	{"nimble", "*.nimble", "", "nimble build -d:release --debugger:native"},
	{"dune", "dune-project", "", "dune build --profile release"},
	{"scons", "SConstruct", "", "scons"},
	{"xmake", "xmake.lua", "", "xmake f -m releasedbg && xmake"},
	{"waf", "waf", "waf", "./waf configure build"},
	{"qmake", "*.pro", "SOURCES", "qmake QMAKE_CFLAGS+=-g QMAKE_CXXFLAGS+=-g && make"},
}

// other is that of a folder; nil: none is known.
func (f *Finder) other(dir string) *other {
	f.disk.Uses("read", dir)
	for i, b := range others {
		files, _ := filepath.Glob(filepath.Join(dir, b.file))
		if len(files) != 1 || !f.file(files[0]) {
			continue
		}
		text := ""
		if b.says != "" {
			text, _ = f.text(files[0])
		}
		if strings.Contains(text, b.says) {
			return &others[i]
		}
	}
	return nil
}

// project is what the topmost file of a CMake or Meson project says.
var project = pattern.New(`(?im)^\s*project\s*\(`)

// topmost is the outermost folder of a project that a file of a name describes: of
// those that lie directly above each other, the last that says project().
func (f *Finder) topmost(chain []string, name string) (found string) {
	for _, dir := range chain {
		text, ok := f.text(filepath.Join(dir, name))
		if !ok && found != "" {
			break
		}
		if ok && project().MatchString(text) {
			found = dir
		}
	}
	return found
}

// presets is what matters here of CMakePresets.json.
type presets struct {
	File      string   `json:"-"` // its name
	Configure []preset `json:"configurePresets"`
	Build     []preset `json:"buildPresets"`
}

type preset struct {
	Name      string `json:"name"`
	Display   string `json:"displayName"`
	Hidden    bool   `json:"hidden"`
	Configure string `json:"configurePreset"`
}

// presets are those of a CMake project, its user's first.
func (f *Finder) presets(at string) (all []presets) {
	for _, file := range []string{"CMakeUserPresets.json", "CMakePresets.json"} {
		p := presets{File: file}
		if text, ok := f.text(filepath.Join(at, file)); ok && json.Unmarshal([]byte(text), &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// cmake offers the folders that a project was built in; else its presets; else a
// build as CMake's own documentation has it, with debug information.
func (f *Finder) cmake(root, at string, offer func(kind, at, command, why string)) {
	built := false
	for _, dir := range f.buildFolders(at) {
		built = true
		offer("cmake "+relative(root, dir), root, "cmake --build "+workspace.Quote(relative(root, dir))+f.withConfig(dir), "CMakeCache.txt")
	}
	if built {
		return
	}
	offered := map[string]bool{}
	for _, p := range f.presets(at) {
		builds := map[string]string{}
		for _, b := range p.Build {
			if !b.Hidden && builds[b.Configure] == "" {
				builds[b.Configure] = b.Name
			}
		}
		for _, c := range p.Configure {
			build := builds[c.Name]
			if c.Hidden || c.Name == "" || build == "" || offered[c.Name] {
				continue
			}
			offered[c.Name] = true
			offer("cmake preset "+c.Name, at, in(root, at, "cmake --preset "+workspace.Quote(c.Name)+" && cmake --build --preset "+workspace.Quote(build)), p.File)
		}
	}
	if len(offered) > 0 {
		return
	}
	folder := "build"
	if text, ok := f.text(filepath.Join(at, folder, "CMakeCache.txt")); ok && !isHome(text, at) {
		folder = "build-skewlens" // that one came here with a copy of the project, and CMake refuses it
	}
	offer("cmake", at, in(root, at, "cmake -S . -B "+folder+f.optimised(at)+" && cmake --build "+folder), "CMakeLists.txt")
}

// picky is how a CMake project refuses build types.
var picky = pattern.New(`(?i)message\s*\(\s*FATAL_ERROR[^)]*\b(CMAKE_BUILD_TYPE|Release)\b`)

// optimised are the words by which CMake builds with optimisation and debug information. A
// project that knows two build types of its own, and refuses others, is built as Release.
func (f *Finder) optimised(at string) string {
	if text, _ := f.text(filepath.Join(at, "CMakeLists.txt")); picky().MatchString(text) && !strings.Contains(strings.ToLower(text), "relwithdebinfo") {
		return " -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g -DCMAKE_CXX_FLAGS=-g -DCMAKE_Fortran_FLAGS=-g"
	}
	return " -DCMAKE_BUILD_TYPE=RelWithDebInfo"
}

// Presets are a CMake project's that have no build preset, each in a folder of its own. Many
// projects have some for other systems and need none: they are for where another way failed.
func (f *Finder) Presets(root, path string) (all []Candidate) {
	at := f.topmost(above(root, filepath.Dir(path)), "CMakeLists.txt")
	if at == "" {
		return nil
	}
	for _, p := range f.presets(at) {
		for _, c := range p.Configure {
			if c.Hidden || c.Name == "" || slices.ContainsFunc(p.Build, func(b preset) bool { return b.Configure == c.Name }) {
				continue
			}
			found, folder := Candidate{Label: "cmake preset " + c.Name, Why: p.File}, workspace.Quote("build/"+c.Name)
			found.Name, found.Root, found.Cwd, found.From = found.Label, root, root, path
			found.Build = in(root, at, "cmake --preset "+workspace.Quote(c.Name)+" -B "+folder+" && cmake --build "+folder)
			all = append(all, found)
		}
	}
	return all
}

// isHome reports whether a CMakeCache.txt is of the project in a folder. CMake writes down
// where that really is.
func isHome(cache, at string) bool {
	const says = "CMAKE_HOME_DIRECTORY:INTERNAL="
	real, err := filepath.EvalSymlinks(at)
	return strings.Contains(cache, says+at+"\n") || err == nil && strings.Contains(cache, says+real+"\n")
}

// configurations are the words in which a CMakeCache.txt lists them, where one folder is
// built in several.
var configurations = pattern.New(`(?m)^CMAKE_CONFIGURATION_TYPES:\w+=(.+)$`)

func (f *Finder) configurations(build string) []string {
	text, _ := f.text(filepath.Join(build, "CMakeCache.txt"))
	if m := configurations().FindStringSubmatch(text); m != nil {
		return strings.Split(m[1], ";")
	}
	return nil
}

// withConfig has CMake build with optimisation and debug information where a folder is built
// in several configurations, of which the first mostly is for debuggers.
func (f *Finder) withConfig(build string) string {
	if slices.Contains(f.configurations(build), "RelWithDebInfo") {
		return " --config RelWithDebInfo"
	}
	return ""
}

// ofConfig has CMake build the configuration that a program is of, by the folder that it is in.
func (f *Finder) ofConfig(build, program string) string {
	all := f.configurations(build)
	for _, dir := range above(build, filepath.Dir(program)) {
		if name := filepath.Base(dir); dir != build && slices.Contains(all, name) {
			return " --config " + workspace.Quote(name)
		}
	}
	return ""
}

// buildFolders are those beside and below a CMake project that it was built in: where
// CMake gave up there is nothing to build by.
func (f *Finder) buildFolders(at string) (out []string) {
	f.disk.Uses("read", at)
	for _, pattern := range []string{"CMakeCache.txt", "*/CMakeCache.txt", "*/*/CMakeCache.txt", "../*/CMakeCache.txt"} {
		caches, _ := filepath.Glob(filepath.Join(at, pattern))
		for _, c := range caches {
			begun := f.file(filepath.Join(filepath.Dir(c), "Makefile")) || f.file(filepath.Join(filepath.Dir(c), "build.ninja"))
			if text, ok := f.text(c); ok && begun && isHome(text, at) {
				out = append(out, filepath.Dir(c))
			}
		}
	}
	return out
}
