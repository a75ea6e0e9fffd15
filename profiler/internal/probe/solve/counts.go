package solve

import (
	"maps"
	"slices"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// SolveLife is Solve of all that a thread counted in its life.
func (v *Solver) SolveLife(d []record.Delta) profile.Counts {
	v.lives = true
	defer func() { v.lives = false }()
	return v.Solve(d)
}

// Solve returns the counts of a list of resolved deltas.
func (v *Solver) Solve(d []record.Delta) profile.Counts {
	c := &v.gather
	d = record.Sum(d)
	v.touched = v.touched[:0]
	active, i := v.activeNodes(d)
	for i < len(d) && int(d[i].Counter) < v.chords {
		fi, j := v.together(d, i)
		v.solveFunc(fi, d[i:j], active[fi], c)
		delete(active, fi)
		i = j
	}
	for _, fi := range slices.Sorted(maps.Keys(active)) { // entered and never left without passing a counter
		v.solveFunc(fi, nil, active[fi], c)
	}
	for ; i < len(d); i++ {
		if d[i].Counter >= firstHardware {
			c.add(v.counters[d[i].Counter-firstHardware].event, int64(d[i].N))
		} else if d[i].Counter >= firstMiss {
			c.add(v.miss(d[i].Counter-firstMiss), int64(d[i].N)*int64(max(1, v.Simulation.Each)))
		} else if k := v.known[int(d[i].Counter)-v.chords]; k.callee >= 0 {
			v.touch(k.callee)
			v.entered[k.callee] -= int64(d[i].N)
			c.add(k.event, int64(d[i].N))
		}
	}
	for _, fi := range v.touched {
		if n := v.entered[fi]; n > 0 {
			c.add(v.load(fi).start, n)
		}
		v.entered[fi], v.isTouch[fi] = 0, false
	}
	return c.take()
}

// activeNodes returns the active frames at the beginning of a list of deltas,
// by function and node, and how many deltas these are.
func (v *Solver) activeNodes(d []record.Delta) (active map[int32]map[int32]int64, n int) {
	for ; n < len(d) && d[n].Counter < 0; n++ {
		k := v.active[-1-d[n].Counter]
		if active == nil {
			active = map[int32]map[int32]int64{}
		}
		if active[k.fn] == nil {
			active[k.fn] = map[int32]int64{}
		}
		active[k.fn][k.node] += int64(d[n].N)
	}
	return active, n
}

func (v *Solver) touch(fi int32) {
	if !v.isTouch[fi] {
		v.isTouch[fi] = true
		v.touched = append(v.touched, fi)
	}
}

// together is the function that the i-th delta belongs to, and up to where the
// following ones do.
func (v *Solver) together(d []record.Delta, i int) (fi int32, to int) {
	fi, to = v.owner[d[i].Counter], i+1
	for after := v.plans[fi].After; to < len(d) && d[to].Counter < after; {
		to++
	}
	return fi, to
}

// solveFunc adds the counts of one function.
func (v *Solver) solveFunc(fi int32, d []record.Delta, active map[int32]int64, c *gather) {
	x, val, ok := v.values(fi, d, active)
	if !ok {
		return
	}
	for _, i := range x.told {
		if val[i] > 0 {
			c.add(x.edges[i].event, val[i])
		}
	}
	if !x.edges[x.entry].unknown {
		v.touch(fi)
		v.entered[fi] += val[x.entry]
	}
	for _, k := range x.calls {
		if val[k.edge] != 0 {
			v.touch(k.callee)
			v.entered[k.callee] -= val[k.edge]
		}
	}
}

// values are those of a function's edges, until the next ones are asked for. It is
// false for counters that cannot be right, and notes it.
func (v *Solver) values(fi int32, d []record.Delta, active map[int32]int64) (x *function, val []int64, ok bool) {
	x = v.load(fi)
	if cap(v.val) < len(x.edges) {
		v.val = make([]int64, 2*len(x.edges))
	}
	val = v.val[:len(x.edges)]
	if !v.countersOf(x, d, val) {
		v.broken[fi] = true
		return x, val, false
	}
	conserve(&x.steps, val, active)
	if v.lives {
		x.sum(val)
	}
	for _, i := range x.told {
		if val[i] < 0 {
			v.broken[fi] = true
			return x, val, false
		}
	}
	return x, val, true
}

// countersOf fills in the counts of the edges with counters, and zeros. It
// reports false for a counter that is no multiple of what it counts by.
func (v *Solver) countersOf(x *function, d []record.Delta, val []int64) bool {
	clear(val)
	first, _ := v.Chords(int(x.fn))
	for _, k := range d {
		i := x.counted[k.Counter-first]
		if i < 0 {
			continue
		}
		n, step := int64(k.N), v.weight[k.Counter].step
		if n%step != 0 {
			return false
		}
		val[i] = n / step
	}
	return true
}
