package report

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/skewlens/skewlens/lime"
	"github.com/skewlens/skewlens/profile"
)

// locate is an address as source, or as function+offset without debug
// information, or as a bare address. What was inlined from a header of the
// system stands where it was asked for.
func locate(p *profile.Profile, a profile.Addr) Location { return locateOutside(p, a, 0) }

// locateOutside is the place at which so many frames of an address were inlined.
func locateOutside(p *profile.Profile, a profile.Addr, frames int) Location {
	return located(p, outside(p, a, frames))
}

// outside is that place as the profile has it.
func outside(p *profile.Profile, a profile.Addr, frames int) profile.Location {
	l, _ := p.Location(a)
	if frames = min(max(frames, l.Outside()), len(l.InlinedAt)); frames > 0 {
		l.Frame, l.InlinedAt = l.InlinedAt[frames-1], l.InlinedAt[frames:]
	}
	return l
}

// located is a location of the profile's.
func located(p *profile.Profile, l profile.Location) Location {
	lib, link := p.Program.Library(l.Address)
	out := Location{Place: Place{Function: l.Function, Address: hex(link)}}
	if lib != nil {
		out.Library = lib.Path
	}
	if !l.Known() {
		if l.Function != "" {
			out.Offset = hex(l.SymbolOffset)
		}
		return out
	}
	out.File, out.Line, out.Column = l.File, l.Line, l.Column
	for _, f := range l.InlinedAt {
		out.InlinedAt = append(out.InlinedAt, Place{File: f.File, Line: f.Line, Column: f.Column, Function: f.Function})
	}
	return out
}

// location is locate, and keeps count of what is not known.
func (b *builder) location(a profile.Addr) Location { return b.count(locate(b.p, a)) }

func (b *builder) count(l Location) Location {
	b.asked++
	if !l.Known() {
		b.blind++
	}
	return l
}

// startPlace is where a thread began: a function, or the outermost call of the
// user's, where that was inlined into the system's code.
func startPlace(p *profile.Profile, a profile.Addr) Location {
	l, _ := p.Location(a)
	out := 0
	for i, f := range l.Frames() {
		if !f.System() {
			out = i
		}
	}
	return locateOutside(p, a, out)
}

// startsAt reports whether a branch is the call by which the language's library begins
// what it was given to be a thread's, as Go's WaitGroup.Go does: then the threads
// differ by where they begin, though all begin in the library.
func (b *builder) startsAt(c *lime.Cause, instances int) bool {
	from, to := b.frames(c.Addr), b.frames(c.To)
	if len(from) == 0 || len(to) == 0 || slices.ContainsFunc(from, func(f profile.Frame) bool { return !f.System() }) || to[len(to)-1].System() {
		return false
	}
	return !slices.ContainsFunc(c.Counts, func(n uint64) bool { return n > uint64(instances) })
}

// frames are those of a place, nil where it is not known.
func (b *builder) frames(a profile.Addr) []profile.Frame {
	if l, ok := b.p.Location(a); ok && l.Known() {
		return l.Frames()
	}
	return nil
}

// sectionPlace is where a section stands.
func sectionPlace(p *profile.Profile, s *profile.Section) Location {
	return locateOutside(p, s.Site, s.Outside)
}

// callers are the calls that lead to a section, from the inside outwards; nil
// where it has none that all who meet came by.
func (b *builder) callers(s *profile.Section) (list []Place) {
	if s.Site == 0 || s.Callers == nil {
		return nil
	}
	for _, a := range s.Callers {
		l, _ := b.p.Location(a)
		for _, f := range l.Frames() {
			if !f.System() && l.Known() {
				list = append(list, Place{File: f.File, Line: f.Line, Column: f.Column, Function: f.Function})
			}
		}
	}
	return list
}

func hex(a profile.Addr) string { return fmt.Sprintf("%#x", uint64(a)) }

// Known reports whether the place has a source line.
func (p Place) Known() bool { return p.File != "" && p.Line > 0 }

// system reports whether the place is in the system's code.
func (p Place) system() bool {
	return profile.Frame{File: p.File, Line: p.Line, Function: p.Function}.System()
}

// Short names a place in a few characters: "owner.c:31", "work+0x1f", "0x1a2b".
func (p Place) Short() string {
	switch {
	case p.Known():
		return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
	case p.Function != "" && p.Offset == "":
		return p.Function
	case p.Function != "":
		return p.Function + "+" + p.Offset
	case p.Library != "":
		return filepath.Base(p.Library) + "+" + p.Address
	}
	return p.Address
}
