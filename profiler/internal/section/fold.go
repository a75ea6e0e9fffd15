package section

import (
	"slices"
	"sort"

	"github.com/skewlens/skewlens/profile"
	"github.com/skewlens/skewlens/profiler/internal/record"
)

// fold sums the oldest instances with the same number of threads, part by
// part in the order of their instructions (profile.Instance.Folded).
type fold struct {
	n      int
	spanNS int64
	parts  []total
}

// total is a sum of parts, dense over the counters; those below zero, frames
// that were never left, are few.
type total struct {
	part  profile.Part
	n     []uint64
	below map[int32]uint64
}

// shrink folds the older half of the largest sections until a quarter of the
// memory is free.
func (c *collector) shrink() {
	for c.bytes > c.c.MaxBytes*3/4 {
		var o *open
		for _, x := range c.order {
			if len(x.instances) > 1 && (o == nil || x.bytes > o.bytes) {
				o = x
			}
		}
		if o == nil {
			return // every section has one instance left
		}
		n := len(o.instances) / 2
		for i := range o.instances[:n] {
			freed := o.fold(&o.instances[i])
			o.bytes -= freed
			c.bytes -= freed
		}
		o.instances = slices.Clone(o.instances[n:])
	}
}

func (o *open) fold(in *instance) (freed int) {
	var f *fold
	for _, x := range o.folded {
		if len(x.parts) == len(in.parts) {
			f = x
		}
	}
	if f == nil {
		f = &fold{parts: make([]total, len(in.parts))}
		o.folded = append(o.folded, f)
	}
	f.n++
	f.spanNS += in.spanNS
	rank := make([]int, len(in.parts))
	for i := range in.parts {
		rank[i] = i
	}
	sort.SliceStable(rank, func(i, j int) bool { return in.parts[rank[i]].work < in.parts[rank[j]].work })
	for r, i := range rank {
		f.parts[r].add(&in.parts[i])
		freed += in.parts[i].size()
	}
	o.addTotals(in)
	return freed
}

func (o *open) addTotals(in *instance) {
	if o.totals == nil {
		o.totals = map[profile.ThreadID]*total{}
	}
	for i := range in.parts {
		p := &in.parts[i]
		t := o.totals[p.Thread]
		if t == nil {
			t = &total{}
			o.totals[p.Thread] = t
		}
		t.add(p)
	}
}

// count adds to the totals the instances that were not folded, once all have come.
func (o *open) count() {
	if o.counted {
		return
	}
	o.counted = true
	if o.totals == nil {
		o.totals = map[profile.ThreadID]*total{}
	}
	for i := range o.instances {
		o.addTotals(&o.instances[i])
	}
}

// join adds the sum of other parts of the thread.
func (t *total) join(x *total) {
	d := x.deltas()
	t.add(&part{x.part, d, 0})
}

func (t *total) add(p *part) {
	if n := len(p.delta); n > 0 {
		if top := int(p.delta[n-1].Counter) + 1; top > len(t.n) {
			t.n = append(t.n, make([]uint64, top-len(t.n))...)
		}
	}
	for _, d := range p.delta {
		if d.Counter >= 0 {
			t.n[d.Counter] += d.N
			continue
		}
		if t.below == nil {
			t.below = map[int32]uint64{}
		}
		t.below[d.Counter] += d.N
	}
	q := &t.part
	q.BusyNS += p.BusyNS
	q.WaitNS += p.WaitNS
	q.Timed = q.Timed || p.Timed
	if q.Begin == 0 {
		q.Begin = p.Begin
	}
	if q.Site == 0 {
		q.Site = p.Site
	}
}

// solve returns the sum as a part of its own.
func (t *total) solve(id profile.ThreadID, c Config) profile.Part {
	p := t.part
	p.Thread, p.Counts = id, c.Solve(t.deltas())
	return p
}

func (t *total) deltas() (d []record.Delta) {
	for k, n := range t.below {
		d = append(d, record.Delta{Counter: k, N: n})
	}
	for k, n := range t.n {
		if n > 0 {
			d = append(d, record.Delta{Counter: int32(k), N: n})
		}
	}
	return record.Merge(d)
}
