package solve

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/cfg"
	"github.com/skewlens/skewlens/profiler/internal/pack"
	"github.com/skewlens/skewlens/profiler/internal/probe/placement"
	"github.com/skewlens/skewlens/profiler/internal/probe/relocate"
	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
)

// Solver turns counters into the counts of a profile's events. What it needs
// of a function it makes when the first counts of that function appear: a
// large program runs a small part of itself. So events are numbered in the
// order of their appearance; Graph gives them their numbers in the profile.
type Solver struct {
	Simulation Simulation // where caches are simulated

	mods    []Module
	plans   []*relocate.Plan
	funcs   []*function // by the same number; nil: not seen yet
	events  []event
	exits   []Departure
	broken  map[int32]bool // functions with impossible counts: a fault of ours
	left    map[int32]bool // those of them that were left in a way that no counter saw: a fault of nobody's
	resumes map[int32]bool // functions that were asked for: see Resumes
	pairs   pairs
	known   []indirect // by that number

	explained map[profile.EventID][]profile.EventID // START edges → calls that explain entries there (Bind)
	startless map[int32]bool                        // functions called from where nothing is known (Bind)
	lives     bool                                  // what is solved goes into functions' totals

	active   []frame // by number: counter −1 − number
	activeNo map[frame]int32

	layout       threadarea.Layout
	misses       map[int32]profile.EventID // by counter, from the first of all misses on
	missed       map[miss]profile.EventID
	hardware     map[counter]int32
	missing      []missEvent
	counters     []hardwareEvent // by number
	noHardware   bool
	chords       int
	owner        []int32  // of each chord: the number of its function
	weight       []weight // of each chord; step 0: not known yet
	activeWeight []weight // of each active frame that was asked for
	val          []int64
	entered      []int64 // per function: entries not yet explained by a call
	touched      []int32
	isTouch      []bool
	space        cfg.Space
	network      placement.Space
	numbers      []int64     // see scribe.unpack
	plan         pack.Writer // see restore
	gather       gather
	checked      *ways // what functions have counted that was possible: see Check; nil: nobody asked

	dealing *cfg.Program
	deals   *cfg.Dealer
}

// Module is a program or library that was moved.
type Module struct {
	Spec *relocate.Spec
	// Bias is how far it was loaded from its link-time addresses, Base how far
	// those lie from the profile's: 0 for the program.
	Bias, Base uint64
	Kept       *Kept // what was made of its functions; nil: nothing is kept
}

func (m *Module) holds(a uint64) bool {
	im := m.Spec.Program.Image
	return a-m.Base >= im.Lowest && a-m.Base < im.Highest
}

// event is what an event counts, until the profile's numbers are known. There may be
// hundreds of thousands: they have no pointers, so that nobody looks for garbage there.
type event struct {
	fn    int32
	insns int32 // worth of one, in instructions
	wakes int32 // and in calls that let waiting threads go on
}

// New prepares for the counters of some modules.
func New(layout threadarea.Layout, mods ...Module) *Solver {
	v := &Solver{mods: mods, layout: layout, misses: map[int32]profile.EventID{}, missed: map[miss]profile.EventID{}, hardware: map[counter]int32{}, chords: layout.Chords, broken: map[int32]bool{}, left: map[int32]bool{}, resumes: map[int32]bool{}, activeNo: map[frame]int32{}, owner: make([]int32, 0, layout.Chords)}
	for _, m := range mods {
		v.plans = append(v.plans, m.Spec.Plans()...)
	}
	for fi, q := range v.plans {
		for len(v.owner) < int(q.After) {
			v.owner = append(v.owner, int32(fi))
		}
	}
	size, largest := 0, 0
	for i := range mods {
		all, one := v.keeps(&mods[i]).size()
		size, largest = size+all, max(largest, one)
	}
	v.events, v.numbers = make([]event, 0, size/keptEvent), make([]int64, 0, largest) // not touched before it is used
	v.funcs = make([]*function, len(v.plans))
	v.pairs = pairs{make([][]pair, layout.Sites), map[farPair]int32{}}
	v.weight = make([]weight, layout.Chords)
	v.entered = make([]int64, len(v.plans))
	v.isTouch = make([]bool, len(v.plans))
	return v
}

// Moved says that a module, by its number, was loaded elsewhere.
func (v *Solver) Moved(module int, bias uint64) { v.mods[module].Bias = bias }

// module returns the module that an address of the profile belongs to, and the
// link-time address there.
func (v *Solver) module(addr uint64) (*Module, uint64) {
	for i := range v.mods {
		if m := &v.mods[i]; m.holds(addr) {
			return m, addr - m.Base
		}
	}
	return nil, 0
}

// planAt returns the plan of the function that holds an address of the
// profile, if it was moved, its module, and the link-time address.
func (v *Solver) planAt(addr uint64) (q *relocate.Plan, m *Module, link uint64) {
	m, link = v.module(addr)
	if m == nil {
		return nil, nil, 0
	}
	if f := m.Spec.Program.Owner(link); f != nil {
		q = m.Spec.Plan(f)
	}
	return q, m, link
}

// moduleOf returns the module of a function, by its number.
func (v *Solver) moduleOf(fn int32) *Module {
	i := sort.Search(len(v.mods), func(i int) bool { return v.mods[i].Spec.Next().Function > fn })
	return &v.mods[i]
}

// Entered tells whether counts include entries of the function at an address
// of the profile.
func (v *Solver) Entered(c profile.Counts, entry uint64) bool {
	q, _, link := v.planAt(entry)
	if q == nil || q.Func.Ranges[0].Lo != link || v.funcs[q.Number] == nil {
		return false
	}
	x := v.funcs[q.Number]
	e := x.blocks[x.entryBlock].count
	return e != profile.NoEvent && c.Of(e) > 0
}

// Departure is a jump out of the modules, to a library function of that name,
// and the event that counts it.
type Departure struct {
	Site  profile.Addr
	Name  string
	Event profile.EventID
}

// Departures are the jumps to library functions in all functions seen so far.
func (v *Solver) Departures() []Departure { return v.exits }

// Bad names the functions whose counts came out negative or broken: a fault of
// ours. Their counts are unknown.
func (v *Solver) Bad() (names []string) {
	for fi := range v.broken {
		if !v.left[fi] {
			names = append(names, v.plans[fi].Func.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Forget is told that a thread will never come back to a place in moved code,
// an address of the profile, nor by way of any edge: what the function counts
// is not known from now on.
func (v *Solver) Forget(addr uint64) {
	if q, _, _ := v.planAt(addr); q != nil {
		v.broken[q.Number], v.left[q.Number] = true, true
	}
}

// Forgotten names these functions.
func (v *Solver) Forgotten() (names []string) {
	for fi := range v.left {
		names = append(names, v.plans[fi].Func.Name)
	}
	slices.Sort(names)
	return names
}

// Resumes reports whether the function at an address of the profile saves
// places to be jumped to (setjmp).
func (v *Solver) Resumes(addr uint64) bool {
	q, m, _ := v.planAt(addr)
	if q == nil {
		return false
	}
	is, known := v.resumes[q.Number]
	if !known {
		for _, b := range m.Spec.Program.Blocks(q.Func, &v.space).Blocks {
			is = is || slices.ContainsFunc(b.Calls, func(c cfg.Call) bool { return c.SetJmp })
		}
		v.resumes[q.Number] = is
	}
	return is
}
