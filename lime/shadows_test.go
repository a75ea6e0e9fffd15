package lime

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestShadows: what a shadow says is never less than the dot product, also of what was
// joined since; and of a few long coordinates it says nearly what that is.
func TestShadows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 2, axes, axes + 1, 57} {
		nodes := make([]node, 40)
		for i := range nodes {
			v := make([]float64, dim)
			for d := range v {
				v[d] = rnd.NormFloat64() / float64(d%9+1)
			}
			normalise(v)
			nodes[i] = node{v, float64(1 + rnd.IntN(5))}
		}
		s := newShadows(len(nodes), func(i int32) []float64 { return nodes[i].mean })
		for range 20 {
			compareShadows(t, s, nodes)
			i := rnd.IntN(len(nodes))
			nodes[i].join(nodes[rnd.IntN(len(nodes))])
			s.cast(int32(i), nodes[i].mean)
		}
	}
}

func compareShadows(t *testing.T, s *shadows, nodes []node) {
	t.Helper()
	for i := range nodes {
		for j := range nodes {
			dot, most := floats.Dot(nodes[i].mean, nodes[j].mean), s.of[i].most(&s.of[j])
			if dot > most+shadowSlack || len(nodes[i].mean) <= axes && dot < most-shadowSlack {
				t.Fatalf("%d coordinates: the dot product of %d and %d is %v, and their shadows say %v", len(nodes[i].mean), i, j, dot, most)
			}
		}
	}
}

// TestShadowsOfNearOnes: with many coordinates clusters are the same as where every
// dot product is looked at.
func TestShadowsOfNearOnes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const dim, n = 30, 300
	near := make([]node, n)
	for i := range near {
		v := make([]float64, dim)
		for d := range v {
			v[d] = float64(i%7*d%5) + 0.4*rnd.NormFloat64()
		}
		normalise(v)
		near[i] = node{v, 1}
	}
	link := func(hide bool) []int {
		nodes, root, part := make([]node, n), make([]int, n), make([]int32, n)
		for i := range nodes {
			nodes[i], root[i], part[i] = node{append([]float64(nil), near[i].mean...), 1}, i, int32(i)
		}
		s := newShadows(n, func(i int32) []float64 { return nodes[i].mean })
		if !hide {
			s.axis = nil // every rest is as long as its vector: nothing is left out
			for i := range nodes {
				s.of[i] = shadow{}
				s.cast(int32(i), nodes[i].mean)
			}
		}
		nearestNeighbourChains(nodes, s, part, 0.9, root)
		return root
	}
	all, some := link(false), link(true)
	merged := 0
	for i := range all {
		if all[i] != some[i] {
			t.Fatalf("%d is merged into %d, without shadows into %d", i, some[i], all[i])
		}
		if all[i] != i {
			merged++
		}
	}
	if merged < n/4 || merged > n-2 {
		t.Fatalf("%d of %d are merged, which shows nothing", merged, n)
	}
}
