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
// headers of the system's or of the compiler's, or in a language's library.
func (l Location) Own() (own Location, ok bool) {
	for {
		if l.Known() && !l.Frame.System() {
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

// LocationNear is where an address is in Locations, or would be, which is not known then. It
// is looked for near some index first.
func (p *Profile) LocationNear(a Addr, near int) (i int, known bool) {
	i = SearchNear(len(p.Locations), near, func(i int) bool { return p.Locations[i].Address >= a })
	return i, i < len(p.Locations) && p.Locations[i].Address == a
}

// SearchNear is sort.Search, but looks near some index first, then farther and farther away
// from it: whoever asks for one thing after the other mostly finds the next one there.
func SearchNear(n, near int, f func(int) bool) int {
	lo, hi, step := 0, min(near, n), 1 // f is false before lo, true from hi on
	if hi == n || f(hi) {
		for ; hi >= step && f(hi-step); step *= 2 {
			hi -= step
		}
		lo = max(lo, hi-step+1)
	} else {
		for lo = hi + 1; lo+step <= n && !f(lo+step-1); step *= 2 {
			lo += step
		}
		hi = min(n, lo+step-1)
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return f(lo + i) })
}
