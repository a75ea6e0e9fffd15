package profiler

import (
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
	maps  []*dwarfmap.Map           // the program's, then each library's; nil: has none that can be read
	moved []func() map[uint64]moved // calls that stand on another line than the debug information says
	asked []*dwarfmap.Map           // those to warn about
}

// OpenLines reads the line tables of a program and of libraries that were
// profiled with it.
func OpenLines(path string, libraries ...profile.Library) (*Lines, error) {
	m, err := dwarfmap.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Lines{maps: []*dwarfmap.Map{m}, asked: []*dwarfmap.Map{m}, moved: []func() map[uint64]moved{movedLines(path, m)}}
	for _, x := range libraries {
		if err := l.Add(x.Path, false); err != nil {
			l.Close()
			return nil, err
		}
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
		m = nil
	case !quiet:
		l.asked = append(l.asked, m)
	}
	l.maps, l.moved = append(l.maps, m), append(l.moved, movedLines(path, m))
	return nil
}

// Close closes the files.
func (l *Lines) Close() {
	for _, m := range l.maps {
		if m != nil {
			m.Close()
		}
	}
}

// Debug is the program's debug information, and its section .debug_info.
func (l *Lines) Debug() (data *dwarf.Data, info []byte) { return l.maps[0].Debug() }

// Locate is dwarfmap.Map.Locate of the file that an address is of, but for the
// calls at the end of OpenMP's constructs, and regions: these stand where their pragmas do.
func (l *Lines) Locate(a profile.Addr) profile.Location {
	return l.there(a, l.ask(a, (*dwarfmap.Map).Locate))
}

// there is a location, or where it stands instead.
func (l *Lines) there(a profile.Addr, x profile.Location) profile.Location {
	if !x.Known() {
		return x
	}
	if to, is := l.moved[a/profile.LibraryStep]()[uint64(a%profile.LibraryStep)]; is {
		return to.to(x)
	}
	return x
}

// movedLines finds them when it is first asked, and only where there can be any.
func movedLines(path string, m *dwarfmap.Map) func() map[uint64]moved {
	return sync.OnceValue(func() map[uint64]moved {
		if m == nil || !usesGomp(path) {
			return nil
		}
		im, err := image.Open(path)
		if err != nil {
			return nil
		}
		files := map[string][]string{}
		return barrierLines(im, m.Locate, func(file string) []string {
			text, known := files[file]
			if !known {
				text = source(file, path)
				files[file] = text
			}
			return text
		})
	})
}

// usesGomp reports whether a file may call gcc's OpenMP runtime.
func usesGomp(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	return err == nil && slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return strings.HasPrefix(s.Name, "GOMP_") })
}

// Entry is dwarfmap.Map.Entry of the file that an address is of, but for regions of
// OpenMP, which begin where their pragmas do.
func (l *Lines) Entry(a profile.Addr) profile.Location {
	return l.there(a, l.ask(a, (*dwarfmap.Map).Entry))
}

// Statement is dwarfmap.Map.Statement of the file that the addresses are of.
func (l *Lines) Statement(from, to profile.Addr) profile.Addr {
	i := from / profile.LibraryStep
	if int(i) >= len(l.maps) || l.maps[i] == nil {
		return from
	}
	base := i * profile.LibraryStep
	return base + l.maps[i].Statement(from-base, to-base)
}

func (l *Lines) ask(a profile.Addr, what func(*dwarfmap.Map, profile.Addr) profile.Location) profile.Location {
	i := int(a / profile.LibraryStep)
	if i >= len(l.maps) || l.maps[i] == nil {
		return profile.Location{Address: a}
	}
	x := what(l.maps[i], a%profile.LibraryStep)
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

// Warnings are the doubts of all files.
func (l *Lines) Warnings() (all []profile.Warning) {
	for _, m := range l.asked {
		all = append(all, m.Warnings()...)
	}
	return all
}
