package profiler

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/image"
)

// Lines maps the addresses of a profile to source: the program's and its
// libraries'.
type Lines struct {
	files []lineFile // the program, then each library
	dir   string     // where what was located is kept for the next run; "": nowhere
}

// lineFile is a file of Lines.
type lineFile struct {
	keptPlaces                         // its map's; nil: has none that can be read
	moved      func() map[uint64]moved // calls that stand on another line than the debug information says
	asked      bool                    // it is one to warn about
}

// OpenLines reads the line tables of a program and of libraries that were
// profiled with it.
func OpenLines(path string, libraries ...profile.Library) (*Lines, error) {
	l, err := openLines(path, "")
	if err != nil {
		return nil, err
	}
	for _, x := range libraries {
		if err := l.Add(x.Path, false); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

func openLines(path, dir string) (*Lines, error) {
	l := &Lines{dir: dir}
	if err := l.Add(path, false); err != nil {
		return nil, err
	}
	return l, nil
}

// Add reads the line tables of the next library. Of one that nobody asked for,
// which is quiet, nobody minds if there are none.
func (l *Lines) Add(path string, quiet bool) error {
	m, err := dwarfmap.Open(path)
	switch {
	case err != nil && !quiet:
		return err
	case err != nil:
		l.files = append(l.files, lineFile{moved: func() map[uint64]moved { return nil }})
		return nil
	}
	f := lineFile{asked: !quiet, keptPlaces: keepPlaces(m, l.dir)}
	f.moved = movedLines(path, f.locate)
	l.files = append(l.files, f)
	return nil
}

// Close closes the files.
func (l *Lines) Close() {
	for _, f := range l.files {
		if f.Map != nil {
			f.Close()
		}
	}
}

// Debug is the program's debug information, and its section .debug_info.
func (l *Lines) Debug() (data *dwarf.Data, info []byte) { return l.files[0].Debug() }

// Locate is dwarfmap.Map.Locate of the file that an address is of, but for the
// calls at the end of OpenMP's constructs, and regions: these stand where their pragmas do.
func (l *Lines) Locate(a profile.Addr) profile.Location {
	return l.there(a, l.ask(a, (*lineFile).locate))
}

// there is a location, or where it stands instead.
func (l *Lines) there(a profile.Addr, x profile.Location) profile.Location {
	if !x.Known() {
		return x
	}
	if to, is := l.files[a/profile.LibraryStep].moved()[uint64(a%profile.LibraryStep)]; is {
		return to.to(x)
	}
	return x
}

// movedLines finds them when it is first asked, and only where there can be any.
func movedLines(path string, locate func(profile.Addr) profile.Location) func() map[uint64]moved {
	return sync.OnceValue(func() map[uint64]moved {
		if !usesGomp(path) {
			return nil
		}
		im, err := image.Open(path)
		if err != nil {
			return nil
		}
		files := map[string][]string{}
		return barrierLines(im, locate, func(file string) []string {
			text, known := files[file]
			if !known {
				text = source(file, path)
				files[file] = text
			}
			return text
		})
	})
}

// usesGomp reports whether a file may call gcc's OpenMP runtime, or has it in itself, or
// ends a construct by a call of clang's that bears another line, too.
func usesGomp(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err == nil && slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return strings.HasPrefix(s.Name, "GOMP_") || s.Name == copies }) {
		return true
	}
	names := f.Section(".strtab")
	if names == nil {
		return false
	}
	all, err := names.Data()
	return err == nil && bytes.Contains(all, []byte("\x00GOMP_parallel\x00"))
}

// Entry is dwarfmap.Map.Entry of the file that an address is of, but for regions of
// OpenMP, which begin where their pragmas do.
func (l *Lines) Entry(a profile.Addr) profile.Location {
	return l.there(a, l.ask(a, (*lineFile).entry))
}

// Statement is dwarfmap.Map.Statement of the file that the addresses are of.
func (l *Lines) Statement(from, to profile.Addr) profile.Addr {
	i := from / profile.LibraryStep
	if int(i) >= len(l.files) || l.files[i].Map == nil {
		return from
	}
	base := i * profile.LibraryStep
	return base + l.files[i].statement(from-base, to-base)
}

func (l *Lines) ask(a profile.Addr, what func(*lineFile, profile.Addr) profile.Location) profile.Location {
	i := int(a / profile.LibraryStep)
	if i >= len(l.files) || l.files[i].Map == nil {
		return profile.Location{Address: a}
	}
	x := what(&l.files[i], a%profile.LibraryStep)
	x.Address = a
	return x
}

// Key names the source line of an address; see backend.Lines.
func (l *Lines) Key(a profile.Addr) string {
	if x := l.Locate(a); x.Known() {
		return fmt.Sprintf("%s:%d", x.File, x.Line)
	}
	return fmt.Sprintf("%#x", uint64(a))
}

// Warnings are the doubts of all files. Where there were any nothing was kept: of what is
// known without reading the file there are none.
func (l *Lines) Warnings() (all []profile.Warning) {
	for i := range l.files {
		if f := &l.files[i]; f.asked && (!f.was || f.Read()) {
			all = append(all, f.Map.Warnings()...)
		}
	}
	return all
}
