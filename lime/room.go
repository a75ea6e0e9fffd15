package lime

import (
	"math"
	"slices"

	"github.com/skewlens/skewlens/profile"
)

// room is the memory in which one instance after the other is analysed. A section may
// have hundreds, each with a few numbers for every edge that ran: asked for anew each
// time, most of what an analysis takes is that. What is kept of an instance (explained,
// finding) must not lie here: the next one is written over it.
type room struct {
	parts     []profile.Part
	events    []profile.EventID
	row       []int32 // by event: −1, between analyses
	dense     []float64
	unit      []float64
	label     []int32
	blocks    []profile.BlockID
	at        []int32 // by block: −1, between analyses
	inherited []departure
	numbers   [][]float64 // for vectors: those of this analysis lie before
	used      asked

	way   []profile.BlockID // of a walk through the graph: where it came to,
	next  int               // from which of these it has not gone on yet,
	marks []uint32          // and by block: the number of the last walk that did
	walks uint32

	order []uint64 // see sort

	joins  map[int32]joins // by edge: see joinsBeyond
	shares [][]float64     // by join: see addOnward
}

// How many numbers are asked for at once: each time twice as many as before, up to
// what a cache holds well.
const leastNumbers, mostNumbers = 1 << 10, 1 << 16

// asked is what has been asked for of a room so far: all numbers of some pieces, and
// a few of the next.
type asked struct{ pieces, numbers int }

// vector returns n zeros.
func (r *room) vector(n int) []float64 {
	for ; r.used.pieces < len(r.numbers); r.used = (asked{r.used.pieces + 1, 0}) {
		if piece := r.numbers[r.used.pieces][r.used.numbers:]; len(piece) >= n {
			r.used.numbers += n
			clear(piece[:n])
			return piece[:n:n]
		}
	}
	more := leastNumbers
	if k := len(r.numbers); k > 0 {
		more = min(2*len(r.numbers[k-1]), mostNumbers)
	}
	r.numbers = append(r.numbers, make([]float64, max(more, n)))
	return r.vector(n)
}

func (r *room) asked() asked { return r.used }

// release takes vectors back that have been asked for since. There are as many for a
// moment as ways, and each should be where the last one was.
func (r *room) release(since asked) { r.used = since }

// beginWalk forgets the walk before.
func (r *room) beginWalk(blocks int) {
	if len(r.marks) < blocks || r.walks == math.MaxUint32 {
		r.marks, r.walks = make([]uint32, blocks), 0
	}
	r.way, r.next, r.walks = r.way[:0], 0, r.walks+1
}

func (r *room) walk(b profile.BlockID)        { r.way, r.marks[b] = append(r.way, b), r.walks }
func (r *room) walked(b profile.BlockID) bool { return r.marks[b] == r.walks }

// copied is a copy of a vector.
func (r *room) copied(v []float64) []float64 {
	c := r.vector(len(v))
	copy(c, v)
	return c
}

// sort sorts blocks by a number of each, which is not negative, and those that have the
// same by their own: as one number with it, which sorts fast.
func (r *room) sort(blocks []profile.BlockID, by func(profile.BlockID) int32) {
	r.order = r.order[:0]
	for _, b := range blocks {
		r.order = append(r.order, uint64(by(b))<<32|uint64(b))
	}
	slices.Sort(r.order)
	for i, k := range r.order {
		blocks[i] = profile.BlockID(uint32(k))
	}
}

// again makes room for the next analysis.
func (r *room) again() {
	for _, e := range r.events {
		r.row[e] = -1
	}
	for _, b := range r.blocks {
		r.at[b] = -1
	}
	clear(r.inherited)
	clear(r.joins)
	if r.joins == nil {
		r.joins = map[int32]joins{}
	}
	r.parts, r.events, r.blocks, r.inherited, r.used = r.parts[:0], r.events[:0], r.blocks[:0], r.inherited[:0], asked{}
}

// unknown is a list of the length n, each −1: the one that there is, if it has that length.
func unknown(list []int32, n int) []int32 {
	if len(list) == n {
		return list
	}
	return slices.Repeat([]int32{-1}, n)
}
