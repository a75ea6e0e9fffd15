package lime

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// correlatedParts splits nodes into parts such that no two nodes of different parts have
// r ≥ stop: the connected parts of the graph of those that have, each sorted.
//
// Angles obey the triangle inequality, so pivots spare most comparisons: two
// vectors nearer than θ = arccos(stop) have angles to any pivot that differ
// by at most θ. (Means are shorter than 1; dividing by their lengths only
// raises r, so no pair is missed.)
func correlatedParts(nodes []node, stop float64) [][]int32 {
	n := len(nodes)
	up := make([]int32, n)
	for i := range up {
		up[i] = int32(i)
	}
	find := func(i int32) int32 {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	link := func(i, j int32) bool {
		a, b := find(i), find(j)
		if a == b {
			return false
		}
		up[max(a, b)] = min(a, b)
		return true
	}
	if n <= 64 {
		clear(up) // one part: looking for parts costs more than it saves
	} else {
		newPivots(nodes).pairs(math.Acos(min(1, stop))+1e-7, find, link)
	}
	var parts [][]int32
	number := make([]int32, n)
	for i := range int32(n) {
		r := find(i)
		if number[r] == 0 {
			parts = append(parts, nil)
			number[r] = int32(len(parts))
		}
		parts[number[r]-1] = append(parts[number[r]-1], i)
	}
	return parts
}

// pivots index directions by the angle to the nearest of a few of them.
type pivots struct {
	dim    int
	dir    []float64  // the directions, end to end
	centre []int32    // the pivots, as indices into dir
	ball   [][]member // by pivot: whom it is nearest to, by angle
	shadow *shadows   // of the directions
}

type member struct {
	angle float64
	id    int32
}

func newPivots(nodes []node) *pivots {
	n, dim := len(nodes), len(nodes[0].mean)
	p := &pivots{dim: dim, dir: make([]float64, n*dim)}
	for i := range nodes {
		d := p.of(int32(i))
		copy(d, nodes[i].mean)
		normalise(d)
	}
	p.shadow = newShadows(n, p.of)
	// The farthest from all pivots so far becomes the next one; about √n of
	// them balance the cost of comparing with pivots and with members.
	count := min(n, int(math.Sqrt(float64(n))))
	best, mine := make([]float64, n), make([]int32, n)
	for i := range best {
		best[i] = -2
	}
	next := int32(0)
	for k := range count {
		p.centre = append(p.centre, next)
		far := 2.0
		c := p.of(next)
		for i := range int32(n) {
			if r := floats.Dot(c, p.of(i)); r > best[i] {
				best[i], mine[i] = r, int32(k)
			}
			if best[i] < far {
				far, next = best[i], i
			}
		}
	}
	p.ball = make([][]member, count)
	for i := range int32(n) {
		p.ball[mine[i]] = append(p.ball[mine[i]], member{angle(best[i]), i})
	}
	for _, b := range p.ball {
		sort.Slice(b, func(i, j int) bool {
			if b[i].angle != b[j].angle {
				return b[i].angle < b[j].angle
			}
			return b[i].id < b[j].id
		})
	}
	return p
}

func (p *pivots) of(i int32) []float64 { return p.dir[int(i)*p.dim : int(i)*p.dim+p.dim] }

func angle(r float64) float64 { return math.Acos(max(-1, min(1, r))) }

// pairs links all pairs nearer than theta that are not linked already.
func (p *pivots) pairs(theta float64, find func(int32) int32, link func(i, j int32) bool) {
	least := math.Cos(theta)
	for i := range int32(len(p.dir) / p.dim) {
		v := p.of(i)
		for k, c := range p.centre {
			ball := p.ball[k]
			if len(ball) == 0 {
				continue
			}
			a := angle(floats.Dot(v, p.of(c)))
			if a-theta > ball[len(ball)-1].angle {
				continue
			}
			from := sort.Search(len(ball), func(j int) bool { return ball[j].angle >= a-theta })
			for _, m := range ball[from:] {
				if m.angle > a+theta {
					break
				}
				if m.id > i && p.mayReach(i, m.id, least) && find(m.id) != find(i) && floats.Dot(v, p.of(m.id)) >= least {
					link(i, m.id)
				}
			}
		}
	}
}

// mayReach reports whether two directions' dot product may be some number or more.
func (p *pivots) mayReach(i, j int32, least float64) bool {
	return p.shadow.of[i].most(&p.shadow.of[j]) >= least-shadowSlack
}
