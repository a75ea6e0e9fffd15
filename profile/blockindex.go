package profile

import (
	"cmp"
	"slices"
	"sort"
)

// BlockIndex finds blocks by address.
//
// The graph itself cannot be bisected: a function's blocks are together and
// sorted, but its cold part lies far from its entry, between the blocks of
// others. So the index sorts all blocks once. Compilers do not overlap blocks,
// but nothing in the model forbids it: reach says how far back a block may
// begin that still holds an address.
type BlockIndex struct {
	blocks []Block
	order  []BlockID // those with instructions, by Start, then by number
	reach  []Addr    // by place in order: the greatest End up to there
}

// IndexBlocks makes the index, in O(n log n), and in O(n) where the functions' hot
// parts are in order and their cold ones, too, as linkers lay them. The graph must not
// change while it is used.
func (g *Graph) IndexBlocks() *BlockIndex {
	x := &BlockIndex{blocks: g.Blocks}
	before := func(a, b BlockID) int {
		return cmp.Or(cmp.Compare(g.Blocks[a].Start, g.Blocks[b].Start), cmp.Compare(a, b))
	}
	rising, rest := make([]BlockID, 0, len(g.Blocks)), []BlockID(nil)
	for i := range g.Blocks {
		b := BlockID(i)
		switch n := len(rising); {
		case g.Blocks[i].Virtual:
		case n == 0 || before(rising[n-1], b) < 0:
			rising = append(rising, b)
		default:
			rest = append(rest, b)
		}
	}
	slices.SortFunc(rest, before)
	if len(rest) > 0 {
		x.order = make([]BlockID, 0, len(rising)+len(rest))
	}
	for len(rising) > 0 && len(rest) > 0 {
		from := &rising
		if before(rest[0], rising[0]) < 0 {
			from = &rest
		}
		x.order, *from = append(x.order, (*from)[0]), (*from)[1:]
	}
	if x.order == nil {
		x.order = rising
	} else {
		x.order = append(append(x.order, rising...), rest...)
	}
	x.reach = make([]Addr, len(x.order))
	end := Addr(0)
	for i, b := range x.order {
		end = max(end, g.Blocks[b].End)
		x.reach[i] = end
	}
	return x
}

// At returns the block that holds an instruction: of several the first of the
// graph, NoBlock where there is none.
func (x *BlockIndex) At(a Addr) BlockID {
	found := NoBlock
	after := sort.Search(len(x.order), func(i int) bool { return x.blocks[x.order[i]].Start > a })
	for i := after - 1; i >= 0 && x.reach[i] > a; i-- {
		if b := x.order[i]; a < x.blocks[b].End && (found == NoBlock || b < found) {
			found = b
		}
	}
	return found
}
