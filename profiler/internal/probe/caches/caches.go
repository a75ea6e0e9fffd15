package caches

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// Code is target/hierarchy.c, compiled. It needs no particular place.
//
//go:generate sh -c "cd target && gcc -O2 -fno-pic -ffreestanding -fno-stack-protector -mno-red-zone -mgeneral-regs-only -fno-asynchronous-unwind-tables -fno-jump-tables -fno-toplevel-reorder -fno-tree-loop-distribute-patterns -fcf-protection=none -Wall -Wextra -Werror -c hierarchy.c -o hierarchy.o && objcopy -O binary -j .text hierarchy.o hierarchy.bin && rm hierarchy.o"
//go:embed target/hierarchy.bin
var Code []byte

// Of Code: its entries.
const (
	amongRead  = 0
	amongWrite = 32
	// AmongEnd is behind those; all else ends at Return.
	AmongEnd   = 1536
	readEntry  = 1536
	writeEntry = 1792
	// RangesEntry is called before ranges are accessed.
	RangesEntry = 2048
)

// Shape says what ranges are about to be accessed, by what registers hold.
type Shape uint32

// Set writes rdx bytes at rdi, as memset does; Copy reads them at rsi too, first;
// Zero writes rsi bytes at rdi. Stos and Movs are string instructions that repeat,
// in elements of a size of which the logarithm stands above these bits.
//
// Call accesses nothing: what the libraries access which it leads to is counted as its own.
const (
	Set Shape = iota
	Copy
	Zero
	Stos
	Movs
	Call

	ElementShift = 4
)

// ByCaller stands, in code of libraries that are not counted, in the stead of the number
// of an access: it is the caller's. Erased is that of a caller of which the accesses are
// hits, whatever they are, and Nobody's are not counted.
const (
	ByCaller = 1<<24 - 1
	Erased   = 1<<32 - 2
	Nobody   = 1<<32 - 1
)

// Entry is where in Code a read, or a write, is called.
func Entry(write bool) uint64 {
	if write {
		return writeEntry
	}
	return readEntry
}

// Among is where in Code is called that a line may be in the first level which is none of
// the first two of its set's row.
func Among(write bool) uint64 {
	if write {
		return amongWrite
	}
	return amongRead
}

// Return is where in Code its calls return.
var Return = uint64(bytes.Index(Code, []byte{0xc2, 8, 0})) // ret $8

const (
	coreHeads = 10 // word of a core: where its second level's heads are

	// Words of the header.
	trouble = 14
	leftOut = 15
	many    = 16

	severalThreads = 2 // of the word that says what the first level is
	writable       = 3 // the state of all lines before

	// Cores is how many cores there are.
	Cores = 64

	maxOps        = ByCaller - 1 // what has room beside a size where an entry is called
	shards        = 64
	headerWords   = 24
	coreWords     = 16
	headSize      = 32 // of a set
	rowSize       = 64
	memberSize    = 4
	waySize       = 8 // of the first level, and what is known of its use
	noteSize      = 16
	maxOrder      = 16 // ways of which a word says the order
	shardSize     = 64
	entrySize     = 16
	tableBits     = 21
	tableEntries  = 1 << tableBits // by line: of 128 MB
	tagBits       = 24             // of an entry: who it is of, then which is next
	numberBits    = 20
	contendedSize = 4*24 + 8
	partnerSize   = 16
	seenEntries   = 1 << 21 // pages of 64 lines, of a core each
	seenSize      = 16
	spreadSize    = 4 * groups * 3
)

// Layout says where everything lies in the memory that simulated caches have in
// the target: little of it is ever touched.
type Layout struct {
	machine                                                                           cachesim.Machine
	sample                                                                            Sample
	perShard, shardCount                                                              uint64
	two, three                                                                        level // those of a core from where its own begin
	ways, used, last, coreSize, cores, table, more, contended, seen, partners, spread uint64
	reuse                                                                             reuse // zero: a machine is simulated
	size                                                                              uint64
}

