package profiler

import (
	"fmt"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/profile"
)

// Lines maps the addresses of a profile to source: the program's and its
// libraries'.
type Lines struct {
	maps  []*dwarfmap.Map // the program's, then each library's; nil: has none that can be read
	asked []*dwarfmap.Map // those to warn about
}

// OpenLines reads the line tables of a program and of libraries that were
// profiled with it.
func OpenLines(path string, libraries ...profile.Library) (*Lines, error) {
	m, err := dwarfmap.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Lines{maps: []*dwarfmap.Map{m}, asked: []*dwarfmap.Map{m}}
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
	l.maps = append(l.maps, m)
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

// Locate is dwarfmap.Map.Locate of the file that an address is of.
func (l *Lines) Locate(a profile.Addr) profile.Location { return l.ask(a, (*dwarfmap.Map).Locate) }

// Entry is dwarfmap.Map.Entry of the file that an address is of.
func (l *Lines) Entry(a profile.Addr) profile.Location { return l.ask(a, (*dwarfmap.Map).Entry) }

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
