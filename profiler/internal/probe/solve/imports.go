package solve

import (
	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// A call into another module goes through a slot that the dynamic linker
// fills, as late as with the first call: by name nobody can be sure what it
// leads to (symbols may be preloaded, versioned, or resolved by a function of
// the library's own), by what stands there in the end one can. Until then such
// a call counts as what it is, a block's, and what it calls as entered from
// START; Explain takes these entries from START.

// importOf is a call or a jump through a slot.
type importOf struct {
	edge  int32  // in the function's part of the graph
	slot  uint64 // link-time
	value uint64 // what stood there; 0: not read yet
	// changed: it led to several places, one after the other.
	changed bool
}

// Bind looks at what the slots hold, through which functions that ran call
// those of other modules. It can be called again and again: a slot that was
// bound to something else meanwhile leads nowhere that is known.
func (v *Solver) Bind(word func(addr uint64) (uint64, error)) {
	for _, x := range v.funcs {
		if x == nil || len(x.imports) == 0 {
			continue
		}
		m := v.moduleOf(x.fn)
		for i := range x.imports {
			k := &x.imports[i]
			if now, err := word(k.slot + m.Bias); err == nil && now != 0 {
				v.bind(x, k, m, now)
			}
		}
	}
	v.explain()
}

// Know has the functions at hand that a thread's counters say have run: Bind looks for
// the slots of those only.
func (v *Solver) Know(d []record.Delta) {
	for _, x := range d {
		if int(x.Counter) < v.chords {
			v.load(v.owner[x.Counter])
		}
	}
}

// bind notes what a slot holds now.
func (v *Solver) bind(x *function, k *importOf, m *Module, now uint64) {
	e := &x.graph[k.edge]
	unbound := k.value == 0 || e.callee < 0 && m.lies(k.value) // leads to the stub's own second half
	k.changed = k.changed || !unbound && now != k.value
	k.value = now
	e.callee = -1
	if !k.changed {
		e.callee = v.entryAt(now)
	}
}

// lies reports whether a run-time address lies in a module.
func (m *Module) lies(addr uint64) bool {
	im := m.Spec.Program.Image
	a := addr - m.Bias
	return a >= im.Lowest && a < im.Highest
}

// entryAt returns the number of the moved function that begins at a run-time
// address, or −1.
func (v *Solver) entryAt(addr uint64) int32 {
	for i := range v.mods {
		m := &v.mods[i]
		if !m.lies(addr) {
			continue
		}
		if f := m.Spec.Program.FuncAt(addr - m.Bias); f != nil {
			if q := m.Spec.Plan(f); q != nil {
				return q.Number
			}
		}
	}
	return -1
}

// explain notes which entries from START bound calls explain; of a function
// that is called so from where nothing is known, nobody knows how many are left.
func (v *Solver) explain() {
	v.explained, v.startless = map[profile.EventID][]profile.EventID{}, map[int32]bool{}
	for _, x := range v.funcs {
		if x == nil {
			continue
		}
		for i := range x.imports {
			e := &x.graph[x.imports[i].edge]
			if e.callee < 0 || v.funcs[e.callee] == nil {
				continue
			}
			if e.event == profile.NoEvent {
				v.startless[e.callee] = true
			} else if start := v.funcs[e.callee].start; start != profile.NoEvent {
				v.explained[start] = append(v.explained[start], e.event)
			}
		}
	}
}

// Explain returns counts in which the entries from START are those that no
// call explains, bound ones included.
func (v *Solver) Explain(c profile.Counts) profile.Counts {
	if len(v.explained) == 0 {
		return c
	}
	out := profile.Counts{Event: make([]profile.EventID, 0, len(c.Event)), N: make([]uint64, 0, len(c.N))}
	for i, e := range c.Event {
		n := c.N[i]
		for _, call := range v.explained[e] {
			n -= min(n, c.Of(call))
		}
		if n > 0 {
			out.Event, out.N = append(out.Event, e), append(out.N, n)
		}
	}
	return out
}
