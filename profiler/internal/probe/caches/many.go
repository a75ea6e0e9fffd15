package caches

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Words of a set's row in front, as hierarchy.c has them.
const (
	second = 2
	order  = 4
	setAt  = 5

	marked  = 1 << 63
	inOrder = 0xfedcba9876543210
)

// Many says that there is more than one thread: from then on they lock what they
// share, and a directory says who holds what. Only while there is but one, core
// 0's, outside of the simulator. front is the memory of core 0's front.
func (h *Hierarchy) Many(front []byte) {
	if h.word(many) != 0 {
		return
	}
	if h.word((h.core(0)+24)/8)>>32 == 0 {
		h.settle(front)
		if h.hasLists() {
			h.pack()
		}
	}
	held := func(tags, end, size uint64) {
		for ; tags < end; tags += size {
			if tag := h.word((h.cores + tags) / 8); tag&3 != 0 {
				h.hold(tag>>2, 1)
			}
		}
	}
	switch {
	case h.packs():
	case h.two.ways > 0:
		held(h.two.tags, h.two.tags+8*h.two.sets<<h.two.log, 8)
	default:
		held(h.ways, h.ways+waySize*h.sets1()*uint64(h.machine.L1.Ways), waySize)
	}
	for c := range Cores {
		if at := h.core(c) + 24; h.word(at/8) == 0 {
			h.put(at, severalThreads<<32)
			if h.hasLists() {
				h.put(h.core(c)+8*coreHeads, 0)
			}
		}
	}
	h.put(8*many, 1)
}

// settle makes ways of the lists of core 0's first level, in their order: hierarchy.c says how.
func (h *Hierarchy) settle(front []byte) {
	const row = 8
	ways := uint64(h.machine.L1.Ways)
	for set := range h.sets1() {
		of, at := front[64*set:64*(set+1)], h.cores+h.ways+set*waySize*ways
		list := []uint64{binary.LittleEndian.Uint64(of)}
		for i := second; i < row; i++ {
			list = append(list, binary.LittleEndian.Uint64(of[8*i:]))
		}
		for i := uint64(len(list)); i < ways; i++ {
			list = append(list, h.word(at/8+i-(row-1)))
		}
		clear(of[8*second:])
		for i, line := range list[:ways] {
			if line != 0 {
				line = line<<2 | writable
			}
			h.put(at+waySize*uint64(i), line)
		}
	}
}

// Leave is told of a core's thread that has ended, and of its front: who comes to the core begins
// with rows that are empty, so the order in which ways were used is kept beside them.
func (h *Hierarchy) Leave(n int, front []byte) {
	if h.word((h.core(n)+24)/8)>>32 != severalThreads {
		return
	}
	own, ways := h.cores+uint64(n)*h.coreSize, waySize*uint64(h.machine.L1.Ways)
	for set := range h.sets1() {
		row := func(i int) uint64 { return binary.LittleEndian.Uint64(front[64*set+8*uint64(i):]) }
		if row(setAt) == 0 {
			continue
		}
		ordered, tags := row(order), own+h.ways+set*ways
		if h.word((tags+waySize*(ordered>>4&15))/8)>>2 == row(0)&^marked { // moved code has exchanged the first two
			ordered ^= 17 * ((ordered ^ ordered>>4) & 15)
		}
		h.put(own+h.used+set*ways, ordered^inOrder)
	}
}

// hasLists reports whether a lone thread's second level has.
func (l *Layout) hasLists() bool { return l.two.ways > 0 && l.two.listed(l.machine.Line) }

// packs reports whether core 0's second level is packed.
func (h *Hierarchy) packs() bool { return h.hasLists() && h.word(h.core(0)/8+coreHeads) == 0 }

// pack makes packed sets of the lists of core 0's second level: members, then order, the one
// that was evicted last, and states.
func (h *Hierarchy) pack() {
	lasts := h.mem[h.cores+h.two.heads:][:headSize*h.two.sets]
	tags := h.mem[h.cores+h.two.tags:][:8*h.two.sets<<h.two.log]
	was := slices.Concat(lasts[:memberSize*h.two.sets], tags[:rowSize*h.two.sets])
	clear(lasts)
	clear(tags)
	h.put(h.core(0)+8*coreHeads, 0)
	shift := bits.TrailingZeros64(h.two.sets)
	for set := range h.two.sets {
		of := tags[8*(set<<h.two.log):]
		behind := of[memberSize<<h.two.log:]
		member := func(i uint64) uint32 { return binary.LittleEndian.Uint32(was[memberSize*i:]) }
		binary.LittleEndian.PutUint32(behind[8:], member(set))
		for i := range h.two.ways {
			if m := member(h.two.sets + set*rowSize/memberSize + i); m != 0 {
				binary.LittleEndian.PutUint32(of[memberSize*i:], m)
				behind[16+i] = writable
				h.hold(uint64(m-1)<<shift|set, 1)
			}
		}
	}
}

// hold notes who holds a line of which the directory knows nothing.
func (h *Hierarchy) hold(line, holders uint64) {
	const numbers = (1<<numberBits - 1) << tagBits
	tag := (line>>tableBits + 1) & (1<<tagBits - 1)
	at := h.table + entrySize*(line&(tableEntries-1))
	if first := at; h.word(first/8) != 0 {
		shard := line & (h.shardCount - 1)
		used := 8*(headerWords+coreWords*Cores) + shardSize*shard + 8
		n := uint64(binary.LittleEndian.Uint32(h.mem[used:])) + 1
		if n > h.perShard {
			return
		}
		binary.LittleEndian.PutUint32(h.mem[used:], uint32(n))
		at = h.more + entrySize*(shard*h.perShard+n-1)
		tag |= h.word(first/8) & numbers
		h.put(first, h.word(first/8)&^numbers|n<<tagBits)
	}
	h.put(at, tag)
	h.put(at+8, holders)
}
