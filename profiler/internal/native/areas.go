package native

import (
	"cmp"
	"fmt"
	"math/bits"
	"syscall"

	"github.com/skewlens/skewlens/profiler/internal/probe/threadarea"
	"github.com/skewlens/skewlens/profiler/internal/tracee"
)

// areas is the memory for threads' counters, one area for each. The target maps
// no more than it needs, for its address space may be limited: first a few,
// then twice as many, and so on. Nothing that was mapped ever moves.
//
//	chunk   0          1           2
//	slots   0 … 7      8 … 15      16 … 31      …
type areas struct {
	memory  *tracee.Shared
	area    uint64   // bytes of one
	chunks  []uint64 // where they lie in the target
	syscall uint64   // an instruction there, by which any thread can map another one

	views map[int][]byte // by slot: of threads that have ended, cleared,
	keep  int            // and so many of them
}

const (
	firstAreas = 8
	maxThreads = 1 << 15 // at once
)

// chunkOf is the chunk of a slot; its first slot is first.
func chunkOf(slot int) (chunk, first int) {
	chunk = bits.Len(uint(slot / firstAreas))
	if chunk > 0 {
		first = firstAreas << (chunk - 1)
	}
	return chunk, first
}

// begin maps the first chunk into a target with one thread that runs.
func (as *areas) begin(p *tracee.Process) (err error) {
	as.memory, err = p.MapShared(firstAreas * as.area)
	if err == nil {
		as.chunks, as.views = []uint64{as.memory.Addr}, map[int][]byte{}
		as.keep = cmp.Or(as.keep, manyViews)
	}
	return err
}

// mapped reports whether a slot's chunk is.
func (as *areas) mapped(slot int) bool {
	chunk, _ := chunkOf(slot)
	return chunk < len(as.chunks)
}

// grow has a stopped thread map the next chunk. To map anew what is mapped
// already, and more behind it, needs no file: a page of the last area.
func (as *areas) grow(p *tracee.Process, tid int) error {
	const page, mayMove = 4096, 1
	first := firstAreas << (len(as.chunks) - 1)
	if first >= maxThreads {
		return fmt.Errorf("more than %d threads at once", maxThreads-1)
	}
	size := uint64(first) * as.area // there are as many again
	if err := as.memory.Resize(2 * size); err != nil {
		return err
	}
	last := as.base(first-1) + as.area - page
	at, err := p.SyscallAt(tid, as.syscall, syscall.SYS_MREMAP, last, 0, size+page, mayMove)
	if err != nil {
		return fmt.Errorf("no address space for the counters of more than %d threads (ulimit -v?): %w", first-1, err)
	}
	as.chunks = append(as.chunks, at+page)
	return nil
}

// base is where a slot's area lies in the target.
func (as *areas) base(slot int) uint64 {
	chunk, first := chunkOf(slot)
	return as.chunks[chunk] + uint64(slot-first)*as.area
}

// holds reports whether an address lies in any.
func (as *areas) holds(addr uint64) bool {
	for i, at := range as.chunks {
		if n := uint64(firstAreas) << max(i-1, 0); addr-at < n*as.area {
			return true
		}
	}
	return false
}

// manyViews is how many areas of threads that have ended are kept as they are,
// for those that will be created: programs create as many as were joined.
const manyViews = threadarea.PoolSize + 64

// view maps one area here.
func (as *areas) view(slot int) ([]byte, error) {
	if v, ok := as.views[slot]; ok {
		delete(as.views, slot)
		return v, nil
	}
	return as.memory.View(uint64(slot)*as.area, as.area)
}

// wipe ends the view of an area, which can be another thread's afterwards.
func (as *areas) wipe(slot int, view []byte, area *threadarea.Area) error {
	if len(as.views) < as.keep {
		area.Clear()
		as.views[slot] = view
		return nil
	}
	tracee.Unmap(view)
	return as.memory.Wipe(uint64(slot)*as.area, as.area)
}
