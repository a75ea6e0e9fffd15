package placement

import "github.com/skewlens/skewlens/profiler/internal/cfg"

// addHubs joins all switches that share a target into one hub.
func (w *Network) addHubs() {
	blocks := w.Graph.Blocks
	group := w.switchGroups()
	number := make([]int32, len(blocks)) // of a group's hub
	w.intoHub, w.fromHub = make([]int32, len(blocks)), make([]int32, len(blocks))
	for i := range blocks {
		w.intoHub[i], w.fromHub[i] = -1, -1
	}
	for _, b := range blocks {
		for _, e := range b.Succ {
			if e.Kind != cfg.Table {
				continue
			}
			r := root(group, int32(e.To.ID))
			if number[r] == 0 {
				w.Hubs++
				number[r] = w.Hubs
				w.Nodes++
			}
			h := number[r]
			node := int32(2*len(blocks)) + h
			if w.intoHub[b.ID] < 0 {
				w.intoHub[b.ID] = w.add(Edge{From: Out(b), To: node, block: b, Hub: h, uncountable: true})
			}
			if w.fromHub[e.To.ID] < 0 {
				w.fromHub[e.To.ID] = w.add(Edge{From: node, To: In(e.To), block: e.To, Hub: h})
			}
		}
	}
}

// switchGroups returns sets of blocks: those that one switch can reach are in one.
func (w *Network) switchGroups() []int32 {
	group := make([]int32, len(w.Graph.Blocks))
	for i := range group {
		group[i] = int32(i)
	}
	for _, b := range w.Graph.Blocks {
		var first *cfg.Block
		for _, e := range b.Succ {
			switch {
			case e.Kind != cfg.Table:
			case first == nil:
				first = e.To
			default:
				group[root(group, int32(e.To.ID))] = root(group, int32(first.ID))
			}
		}
	}
	return group
}

// root finds the representative of x in a forest of sets.
func root(set []int32, x int32) int32 {
	for set[x] != x {
		set[x] = set[set[x]]
		x = set[x]
	}
	return x
}