// NewLayout lays it out, for so many accesses that code makes. Lines have at most
// 64 bytes: see Telling for others.
func NewLayout(m cachesim.Machine, sample Sample, ops int) (l Layout, err error) {
	if err := m.Validate(); err != nil {
		return l, err
	}
	if m.Line > 64 {
		return l, fmt.Errorf("lines of %d bytes: at most 64 can be simulated while a program runs", m.Line)
	}
	if ops > maxOps {
		return l, fmt.Errorf("simulate caches: the program has %d accesses, and %d can be told apart: count fewer libraries", ops, maxOps)
	}
	l = Layout{machine: m, sample: sample}
	sets := func(g cachesim.Geometry) uint64 { return uint64(g.Sets(m.Line)) }
	l.shardCount = min(shards, sets(m.L1))
	outer := m.L1
	if m.L2.Size > 0 {
		l.shardCount, outer = min(l.shardCount, sets(m.L2)), m.L2
	}
	if m.L3.Size > 0 {
		l.shardCount = min(l.shardCount, sets(m.L3))
	}
	l.perShard = min(Cores*uint64(outer.Size)/uint64(m.Line)/l.shardCount+64, 1<<numberBits-1)
	at := uint64(0)
	place := func(to *uint64, size uint64) {
		*to = at
		at += (size + 63) &^ 63
	}
	sized := func(to *level, g cachesim.Geometry, stateless bool) {
		if g.Size == 0 {
			return
		}
		*to = level{sets: sets(g), ways: uint64(g.Ways), log: max(3, uint64(bits.Len(uint(g.Ways-1))))}
		if stateless && to.listed(m.Line) {
			to.log = 0
			place(&to.heads, memberSize*to.sets)
			place(&to.tags, rowSize*to.sets)
			return
		}
		place(&to.heads, headSize*to.sets)
		place(&to.tags, 8*to.sets<<to.log)
	}
	ways := uint64(m.L1.Size) / uint64(m.Line)
	place(&l.ways, waySize*(ways+maxOrder)) // who reads as many of the last set has no line there
	place(&l.used, (waySize+noteSize)*ways)
	place(&l.last, 8*sets(m.L1))
	sized(&l.two, m.L2, false)
	l.coreSize = (at + 4095) &^ 4095
	at = (8*headerWords + 8*coreWords*Cores + shardSize*shards + 4095) &^ 4095
	place(&l.cores, Cores*l.coreSize)
	sized(&l.three, m.L3, true)
	place(&l.table, entrySize*tableEntries)
	place(&l.more, entrySize*l.perShard*l.shardCount)
	place(&l.contended, contendedSize*l.perShard*l.shardCount)
	place(&l.seen, seenSize*seenEntries)
	place(&l.partners, partnerSize*uint64(ops))
	if sample.Of > 1 {
		place(&l.spread, spreadSize*uint64(ops))
	}
	l.size = (at + 4095) &^ 4095
	return l, nil
}

// level is the sets of one, each of 1 << log places for tags, and where they lie; or,
// log being 0, lists: hierarchy.c says which.
type level struct {
	sets, ways, log, heads, tags uint64
}

// addressBits are those that a program's addresses have.
const addressBits = 47

// listed reports whether its sets may be lists: their members have room for what tells
// lines of a set apart, and 1, which is too much for 32 bits where the stack lies that a
// program has whose addresses are not random: at the end of all.
func (l *level) listed(line int) bool {
	return l.ways <= rowSize/memberSize && addressBits-bits.TrailingZeros(uint(line))-bits.TrailingZeros64(l.sets) < 8*memberSize
}

// words is what the simulator knows of it, where it begins at an address.
func (l *level) words(base uint64) []uint64 {
	return []uint64{base + l.heads, base + l.tags, max(1, l.sets) - 1, l.ways | l.log<<32 | uint64(bits.Len64(l.sets>>1))<<48}
}

