package threadarea

import "sync/atomic"

// The state of a loop whose rounds are told, in 32 bits each: passes until the
// next one that is told, whether the thread is in it, and how many are left out
// between two.
const (
	unitSize   = 16
	unitInside = 4
	unitSkip   = 8

	never = 1<<31 - 1 // passes
)

// WithUnits is the layout with room for the states of n loops.
func (l Layout) WithUnits(n int32) Layout {
	l.units, l.loops = l.size, n
	l.size = (l.units + unitSize*uint64(n) + pageMask) &^ pageMask
	return l
}

// Units is where the state of each loop lies, from GS.
func (l Layout) Units() uint32 { return uint32(l.units) }

// UnitOffset is where a loop's lies, from Units: the passes until the next one
// that is told. UnitInside and UnitSkip are the words behind it.
func UnitOffset(n int32) (passes, inside, skip uint32) {
	at := unitSize * uint32(n)
	return at, at + unitInside, at + unitSkip
}

// SkipUnits says how many passes of a loop are left out between two that are told;
// ^uint32(0): all.
func (a *Area) SkipUnits(n int32, skip uint32) {
	at, _, every := UnitOffset(n)
	skip = min(skip, never)
	atomic.StoreUint32(a.half(a.l.units+uint64(every)), skip)
	if skip == never {
		atomic.StoreUint32(a.half(a.l.units+uint64(at)), skip)
	}
}

// TellUnits lets the next pass of each loop be told, or none.
func (a *Area) TellUnits(is bool) {
	passes := uint32(0)
	if !is {
		passes = never
	}
	for i := range a.l.loops {
		at, _, _ := UnitOffset(i)
		atomic.StoreUint32(a.half(a.l.units+uint64(at)), passes)
	}
}
