package lime

// pool is many instances of a section side by side: what a call costs at each site is
// mostly the same in all, and each says something more of it. Their costs are added
// up when they are first asked for.
type pool struct {
	a         *Analyser
	instances []*instance
	room      room
	costs     *costs
}

const pooledParts = 256 // that stand side by side

// newPool pools the instances that lost most.
func newPool(a *Analyser, instances []*instance) *pool {
	return &pool{a: a, instances: instances[:min(len(instances), pooledParts/max(1, widest(instances)))]}
}

// all are the costs of all instances; nil where there is one only.
func (p *pool) all() *costs {
	if p == nil || len(p.instances) < 2 {
		return nil
	}
	if p.costs == nil {
		p.costs = newCosts(p.a.graph, p.room.table(len(p.a.p.Events), p.instances...), nil, (*misses)(nil).following)
	}
	return p.costs
}