func (l *Layout) sets1() uint64 { return uint64(l.machine.L1.Sets(l.machine.Line)) }

// Size is the bytes of all of it, whole pages.
func (l *Layout) Size() uint64 { return l.size }

// Dense is the bytes from its beginning which are used all over, if they are: the rest is
// used in few places, if at all.
func (l *Layout) Dense() uint64 { return l.more }

// Hierarchy is the profiler's view of it.
type Hierarchy struct {
	Layout
	mem  []byte
	base uint64
}

// New prepares memory that reads as zero; base is where it lies in the target.
func New(l Layout, mem []byte, base uint64) *Hierarchy {
	h := &Hierarchy{l, mem, base}
	h.openReuse()
	list := append([]uint64{
		uint64(bits.TrailingZeros(uint(l.machine.Line))), l.shardCount - 1, tableEntries - 1, l.perShard, seenEntries - 1,
	}, l.three.words(base)...)
	for i, v := range append(list, base+l.table, base+l.more, base+l.contended, base+l.seen, base+l.partners, 0, 0, 0, uint64(l.sample.Lines), base+l.spread, uint64(l.sample.groups()), l.reuseAt(base)) {
		h.put(8*uint64(i), v)
	}
	slow := uint64(0)
	if l.machine.Line != 64 || l.sets1()*uint64(l.machine.L1.Ways) > 1<<16 || l.machine.L1.Ways > maxOrder || l.reuse.at != 0 {
		slow = 1
	}
	lists := uint64(0)
	if l.hasLists() {
		lists = 1
	}
	for c := range uint64(Cores) {
		at, own := h.core(int(c)), base+l.cores+c*l.coreSize
		list := append([]uint64{
			base, c, 0, slow << 32, own + l.ways, own + l.used, l.sets1() - 1, 0, uint64(l.machine.L1.Ways), own + l.last,
		}, append(l.two.words(own), 0, lists)...)
		for i, v := range list {
			h.put(at+8*uint64(i), v)
		}
	}
	return h
}

func (h *Hierarchy) put(at, v uint64)     { binary.LittleEndian.PutUint64(h.mem[at:], v) }
func (h *Hierarchy) word(i uint64) uint64 { return binary.LittleEndian.Uint64(h.mem[8*i:]) }

// core is where a core's state lies.
func (h *Hierarchy) core(n int) uint64 { return 8 * (headerWords + coreWords*uint64(n)) }

// Core is where that lies in the target.
func (h *Hierarchy) Core(n int) uint64 { return h.base + h.core(n) }

// Settle lets a core be a thread's: front is where, in the target, it is told
// which lines were used last.
func (h *Hierarchy) Settle(n int, front uint64) { h.put(h.core(n)+16, front) }

// Trouble is what went wrong, in words; "" for nothing.
func (h *Hierarchy) Trouble() string {
	switch t := h.word(trouble); {
	case t&4 != 0:
		return "a thread left the simulated caches in the midst of a change, by a signal's handler that did not return: some lines may be wrong"
	case t&8 != 0:
		return "the program touches more memory than is remembered: how far back accesses come is not known of all"
	case t&1 != 0:
		return "more lines were held than there is room for: that some were lost to other cores was not seen"
	case t&2 != 0:
		return "the program touches more memory than is remembered: some first misses count as misses for lack of room"
	}
	return ""
}

// LeftOut is how many accesses of signals' handlers were left out.
func (h *Hierarchy) LeftOut() uint64 { return h.word(leftOut) }

// Partner is whose writes took lines away from an access: the number of the
// access that did so most often, and the cores that did so at all; ok is false
// where nobody did.
func (h *Hierarchy) Partner(op int) (by int, cores uint64, ok bool) {
	at := h.partners + partnerSize*uint64(op)
	n := binary.LittleEndian.Uint32(h.mem[at:])
	return int(n) - 1, binary.LittleEndian.Uint64(h.mem[at+8:]), n > 0
}
