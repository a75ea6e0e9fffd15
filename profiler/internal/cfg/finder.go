package cfg

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skewlens/skewlens/profiler/internal/x86"
)

// finder looks at all functions of a program, those that are called first, and
// at each in two ways, for one graph serves both.
type finder struct {
	p           *Program
	gates, idle *way
	waiters     []*study // functions that do nothing but wait
	spaces      []*Space // for the graphs of functions that are studied one within the other
	depth       int      // how many of those there are
}

// way is one way of looking: for gates, or for idle regions.
type way struct {
	p       *Program
	effects map[*Func]*effect // nil while it is looked at
	wanted  map[*Func]bool    // functions that are regions as a whole, or have their own
	found   []Region
}

func newWay(p *Program) *way {
	return &way{p: p, effects: map[*Func]*effect{}, wanted: map[*Func]bool{}}
}

// of is what a function does, as far as that is known: in a recursion it works.
func (w *way) of(f *Func) *effect {
	if e := w.effects[f]; e != nil {
		return e
	}
	return &effect{work: true}
}

// sorted are the regions found, each once, and not more than some.
func (w *way) sorted(most int) []Region {
	slices.SortFunc(w.found, func(a, b Region) int {
		return cmp.Or(cmp.Compare(a.Enter, b.Enter), slices.Compare(a.Leaves, b.Leaves))
	})
	w.found = slices.CompactFunc(w.found, func(a, b Region) bool { return a.Enter == b.Enter && slices.Equal(a.Leaves, b.Leaves) })
	return w.found[:min(len(w.found), most)]
}

// findRegions finds where threads may meet, and notes it in the functions.
func (p *Program) findRegions() {
	if !p.threads() {
		return
	}
	x := &finder{p: p, gates: newWay(p), idle: newWay(p)}
	called := map[*Func]bool{}
	for _, f := range p.Funcs {
		for _, g := range p.Callees(f) {
			called[g] = called[g] || g != f
		}
		x.visit(f)
	}
	p.Regions = append(x.gates.findGates(called), x.idle.findIdle(x.waiters, called)...)
	p.noteRegions()
}

// threads reports whether the program can have more than one thread.
func (p *Program) threads() bool {
	return p.Image.Go == nil && p.names("pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread", "clone", "GOMP_parallel", "__kmpc_fork_")
}

func (e *effect) meets() bool { return e.waits && !e.work }

// visit looks at a function behind those that it calls.
func (x *finder) visit(f *Func) {
	if _, known := x.gates.effects[f]; known {
		return
	}
	x.gates.effects[f], x.idle.effects[f] = nil, nil
	gates := standard(f.Name)
	idle := gates
	if gates == nil {
		gates, idle = &effect{work: true}, &effect{work: true}
		if f.Skip == "" && f.Ranges[0].Lo != x.p.Image.Entry && !x.p.catches(f.Name) && !ofTheLibrary(x.p, f) {
			look := f.syncs || f.Insns <= lightCall
			for _, g := range x.p.Callees(f) {
				x.visit(g)
				look = look || x.gates.of(g).meets() || x.idle.of(g).meets()
			}
			if look {
				gates, idle = x.study(f)
			}
		}
	}
	x.gates.effects[f], x.idle.effects[f] = gates, idle
}

// ofTheLibrary: the C library's own, in a static program.
func ofTheLibrary(p *Program, f *Func) bool {
	if !p.Image.Static || len(f.Name) < 2 {
		return false
	}
	_, known := importOps[f.Name]
	return known || f.Name[0] == '_' && f.Name[1] != 'Z'
}

// study finds the regions of one function and says what it does.
func (x *finder) study(f *Func) (gates, idle *effect) {
	if x.depth == len(x.spaces) {
		x.spaces = append(x.spaces, new(Space))
	}
	g := x.p.Graph(f, x.spaces[x.depth])
	x.depth++
	defer func() { x.depth-- }()

	differs := false
	s := newStudy(g, func(c *Call, jump *x86.Insn) op {
		o := x.callOp(x.gates, g, c, jump)
		differs = differs || o != x.callOp(x.idle, g, c, jump)
		return o
	})
	gates = x.gates.effectOf(s)
	if !gates.meets() {
		x.gates.regions(s)
	}
	idle = gates
	idleOp := func(c *Call, jump *x86.Insn) op { return x.callOp(x.idle, g, c, jump) }
	if differs {
		s = newStudy(g, idleOp)
		idle = x.idle.effectOf(s)
	}
	if idle.meets() {
		x.waiters = append(x.waiters, newStudy(x.p.Graph(f, nil), idleOp)) // to keep
	} else {
		x.idle.idles(s)
	}
	return gates, idle
}

// effectOf is what a function does, with what its callees do.
func (w *way) effectOf(s *study) *effect {
	e := s.effect()
	for _, b := range s.Blocks {
		for _, c := range b.Calls {
			if c.Callee != nil && !s.doomed[b.ID] {
				if d := w.effects[c.Callee]; d != nil {
					e.insns += d.insns
					e.adds = e.adds || d.adds
				}
			}
		}
		for _, o := range s.ops[b.ID] {
			if o.kind == opWait && o.callee != nil && b.Insns[o.at].Kind.IsJump() {
				e.tail = o.callee
			}
		}
	}
	return e
}

// callOp says what a call, or a jump out of a function, does.
func (x *finder) callOp(w *way, g *Graph, c *Call, jump *x86.Insn) op {
	name := ""
	var callee *Func
	if c != nil {
		if c.NoReturn {
			return op{kind: noOp}
		}
		callee, name = x.p.entered(g, c)
	} else if jump.Kind == x86.JmpInd {
		callee, name = x.p.inSlot(jump)
	} else if callee = x.p.FuncAt(jump.Target); callee == nil {
		name = x.p.Image.PLT[jump.Target]
	}
	if callee != nil {
		if x.p.Image.Static || ofStandard(callee.Name) { // which is in the program where it is not inlined
			if o, known := x.library(w, callee.Name); known {
				return o
			}
		}
		x.visit(callee)
		e := w.of(callee)
		switch {
		case e.meets():
			return op{kind: opWait, callee: callee, adds: e.adds, wakes: e.wakes, frees: e.frees, moves: e.moves, future: e.future}
		case e.work || e.insns > syncCall || e.insns > lightCall && !e.syncs:
			return op{kind: opWork}
		case e.syncs:
			return op{kind: opSync, adds: e.adds, wakes: e.wakes, moves: e.moves}
		}
		return op{kind: noOp, moves: e.moves}
	}
	o, _ := x.library(w, name)
	return o
}

// library is what a library function does, by its name; work, if it is not known.
func (x *finder) library(w *way, name string) (o op, known bool) {
	name = x.p.meaning(name)
	if o, ok := idleOps[name]; ok && w == x.idle {
		return o, true
	}
	k, known := importOps[name]
	switch {
	case known:
		return op{kind: k, wakes: wakers[name], moves: true}, true
	case name == "syscall":
		return op{kind: opSystem}, true
	case name != "" && (lightImports[name] || leafImports[name]):
		return op{kind: noOp, moves: strings.HasPrefix(name, "mem") && name != "memcmp"}, true
	}
	return op{kind: opWork}, false
}
