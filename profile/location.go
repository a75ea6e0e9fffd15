package profile

import (
	"sort"
)

// Frame is one place in the source.
type Frame struct {
	File     string
	Line     int
	Column   int // 0: unknown
	Function string
}

// Location is an instruction as source: the innermost inlined frame, then the
// call sites it was inlined at, from the inside outwards. Without debug
// information only Address and Function (the symbol) are set, with the offset
// in SymbolOffset.
type Location struct {
	Address Addr
	Frame
	InlinedAt    []Frame
	SymbolOffset Addr // from the symbol's start, when File is empty
}

// Known reports whether the location has a source line.
func (l Location) Known() bool { return l.File != "" && l.Line > 0 }

// Own is the innermost of the location's places that is in the user's own code,
// with the calls it was inlined at; ok is false where all of them are in
// headers of the system's or of the compiler's.
func (l Location) Own() (own Location, ok bool) {
	for {
		if l.Known() && !System(l.File) {
			return l, true
		}
		if len(l.InlinedAt) == 0 {
			return l, false
		}
		l.Frame, l.InlinedAt = l.InlinedAt[0], l.InlinedAt[1:]
	}
}

// Location returns what is known of an address; ok is false when nothing is.
func (p *Profile) Location(a Addr) (Location, bool) {
	i := sort.Search(len(p.Locations), func(i int) bool { return p.Locations[i].Address >= a })
	if i < len(p.Locations) && p.Locations[i].Address == a {
		return p.Locations[i], true
	}
	return Location{Address: a}, false
}
