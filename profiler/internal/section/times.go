package section

// Where nothing is counted, CPU time has to say what instructions say elsewhere.

// worksBeside reports whether the creator of a group worked beside its workers
// between its last create and its first join: see takesPart. It is compared with how long
// they lived, since what they did behind their last meeting may be nothing, and they may
// hardly have worked at all.
func (j *joinRule) worksBeside(g *group) bool {
	sum := int64(0)
	for i := range g.dead {
		if g.dead[i].t.metParent {
			return true
		}
		sum += int64(float64(g.dead[i].tsc-g.dead[i].t.born) * j.t.c.NSPerTick)
	}
	return g.first.timed && g.first.busyNS*int64(20*len(g.dead)) >= sum
}
