package relocate

import "sort"

// Where a thread is in the original while it is in a copy. Between the copied
// instructions stands code of ours, which counts, and what it has counted must not be
// taken for what the thread has executed: a thread that is stopped for good on the way from
// one block to the next is still in the first one as long as the edge has not been
// counted, and in the second one before its first instruction otherwise, of which again
// nothing is counted until it is.

// How is how a thread stands at an instruction of the original.
type How uint64

const (
	Nowhere How = iota // it is not known
	Before             // it comes next, and the counter of its block, if it stands there, was passed
	After              // it was executed
	Arrives            // it comes next: it begins a block, of which nothing is counted yet
	Left               // it comes next, but that it leaves the function has been counted
	Chosen             // it comes next: a switch has led to its block, of which nothing is counted yet, nor of that
	onEdge             // it was executed, and more: see On
)

// On is how a thread stands on the way from a block to the next, behind the last
// instruction: on an edge that has a number in the placement's network, and so many of the
// instructions that count there were executed.
func On(edge int32, counted int) How { return How(edge)<<32 | How(counted)<<8 | onEdge }

// On reports whether a thread stands so.
func (h How) On() (edge int32, counted int, is bool) {
	return int32(h >> 32), int(h >> 8 & 0xffffff), h&0xff == onEdge
}

// Executed reports whether the instruction was executed.
func (h How) Executed() bool { return h == After || h&0xff == onEdge }

// Stand is how a thread stands from an offset of the cache on.
type Stand struct {
	Start int
	Addr  uint64
	How   How
}

// Stands returns those of a function, by its index in Plans, sorted, as Copied does.
func (s *Spec) Stands(c *Code, function int) (list []Stand) {
	m, skip := s.again(c, function)
	m.standing = func(x Stand) {
		x.Start += skip
		list = append(list, x)
	}
	m.function(s.plans[function])
	s.space, s.network = m.space, m.network
	return list
}

// stand notes how a thread stands from here on.
func (m *emitter) stand(addr uint64, how How) {
	m.standsNow = Stand{m.Len(), addr, how}
	if m.standing != nil {
		m.standing(m.standsNow)
	}
}

// standAs notes that a thread stands here as it did elsewhere.
func (m *emitter) standAs(x Stand) { m.stand(x.Addr, x.How) }

// StandAt is how a thread stands at an offset of the cache, in a function of which these
// are the stands.
func StandAt(function []Stand, offset uint64) (x Stand) {
	at := int(offset)
	if i := sort.Search(len(function), func(i int) bool { return function[i].Start > at }) - 1; i >= 0 {
		x = function[i]
	}
	return x
}
