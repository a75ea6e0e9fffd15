package caches

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/skewlens/skewlens/profiler/internal/cachesim"
)

// Of machines that the simulator in the target does not know, as with lines beyond 64
// bytes or more than 64 cores, all accesses are told (target/tell.h), and simulated by
// package cachesim, beside the program. That takes many times as long. It is the oracle
// of the simulator in the target, too, on real programs.

// Telling is the memory by which accesses are told, and the profiler's view of it.
type Telling struct {
	mem  []byte
	base uint64
	next uint64 // the place that is read next
}

const (
	toldCores = cachesim.MaxCores
	toldRing  = 1 << 16 // places
	toldSize  = 16

	tellingWord = 21 // of the header
	tellingDone = 64 // of struct telling
	tellingSize = 192
	tellingAt   = 8 * (headerWords + coreWords*toldCores)
	tellingRing = (tellingAt + tellingSize + 4095) &^ 4095

	// TellingSize is the bytes of it, whole pages.
	TellingSize = tellingRing + toldRing*toldSize
)

// CheckTelling says why so many accesses of code cannot be told apart.
func CheckTelling(ops int) error {
	if ops > maxOps {
		return fmt.Errorf("simulate caches: the program has %d accesses, and %d can be told apart: count fewer libraries", ops, maxOps)
	}
	return nil
}

// NewTelling prepares memory that reads as zero; base is where it lies in the target.
// Lines have so many bytes.
func NewTelling(line int, mem []byte, base uint64) *Telling {
	t := &Telling{mem: mem, base: base}
	t.put(0, uint64(bits.TrailingZeros(uint(line))))
	t.put(8*tellingWord, base+tellingAt)
	t.put(tellingAt+128, toldRing-1)
	t.put(tellingAt+136, base+tellingRing)
	for c := range uint64(toldCores) {
		at := 8 * (headerWords + coreWords*c)
		t.put(at, base)
		t.put(at+8, c)
		t.put(at+24, 1<<32) // no row is kept in front
	}
	return t
}

func (t *Telling) put(at, v uint64) { *t.word(at) = v }

// Core is where a core's state lies in the target, and Done what threads wait for.
func (t *Telling) Core(n int) uint64 { return t.base + 8*(headerWords+coreWords*uint64(n)) }
func (t *Telling) Done() uint64      { return t.base + tellingAt + tellingDone }

// Told is an access that a core has made.
type Told struct {
	Addr  uint64
	Op    uint32 // or Nobody
	Core  int
	Size  int
	Write bool
}

// Take has accesses counted in their order, some at most, and says how many there were.
func (t *Telling) Take(most int, count func(Told)) (n int) {
	for ; n < most; n++ {
		at := tellingRing + toldSize*(t.next%toldRing)
		what := atomic.LoadUint64(t.word(at + 8))
		if what == 0 || what>>11&255 != t.next/toldRing&255 {
			break // not written yet, or by who was given up
		}
		count(Told{*t.word(at), uint32(what >> 32), int(what >> 20 & 0xfff), int(what >> 1 & 0x3ff), what&1 != 0})
		t.put(at+8, 0)
		t.next++
	}
	if n > 0 {
		atomic.StoreUint64(t.word(tellingAt+tellingDone), t.next)
	}
	return n
}

// Counted is how many were counted.
func (t *Telling) Counted() uint64 { return atomic.LoadUint64(t.word(tellingAt + tellingDone)) }

// Skip passes over an access that somebody was about to tell, and never will.
func (t *Telling) Skip() {
	t.next++
	atomic.StoreUint64(t.word(tellingAt+tellingDone), t.next)
}

// LeftOut is how many accesses of signals' handlers were left out.
func (t *Telling) LeftOut() uint64 { return *t.word(8 * leftOut) }
