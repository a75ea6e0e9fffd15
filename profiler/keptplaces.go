package profiler

import (
	"math"
	"slices"

	"github.com/skewlens/skewlens/dwarfmap"
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/kept"
	"github.com/skewlens/skewlens/profiler/internal/places"
)

// keptPlaces is the map of a file, and what it said in earlier runs. A map that is asked
// nothing new reads nothing.
type keptPlaces struct {
	*dwarfmap.Map
	table *places.Table // nil: nothing is kept
	name  string        // … in that file
	was   bool          // something is, of an earlier run
}

// As what an address was asked for: a statement by how far behind the address it is sought.
const (
	asItself = iota
	asEntry
	asStatement
)

// keepPlaces finds what is kept of a map's file in a directory; "": none. Of what is
// doubtful nothing is, so that the doubt is told each time; nor are symbols alone, which
// are as fast to find.
func keepPlaces(m *dwarfmap.Map, dir string) keptPlaces {
	k := keptPlaces{Map: m}
	files, err := m.Opened()
	if dir == "" || err != nil || !m.MayHaveLines() {
		return k
	}
	var stamps []string
	for _, f := range files {
		stamps = append(stamps, kept.StampOf(f))
	}
	if k.name = kept.Name(dir, "places", stamps...); k.name == "" {
		return k
	}
	b, err := kept.Read(k.name)
	if err == nil {
		kept.Used(k.name)
	}
	k.table, k.was = places.New(b), err == nil
	return k
}

// keep writes what is not kept yet: what this run has asked for, and, of files that had to
// be read for it, the same of all that the functions are which ran. No two runs of many
// threads pass the same blocks.
func (l *Lines) keep(p *profile.Profile) {
	missing := make([]bool, len(l.files))
	for i := range l.files {
		f := &l.files[i]
		missing[i] = f.table != nil && f.Read()
	}
	if !slices.Contains(missing, true) {
		return
	}
	l.askAll(p, func(a profile.Addr) bool {
		i := int(a / profile.LibraryStep)
		return i < len(missing) && missing[i]
	})
	for i, is := range missing {
		if f := &l.files[i]; is && f.table.Grown() && len(f.Warnings()) == 0 {
			kept.Write(f.name, f.table.Pack)
		}
	}
}

// askAll asks for what a report may name of the code in some files, and is not known.
func (l *Lines) askAll(p *profile.Profile, in func(profile.Addr) bool) {
	locate := func(a profile.Addr) {
		if !l.has(a, asItself) {
			l.Locate(a)
		}
	}
	for i := range p.Graph.Functions {
		if f := &p.Graph.Functions[i]; f.N > 0 && in(f.Entry) && !l.has(f.Entry, asEntry) {
			l.Entry(f.Entry)
		}
	}
	var faults addrs
	for i := range p.Events {
		if e := &p.Events[i]; e.Kind == profile.Hardware {
			faults.add(e.Addr)
		}
	}
	faults.unite()
	for i := range p.Graph.Blocks {
		b := &p.Graph.Blocks[i]
		if !in(b.Start) {
			continue
		}
		locate(b.Last)
		locate(l.Statement(b.Start, b.End))
		for _, off := range b.Accesses {
			locate(b.Start + profile.Addr(off))
		}
		if k, _ := slices.BinarySearch(faults, b.Start); k < len(faults) && faults[k] < b.End {
			for a := b.Start; a < b.End; a++ { // where one touched new memory another will
				locate(a)
			}
		}
	}
	for i := range p.Graph.Edges {
		if a := p.Graph.Edges[i].Site; in(a) {
			locate(a)
		}
	}
}

// has reports whether it is kept where an address stands, asked for as that.
func (l *Lines) has(a profile.Addr, as uint32) bool {
	t := l.files[a/profile.LibraryStep].table
	return t != nil && t.Has(places.Key{Addr: a % profile.LibraryStep, As: as})
}

func (k *keptPlaces) locate(a profile.Addr) profile.Location {
	return k.ask(places.Key{Addr: a, As: asItself}, k.Map.Locate)
}

func (k *keptPlaces) entry(a profile.Addr) profile.Location {
	return k.ask(places.Key{Addr: a, As: asEntry}, k.Map.Entry)
}

// statement is kept as a location that says only how far on it is.
func (k *keptPlaces) statement(from, to profile.Addr) profile.Addr {
	if to-from > math.MaxUint32-asStatement {
		return k.Map.Statement(from, to)
	}
	return from + k.ask(places.Key{Addr: from, As: uint32(to-from) + asStatement}, func(a profile.Addr) profile.Location {
		return profile.Location{SymbolOffset: k.Map.Statement(a, to) - a}
	}).SymbolOffset
}

// ask asks the map for what is not kept.
func (k *keptPlaces) ask(what places.Key, the func(profile.Addr) profile.Location) profile.Location {
	if k.table == nil {
		return the(what.Addr)
	}
	if l, is := k.table.Find(what); is {
		return l
	}
	l := the(what.Addr)
	k.table.Add(what, l)
	return l
}
