package report

import (
	"fmt"
	"path/filepath"

	"github.com/skewlens/skewlens/profile"
)

// locate is an address as source, or as function+offset without debug
// information, or as a bare address.
func locate(p *profile.Profile, a profile.Addr) Location {
	l, _ := p.Location(a)
	return located(p, l)
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
func (b *builder) location(a profile.Addr) Location {
	l := locate(b.p, a)
	b.asked++
	if !l.Known() {
		b.blind++
	}
	return l
}

func hex(a profile.Addr) string { return fmt.Sprintf("%#x", uint64(a)) }

// Known reports whether the place has a source line.
func (p Place) Known() bool { return p.File != "" && p.Line > 0 }

// Short names a place in a few characters: "owner.c:31", "work+0x1f", "0x1a2b".
func (p Place) Short() string {
	switch {
	case p.Known():
		return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
	case p.Function != "":
		return p.Function + "+" + p.Offset
	case p.Library != "":
		return filepath.Base(p.Library) + "+" + p.Address
	}
	return p.Address
}
