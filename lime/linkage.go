package lime

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Clustering (3.2) is average linkage (UPGMA) on Pearson's r, stopped below a
// threshold. With vectors of length 1 the average r between two clusters is
// the dot product of their mean vectors, so no n×n matrix is needed: memory
// stays linear in n. Three things keep time near linear too, and none of them
// changes the partition:
//
//   - proportional vectors are one vector with a weight from the start;
//   - two clusters can only merge while some r between their members reaches
//     the threshold, so the graph of such pairs falls into parts that are
//     clustered by themselves;
//   - a cluster without a neighbour above the threshold will never have one
//     again (average linkage is reducible), so it is finished.

// sameVector is how near two unit vectors are, in each coordinate, to be one.
const sameVector = 1e-9

// node is a cluster on the way: the mean of its members' vectors and how many
// events it stands for.
type node struct {
	mean   []float64
	weight float64
}

// cluster groups n unit vectors of dimension dim, stored end to end in z,
// each standing for weight[i] events. Vectors whose clusters' average r is at
// least stop end up together; with bulk > 0 vectors are first merged greedily
// into the heaviest cluster-so-far whose average r with them is at least
// bulk. It returns a cluster number for each vector, numbered by first member.
func cluster(z []float64, dim int, weight []float64, stop, bulk float64) []int {
	n := len(weight)
	vec := func(i int) []float64 { return z[i*dim : i*dim+dim] }
	of, nodes := collapse(n, vec, weight)
	if bulk > 0 {
		merged, fewer := bulkMerge(nodes, bulk)
		for i := range of {
			of[i] = merged[of[i]]
		}
		nodes = fewer
	}
	root := linkage(nodes, stop)
	number := make([]int, len(nodes))
	labels, next := make([]int, n), 0
	for i := range labels {
		r := root[of[i]]
		if number[r] == 0 {
			next++
			number[r] = next
		}
		labels[i] = number[r] - 1
	}
	return labels
}

// collapse makes one node of all equal vectors: of counts that are
// proportional, or differ by a constant, as events of one basic path are.
func collapse(n int, vec func(int) []float64, weight []float64) (of []int, nodes []node) {
	of = make([]int, n)
	seen := make(map[uint64][]int32, n)
	for i := range n {
		v := vec(i)
		h := hash(v)
		of[i] = -1
		for _, k := range seen[h] {
			if floats.Distance(nodes[k].mean, v, math.Inf(1)) <= sameVector {
				of[i] = int(k)
				nodes[k].weight += weight[i]
				break
			}
		}
		if of[i] < 0 {
			of[i] = len(nodes)
			seen[h] = append(seen[h], int32(len(nodes)))
			nodes = append(nodes, node{append([]float64(nil), v...), weight[i]})
		}
	}
	return of, nodes
}

// hash is FNV-1a over coordinates rounded to 1e−6. Two equal vectors that are
// rounded apart stay two nodes, which the clustering then merges first.
func hash(v []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range v {
		u := uint64(int64(math.Round(x * 1e6)))
		for range 4 {
			h = (h ^ u&0xff) * 1099511628211
			u >>= 8
		}
	}
	return h
}

// bulkMerge is the paper's shortcut for very many events: heaviest first,
// each node joins the group that it correlates with best, if at least bulk.
func bulkMerge(nodes []node, bulk float64) (of []int, groups []node) {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return nodes[order[i]].weight > nodes[order[j]].weight })
	of = make([]int, len(nodes))
	for _, i := range order {
		best, at := bulk, -1
		for k := range groups {
			if r := floats.Dot(groups[k].mean, nodes[i].mean); r > best || r == best && at < 0 {
				best, at = r, k
			}
		}
		if at < 0 {
			at = len(groups)
			groups = append(groups, node{append([]float64(nil), nodes[i].mean...), nodes[i].weight})
		} else {
			groups[at].join(nodes[i])
		}
		of[i] = at
	}
	return of, groups
}

// join makes a the cluster of a's and b's members.
func (a *node) join(b node) {
	w := a.weight + b.weight
	floats.Scale(a.weight/w, a.mean)
	floats.AddScaled(a.mean, b.weight/w, b.mean)
	a.weight = w
}

// linkage merges nodes (whose means it uses up) by average linkage until no
// two have an average r of at least stop, and returns for each node the
// smallest node of its cluster.
func linkage(nodes []node, stop float64) []int {
	root := make([]int, len(nodes))
	for i := range root {
		root[i] = i
	}
	shadows := newShadows(len(nodes), func(i int32) []float64 { return nodes[i].mean })
	for _, part := range correlatedParts(nodes, stop) {
		nearestNeighbourChains(nodes, shadows, part, stop, root)
	}
	for i := range root { // a node's root is never greater than itself
		root[i] = root[root[i]]
	}
	return root
}

// nearestNeighbourChains clusters one part by nearest-neighbour chains: follow nearest
// neighbours until two are each other's, and merge those. For a reducible
// linkage that gives the merges of the greedy order. Ties go to the chain's
// previous node, then to the smallest.
func nearestNeighbourChains(nodes []node, shadows *shadows, part []int32, stop float64, root []int) {
	alive := append([]int32(nil), part...) // increasing
	drop := func(id int32) {
		k := sort.Search(len(alive), func(k int) bool { return alive[k] >= id })
		alive = append(alive[:k], alive[k+1:]...)
	}
	var path []int32
	for len(alive) > 1 {
		if len(path) == 0 {
			path = append(path, alive[0])
		}
		a := path[len(path)-1]
		best, at, shadow := stop, int32(-1), &shadows.of[a]
		if len(path) > 1 {
			at = path[len(path)-2]
			best = floats.Dot(nodes[a].mean, nodes[at].mean)
		}
		for _, b := range alive {
			if b == a || shadow.most(&shadows.of[b]) < best-shadowSlack {
				continue
			}
			if r := floats.Dot(nodes[a].mean, nodes[b].mean); r > best || r == best && at < 0 {
				best, at = r, b
			}
		}
		switch {
		case at < 0:
			drop(a) // finished; a path of more than one node never ends here
			path = path[:len(path)-1]
		case len(path) > 1 && at == path[len(path)-2]:
			lo, hi := min(a, at), max(a, at)
			nodes[lo].join(nodes[hi])
			shadows.cast(lo, nodes[lo].mean)
			root[hi] = int(lo)
			drop(hi)
			path = path[:len(path)-2]
		default:
			path = append(path, at)
		}
	}
}
